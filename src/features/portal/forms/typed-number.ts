/**
 * Numbers as people type them: with a point or a comma before the decimals, whatever their locale.
 * What could mean thousands is refused, since a price misread costs money.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { ParseResult } from '../../../domain/validation.ts';
import { parseDecimal } from '../../../transfer/csv-cells.ts';

const THREE_DIGITS_LAST = /^-?(\d+)([.,])(\d{3})$/;

/** `decimalMark` is that of the locale: it tells decimals from thousands where there are three. */
export function parseTypedPrice(
  typed: string, { code, decimals }: Currency, decimalMark: '.' | ',',
): ParseResult<number> {
  const [, whole = '', mark, last = ''] = THREE_DIGITS_LAST.exec(typed.trim()) ?? [];
  if (mark === undefined || (decimals === 3 && mark === decimalMark)) {
    return parseDecimal(typed, 'either');
  }
  const either = `${whole}${last} or ${whole}${decimalMark}${last}`;
  const most = decimals === 3 ? 'Write it like one of these.'
    : `Write no mark of thousands; ${code} has ${decimals === 0 ? 'no' : decimals} decimals.`;
  return { error: { code: 'format', detail: `Could mean ${either}. ${most}` } };
}

/** A number that is to be whole; one that is not is read as well, and refused by its reader. */
export function parseTypedWhole(typed: string): ParseResult<number> {
  return parseDecimal(typed, 'unclear', 'whole');
}
