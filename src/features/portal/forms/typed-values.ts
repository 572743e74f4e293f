/**
 * Parses values that users type or choose in forms. Numbers may have a decimal point or comma in
 * any locale. If the mark could also separate thousands, the number is rejected, because a misread
 * price costs money.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { AppError } from '../../../domain/error.ts';
import { capitalize } from '../../../domain/text.ts';
import { DAY_MS, findDuration, HOUR_MS, MINUTE_MS, parseTime } from '../../../domain/time.ts';
import { invalid, type ParseResult } from '../../../domain/validation.ts';
import { parseNumber } from '../../../transfer/numbers.ts';
import type { Choice, Field } from './fields.ts';
import type { Form } from './form.ts';

const PLAIN = /^-?\d+(?:[.,]\d+)?$/;
const THREE_DIGITS_LAST = /^-?(\d+)([.,])(\d{3})$/;
const HINT = 'no thousands separators, currency signs or exponents';

/** @param decimalMark The locale's, which distinguishes three decimals from thousands. */
export function parseTypedPrice(
  typed: string, { code, decimals }: Currency, decimalMark: '.' | ',',
): ParseResult<number> {
  const text = typed.trim();
  if (text !== '' && !PLAIN.test(text)) {
    return invalid('format', `Write a plain number, such as 1234.5: ${HINT}.`);
  }
  const [, whole = '', mark, last = ''] = THREE_DIGITS_LAST.exec(text) ?? [];
  if (mark === undefined || (decimals === 3 && mark === decimalMark)) {
    return parseNumber(text, { mark: text.includes(',') ? 'comma' : 'point', isWhole: false });
  }
  const either = `${whole}${last} or ${whole}${decimalMark}${last}`;
  const most = decimals === 3 ? 'Enter one of them.'
    : `Omit the thousands separator; ${code} has ${
      decimals === 0 ? 'no' : decimals} decimals.`;
  return invalid('format', `Could mean ${either}. ${most}`);
}

export function parseTypedWhole(typed: string): ParseResult<number> {
  const text = typed.trim();
  const form = 'write a whole number, such as 1234';
  if (THREE_DIGITS_LAST.test(text)) {
    return invalid('format', `Could mean thousands or decimals: ${form}.`);
  }
  if (text !== '' && !PLAIN.test(text)) return invalid('format', `${capitalize(form)}: ${HINT}.`);
  return parseNumber(text, { mark: undefined, isWhole: true });
}

/** A whole number in a URL or a hidden field; undefined unless it is a safe integer. */
export function findWholeNumber(text: string): number | undefined {
  const number = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

const OVERLAPS: readonly Choice[] = [
  { value: '0s', label: 'Expire immediately' },
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
];

/** How long an old key or secret stays valid after a rotation. */
export function overlapField(label: string): Field {
  return { name: 'overlap', label, control: 'select', initial: '24h', choices: OVERLAPS };
}

/** In milliseconds. @throws AppError `invalid_data` for a value that no page offers */
export function readOverlap(form: Form): number {
  const choice = OVERLAPS.find(({ value }) => value === form.get('overlap'));
  const overlapMs = choice && findDuration(choice.value);
  if (overlapMs !== undefined) return overlapMs;
  throw new AppError('invalid_data', 'Nothing was changed. Choose one of the durations.');
}

/**
 * The end of a day such as `2026-01-31` in an IANA time zone, in milliseconds since 1970; undefined
 * if the day does not exist.
 */
export function findEndOfDay(day: string, timeZone: string): number | undefined {
  const start = parseTime(`${day}T00:00:00Z`);
  if (start === undefined) return undefined;
  const end = start + DAY_MS;
  // The second offset corrects for a clock change between the two estimates.
  const near = end - findOffset(end, timeZone);
  return end - findOffset(near, timeZone);
}

/** The offset of a zone from UTC, in milliseconds. */
function findOffset(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  // Such as GMT, GMT+05:30 or GMT-08:00.
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(format.format(at)) ?? [];
  const offset = Number(hours ?? 0) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS;
  return sign === '-' ? -offset : offset;
}
