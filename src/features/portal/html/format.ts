/** Formats numbers, money and times in the locale and time zone of a seller. */
import type { Account } from '../../../domain/access/account.ts';
import type { NewProduct, SentField } from '../../../domain/catalogue/product-fields.ts';
import { PORTAL_FORMATS_LIMIT } from '../limits.ts';
import { html, type Html } from './html.ts';

export interface Format {
  number(value: number | bigint): string;
  /** With a sign, such as `+3`: for stock movements. */
  delta(value: number): string;
  /** An amount in minor units. */
  money(minor: number | bigint): string;
  /** The amount as it is typed: digits and the decimal mark only. */
  amount(minor: number | bigint): string;
  /** Precedes the decimals. */
  readonly decimalMark: '.' | ',';
  /** Date, time and zone; `at` is milliseconds since 1970. */
  time(at: number): string;
  /** The same as an element with a machine-readable time. */
  timeElement(at: number): Html;
  /** Day and month. */
  day(at: number): string;
  /** Day and month in UTC, in which days are counted. */
  utcDay(at: number): string;
  /** Hour and minute. */
  hour(at: number): string;
  /** Day, month, hour and minute. */
  minute(at: number): string;
}

/** The value of a product's field as text. */
export function formatField(
  format: Format, { member, kind }: SentField, product: NewProduct,
): string {
  const value = product[member] ?? '';
  switch (kind) {
    case 'text': return String(value);
    case 'price': return format.money(Number(value));
    case 'quantity': return format.number(Number(value));
  }
}

type FormatContext = Pick<Account, 'locale' | 'timeZone' | 'currency'>;

/** A cache, because creating a format takes a millisecond. */
export class Formats {
  readonly #formats = new Map<string, Format>();

  get({ locale, timeZone, currency }: FormatContext): Format {
    const name = `${locale} ${timeZone} ${currency.code}`;
    const known = this.#formats.get(name);
    if (known) return known;
    if (this.#formats.size >= PORTAL_FORMATS_LIMIT) this.#formats.clear();
    const format = makeFormat({ locale, timeZone, currency });
    this.#formats.set(name, format);
    return format;
  }
}

function makeFormat({ locale, timeZone, currency }: FormatContext): Format {
  const numbers = new Intl.NumberFormat(locale);
  const deltas = new Intl.NumberFormat(locale, { signDisplay: 'exceptZero' });
  const { code, decimals } = currency;
  const amounts = new Intl.NumberFormat(locale, {
    style: 'currency', currency: code,
    minimumFractionDigits: decimals, maximumFractionDigits: decimals,
  });
  const times = new Intl.DateTimeFormat(locale, {
    timeZone, timeZoneName: 'short', year: 'numeric', month: 'short', day: 'numeric',
    hour: '2-digit', minute: '2-digit', second: '2-digit',
  });
  const parts = numbers.formatToParts(0.5);
  const decimalMark = parts.some(({ type, value }) => type === 'decimal' && value === ',')
    ? ',' : '.';
  const days = new Intl.DateTimeFormat(locale, { timeZone, month: 'short', day: 'numeric' });
  const utcDays = new Intl.DateTimeFormat(locale, {
    timeZone: 'UTC', month: 'short', day: 'numeric',
  });
  const hours = new Intl.DateTimeFormat(locale, { timeZone, hour: '2-digit', minute: '2-digit' });
  const minutes = new Intl.DateTimeFormat(locale, {
    timeZone, month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit',
  });
  const time = (at: number): string => times.format(at);
  return {
    number: (value) => numbers.format(value),
    delta: (value) => deltas.format(value),
    money: (minor) => amounts.format(toDecimal(minor, decimals)),
    amount: (minor) => toDecimal(minor, decimals).replace('.', decimalMark),
    decimalMark,
    time,
    timeElement: (at) =>
      html`<time datetime="${new Date(at).toISOString()}">${time(at)}</time>`,
    day: (at) => days.format(at),
    utcDay: (at) => utcDays.format(at),
    hour: (at) => hours.format(at),
    minute: (at) => minutes.format(at),
  };
}

/** An exact decimal text, which `Intl` accepts: a bigint may exceed what a double holds. */
function toDecimal(minor: number | bigint, decimals: number): `${number}` {
  const digits = String(minor).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  // The cast: these are digits, with a point where there are decimals.
  return (decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`) as `${number}`;
}
