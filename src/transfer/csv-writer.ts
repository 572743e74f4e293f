/** Writes CSV (RFC 4180): commas, CRLF, quotes where they are needed, no formulas. */
import { type ProductField, readField } from '../domain/catalogue/product-fields.ts';
import type { Product } from '../domain/catalogue/product.ts';
import { escapeFormula } from './inert-text.ts';

/** What quotes keep together; outer white space too, which some readers would trim. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** The header line. */
export function formatCsvHeader(fields: readonly string[]): string {
  return `${fields.join(',')}\r\n`;
}

/** One line with these members of a product. */
export function formatCsvProduct(product: Product, fields: readonly ProductField[]): string {
  return formatCsvRow(fields.map((field) => readField(product, field)));
}

/** One line; what is undefined is an empty cell. */
export function formatCsvRow(values: readonly (string | number | undefined)[]): string {
  return `${values.map((value) => formatCell(value ?? '')).join(',')}\r\n`;
}

function formatCell(value: string | number): string {
  // No number of a product is so large or so small that it would be written with an exponent.
  if (typeof value === 'number') return String(value);
  const cell = escapeFormula(value);
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
