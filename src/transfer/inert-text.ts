/**
 * Texts that a spreadsheet would run as a formula, made inert by an apostrophe before them, as
 * OWASP ("CSV Injection") asks for, and restored. An apostrophe that begins a text gets another
 * one, so that every text comes back exactly. WooCommerce writes its files in the same way.
 */

const NEEDS_APOSTROPHE = /^[=+\-@\t\r'＝＋－＠]/;
const HAS_APOSTROPHE = /^'[=+\-@\t\r'＝＋－＠]/;

/** The text as it is written into a cell. */
export function escapeFormula(text: string): string {
  return NEEDS_APOSTROPHE.test(text) ? `'${text}` : text;
}

/** The text that a cell was made of. */
export function unescapeFormula(cell: string): string {
  return HAS_APOSTROPHE.test(cell) ? cell.slice(1) : cell;
}
