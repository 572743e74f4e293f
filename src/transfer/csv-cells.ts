/**
 * Writes cells and lines of CSV (RFC 4180), with commas, CRLF and quotes where needed, and checks
 * the cells of a row. A text that a spreadsheet would run as a formula gets a leading apostrophe,
 * as OWASP ("CSV Injection") and WooCommerce do. So does a text that begins with an apostrophe, or
 * that other programs write for no value, such as NULL: every text can be restored exactly.
 */
import type { Product, ProductField } from '../domain/catalogue/product-fields.ts';
import type { Issue } from '../domain/error.ts';
import type { Revision } from '../domain/revision.ts';
import type { ValidationError } from '../domain/text.ts';

/** Delimiters, line breaks, and outer white space, which some readers would trim. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;
/** What spreadsheets and databases write where there is no value. */
const NO_VALUE = String.raw`(?:#(?:N/[AD]|NV|[¡¿]?[\p{Lu}/0]{2,9}[!?])|NULL|\\N)$`;
/** With which a spreadsheet may begin a formula, as characters of a class. */
const FORMULA_START = String.raw`=+\-@\t\r＝＋－＠`;
const ESCAPED = `(?:[${FORMULA_START}']|${NO_VALUE})`;
const NEEDS_APOSTROPHE = new RegExp(`^${ESCAPED}`, 'u');
const HAS_APOSTROPHE = new RegExp(`^'${ESCAPED}`, 'u');
const IS_NO_VALUE = new RegExp(`^${NO_VALUE}`, 'u');
const END = /^#end rows=\d+ position=[\w-]+$/;
const IN_APOSTROPHES = new RegExp(`^'[^${FORMULA_START}'].*'$`, 's');

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

/** The end record of an export: how many rows precede it, and their position; other cells blank. */
export function formatCsvEnd(
  { rows, position }: { readonly rows: number; readonly position: Revision }, columns: number,
): string {
  return `#end rows=${rows} position=${position}${','.repeat(columns - 1)}\r\n`;
}

/** Whether these are the cells of an end record. */
export function isCsvEnd(cells: readonly string[]): boolean {
  const first = cells[0] ?? '';
  return first.startsWith('#end') && END.test(first) && cells.slice(1).every(isBlank);
}

function formatCell(value: string | number | boolean): string {
  // No number of a product is large or small enough for an exponent.
  if (typeof value !== 'string') return String(value);
  const cell = NEEDS_APOSTROPHE.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

const MAY_BE_FORMULA = new RegExp(`^[${FORMULA_START}]`);
const SIGNED_NUMBER = /^[-+][\d.,]*$/;

/**
 * A cell of someone else's file, with an apostrophe if a spreadsheet would run it as a formula. It
 * is read as the same value: numbers, and texts in the form `="101"`, stay as they are.
 */
export function escapeFormula(cell: string): string {
  if (!MAY_BE_FORMULA.test(cell) || SIGNED_NUMBER.test(cell)) return cell;
  return parseTextMark(cell) === undefined ? `'${cell}` : cell;
}

/** The text of a cell, without the apostrophe that escapes a formula. */
export function unescapeFormula(cell: string): string {
  return cell.startsWith('\'') && HAS_APOSTROPHE.test(cell) ? cell.slice(1) : cell;
}

/** Marks that tell a spreadsheet that digits, or the result of a formula, are text. */
const TEXT_MARK = /^(?:'(\d.*)|="([^"]+)")$/s;
const [APOSTROPHE, EQUALS] = [0x27, 0x3d];

/** The text after a mark that only means text; undefined if there is none. */
export function parseTextMark(cell: string): string | undefined {
  const code = cell.charCodeAt(0);
  if (code !== APOSTROPHE && code !== EQUALS) return undefined;
  const [, digits, quoted] = TEXT_MARK.exec(cell) ?? [];
  return digits ?? quoted;
}

const MAY_BE_NO_TEXT = [APOSTROPHE, 0x23, 0x4e, 0x5c]; // ' # N \

/** The error of a cell that is no SKU, name or category. */
export function validateTextCell(cell: string): ValidationError | undefined {
  // Nearly all cells end here: most texts begin with another character.
  if (!MAY_BE_NO_TEXT.includes(cell.charCodeAt(0))) return undefined;
  const fault = IS_NO_VALUE.test(cell) ? 'Stands for an error or a missing value. Correct it'
    : IN_APOSTROPHES.test(cell) ? 'Is in apostrophes. Remove them' : undefined;
  return fault === undefined ? undefined
    : { code: 'format', detail: `${fault}, or put an apostrophe before it to keep it as it is.` };
}

export function isBlank(cell: string): boolean {
  return cell === '' || cell.trim() === '';
}

/** What a row with fewer cells than columns is: an error, or a row whose last cells are blank. */
export const SHORT_ROWS = ['reject', 'blank'] as const;
export type ShortRows = (typeof SHORT_ROWS)[number];

/** The columns that each row must have: those without a name at the end need no cell. */
export function countColumns(header: readonly string[]): number {
  return header.findLastIndex((name) => !isBlank(name)) + 1;
}

/**
 * The error of a row with more or fewer cells than columns. An unquoted delimiter or line break may
 * have moved its cells.
 */
export function validateCellCount(
  cells: readonly string[], columns: number, shortRows: ShortRows = 'reject',
): Issue | undefined {
  if (cells.length === columns) return undefined;
  const mismatch = `The row has ${cells.length} cells, the header ${columns}.`;
  if (cells.length > columns && !cells.slice(columns).every(isBlank)) {
    const detail = `${mismatch} Put quotes around a cell that contains the delimiter.`;
    return { pointer: '', code: 'format', detail };
  }
  if (cells.length >= columns || shortRows === 'blank') return undefined;
  const remedy = 'Put quotes around a cell that contains a line break. If the program that wrote '
    + 'the file leaves out blank cells at the end of a row, set short_rows=blank.';
  return { pointer: '', code: 'format', detail: `${mismatch} ${remedy}` };
}
