/**
 * Numbers in the cells of a CSV file: digits and one decimal mark, white space around them. Marks
 * of thousands, signs of currencies and exponents are refused: a price misread costs money.
 */
import { validateNumberText } from '../domain/number-text.ts';
import type { ParseResult } from '../domain/validation.ts';

/**
 * The decimal marks of a file: a point; a point or a comma; or a point or a comma of which nobody
 * knows whether it marks thousands, so that three digits after it are refused.
 */
export type DecimalMarks = 'point' | 'either' | 'unclear';

/** What a number is an amount of; stock is whole, and a hint must not suggest anything else. */
type NumberKind = 'decimal' | 'whole';

const POINT = /^-?\d+(?:\.\d+)?$/;
const EITHER = /^-?\d+(?:[.,]\d+)?$/;
const THREE_DIGITS_LAST = /[.,]\d{3}$/;

/** Reads a whole number too where it has a decimal mark: the domain says what is wrong with it. */
export function parseDecimal(
  cell: string, marks: DecimalMarks, kind: NumberKind = 'decimal',
): ParseResult<number> {
  const text = cell.trim();
  if (text === '') return { error: { code: 'blank', detail: 'Must not be blank.' } };
  if (!(marks === 'point' ? POINT : EITHER).test(text)) {
    const what = kind === 'whole' ? 'whole number, such as 1234' : 'plain number, such as 1234.5';
    const hint = 'no thousands separators, currency signs or exponents';
    return { error: { code: 'format', detail: `Write a ${what}: ${hint}.` } };
  }
  if (marks === 'unclear' && THREE_DIGITS_LAST.test(text)) {
    const hint = kind === 'whole' ? 'write a whole number, such as 1234'
      : 'write 1234, or 1.2340 with a 0 more';
    return { error: { code: 'format', detail: `Could mean thousands or decimals: ${hint}.` } };
  }
  const number = text.replace(',', '.');
  const value = Number(number);
  // A larger one is out of every range, and the domain names the range.
  const error = Math.abs(value) <= Number.MAX_SAFE_INTEGER && validateNumberText(number);
  return error ? { error } : { value };
}
