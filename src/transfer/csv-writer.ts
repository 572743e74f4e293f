/** Writes products as CSV (RFC 4180): commas, CRLF, quotes where they are needed, no formulas. */
import { type ProductField, readField } from '../domain/product-fields.ts';
import type { Product } from '../domain/product.ts';
import { makeInert } from './inert-text.ts';

/** What quotes keep together; outer white space too, which some readers would trim. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** The header line. */
export function formatCsvHeader(fields: readonly ProductField[]): string {
  return `${fields.join(',')}\r\n`;
}

/** One line with these members of a product. */
export function formatCsvRow(product: Product, fields: readonly ProductField[]): string {
  return `${fields.map((field) => formatCell(readField(product, field))).join(',')}\r\n`;
}

function formatCell(value: string | number): string {
  // No number of a product is so large or so small that it would be written with an exponent.
  if (typeof value === 'number') return String(value);
  const cell = makeInert(value);
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
