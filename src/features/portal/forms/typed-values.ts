/**
 * Numbers as people type them: with a point or a comma before the decimals, whatever their locale.
 * What could mean thousands is refused, since a price misread costs money.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { DAY_MS, findDuration, parseTime } from '../../../domain/time.ts';
import { AppError } from '../../../domain/error.ts';
import type { ParseResult } from '../../../domain/validation.ts';
import { parseDecimal } from '../../../transfer/csv-cells.ts';
import type { Choice } from './fields.ts';
import type { Form } from './form.ts';

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

/** Undefined for any other text, and for what a double does not hold. */
export function findWholeNumber(text: string): number | undefined {
  const number = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

export const OVERLAPS: readonly Choice[] = [
  { value: '0s', label: 'not at all: it ends now' },
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
];

/** In milliseconds. @throws AppError `invalid_data` for what no page offers */
export function readOverlap(form: Form): number {
  const chosen = OVERLAPS.find(({ value }) => value === form.get('overlap'));
  const overlapMs = chosen && findDuration(chosen.value);
  if (overlapMs !== undefined) return overlapMs;
  throw new AppError('invalid_data', 'Choose how long it goes on. Nothing was changed.');
}

/** When a day such as `2026-01-31` is over, milliseconds since 1970; undefined for no such day. */
export function findEndOfDay(day: string, timeZone: string): number | undefined {
  const start = parseTime(`${day}T00:00:00Z`);
  if (start === undefined) return undefined;
  const end = start + DAY_MS;
  // Once from about the right time, and once more where the clocks are changed in between.
  const near = end - findOffset(end, timeZone);
  return end - findOffset(near, timeZone);
}

/** How far the clocks of a zone are ahead of UTC, in milliseconds. */
function findOffset(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit',
    hour: '2-digit', minute: '2-digit', second: '2-digit',
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const read = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name));
  const there = Date.UTC(
    read('year'), read('month') - 1, read('day'), read('hour'), read('minute'), read('second'),
  );
  return there - Math.floor(at / 1000) * 1000;
}
