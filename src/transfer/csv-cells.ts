/**
 * Writes cells and lines of CSV (RFC 4180), with commas, CRLF and quotes where needed, and parses
 * numbers. A text that a spreadsheet would run as a formula gets a leading apostrophe, as OWASP
 * ("CSV Injection") and WooCommerce do; a text that begins with an apostrophe gets another one, so
 * that every text can be restored exactly.
 */
import type { Product, ProductField } from '../domain/catalogue/product-fields.ts';
import type { Issue } from '../domain/error.ts';
import { validateNumberText } from '../domain/number-text.ts';
import { invalid, type ParseResult } from '../domain/validation.ts';

/** Delimiters, line breaks, and outer white space, which some readers would trim. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;
const NEEDS_APOSTROPHE = /^[=+\-@\t\r'＝＋－＠]/;
const HAS_APOSTROPHE = /^'[=+\-@\t\r'＝＋－＠]/;

/** The header line. */
export function formatCsvHeader(fields: readonly string[]): string {
  return `${fields.join(',')}\r\n`;
}

/** One line with these fields of a product. */
export function formatCsvProduct(product: Product, fields: readonly ProductField[]): string {
  return formatCsvRow(fields.map(({ read }) => read(product)));
}

/** One line; undefined and null become empty cells. */
export function formatCsvRow(
  values: readonly (string | number | boolean | null | undefined)[],
): string {
  return `${values.map((value) => formatCell(value ?? '')).join(',')}\r\n`;
}

function formatCell(value: string | number | boolean): string {
  // No number of a product is large or small enough for an exponent.
  if (typeof value !== 'string') return String(value);
  const cell = NEEDS_APOSTROPHE.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** The text of a cell, without the apostrophe that escapes a formula. */
export function unescapeFormula(cell: string): string {
  return HAS_APOSTROPHE.test(cell) ? cell.slice(1) : cell;
}

export function isBlank(cell: string): boolean {
  return cell === '' || cell.trim() === '';
}

/** The error of a row with more cells than the header: an unquoted delimiter may move cells. */
export function validateCellCount(cells: readonly string[], columns: number): Issue | undefined {
  if (cells.length <= columns || cells.slice(columns).every(isBlank)) return undefined;
  const mismatch = `The row has ${cells.length} cells, the header ${columns}`;
  const detail = `${mismatch}. Put quotes around a cell that contains the delimiter.`;
  return { pointer: '', code: 'format', detail };
}

/**
 * The decimal marks of a file: a point; a point or a comma; or, if either could also be a thousands
 * separator, both, but three digits after one are rejected as ambiguous.
 */
export type DecimalMarks = 'point' | 'either' | 'unclear';

/** Decides the wording of hints: a hint for stock must not suggest decimals. */
type NumberKind = 'decimal' | 'whole';

const POINT = /^-?\d+(?:\.\d+)?$/;
const EITHER = /^-?\d+(?:[.,]\d+)?$/;
const THREE_DIGITS_LAST = /[.,]\d{3}$/;

/**
 * Parses a number with one decimal mark and optional white space around it. Thousands separators,
 * currency signs and exponents are rejected: a misread price costs money. A `whole` number may have
 * a decimal mark here; the domain rejects it.
 */
export function parseDecimal(
  cell: string, marks: DecimalMarks, kind: NumberKind = 'decimal',
): ParseResult<number> {
  const text = cell.trim();
  if (text === '') return invalid('blank', 'Must not be blank.');
  if (!(marks === 'point' ? POINT : EITHER).test(text)) {
    const form = kind === 'whole' ? 'whole number, such as 1234' : 'plain number, such as 1234.5';
    const hint = 'no thousands separators, currency signs or exponents';
    return invalid('format', `Write a ${form}: ${hint}.`);
  }
  if (marks === 'unclear' && THREE_DIGITS_LAST.test(text)) {
    const hint = kind === 'whole' ? 'write a whole number, such as 1234'
      : 'write 1234, or 1.2340 with an extra 0';
    return invalid('format', `Could mean thousands or decimals: ${hint}.`);
  }
  const number = text.replace(',', '.');
  const value = Number(number);
  // A larger one is out of every range; the domain's error names the range.
  const error = Math.abs(value) <= Number.MAX_SAFE_INTEGER && validateNumberText(number);
  return error ? { error } : { value };
}

const DIGITS = /^\d{1,15}$/;
/** A single mark before three digits, such as in 12,000: twelve or twelve thousand. */
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/;
/** Any longer number is out of every range. */
const QUANTITY_LIMIT_CHARACTERS = 40;
/** The whole part, which may have thousands separators, and decimals after another mark. */
const QUANTITIES: readonly RegExp[] = [
  /^([+-]?\d+)(?:[.,](\d+))?$/,
  /^([+-]?[1-9]\d{0,2}(?:\.\d{3})+)(?:,(\d+))?$/,
  /^([+-]?[1-9]\d{0,2}(?:,\d{3})+)(?:\.(\d+))?$/,
  /^([+-]?[1-9]\d{0,2}(?:[ \u00a0\u2009\u202f'’]\d{3})+)(?:[.,](\d+))?$/,
];

/**
 * Parses a whole quantity as tills and ERPs write it: `12`, `-3`, `+3`, `12,0`, `1.234,00`,
 * `1 234`. A fraction is rejected, and so is a single mark before exactly three digits, in every
 * file: a wrong guess would change a stock by a factor of 1,000.
 */
export function parseQuantity(cell: string): ParseResult<number> {
  if (DIGITS.test(cell)) return { value: Number(cell) };
  const text = unescapeFormula(cell.trim()).trim();
  if (text === '') return invalid('blank', 'Must not be blank.');
  if (AMBIGUOUS.test(text)) {
    const hint = 'write a whole number, such as 1234';
    return invalid('format', `Could mean thousands or decimals: ${hint}.`);
  }
  for (const quantity of text.length <= QUANTITY_LIMIT_CHARACTERS ? QUANTITIES : []) {
    const [, whole, decimals = ''] = quantity.exec(text) ?? [];
    if (whole === undefined) continue;
    if (/[1-9]/.test(decimals)) return invalid('precision', 'Must be a whole number.');
    return { value: Number(whole.replace(/[^\d+-]/g, '')) + 0 }; // -0 + 0 is 0
  }
  return invalid('format', 'Write a whole number, such as 1234: no units or exponents.');
}
