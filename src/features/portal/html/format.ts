/** Formats numbers, money and times in a seller's locale and time zone. */
import type { Account } from '../../../domain/access/account.ts';
import { readMetadata } from '../../../domain/catalogue/metadata.ts';
import type { NewProduct, SentField } from '../../../domain/catalogue/product-fields.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../domain/time.ts';
import { PORTAL_FORMATS_LIMIT } from '../limits.ts';
import { html, type Html } from './html.ts';

export type Format = ReturnType<typeof makeFormat>;

/** The text of a product field. */
export function formatField(
  format: Format, { member, kind }: SentField, product: NewProduct,
): string {
  const value = product[member] ?? undefined;
  if (value === undefined) return '–';
  switch (kind) {
    case 'text': case 'paragraphs': return String(value);
    case 'pairs': // such as `erp_id: 10473, supplier: Acme`
      return [...readMetadata(product.metadata)].map((pair) => pair.join(': ')).join(', ');
    case 'flag': return 'Yes';
    case 'price': return format.money(Number(value));
    case 'quantity': return format.number(Number(value));
  }
}

type FormatContext = Pick<Account, 'locale' | 'timeZone' | 'currency'>;

/**
 * Caches formats, because creating one takes a millisecond.
 * @param clock Milliseconds since 1970, for relative times.
 */
export function makeFormatCache(clock: () => number): (context: FormatContext) => Format {
  const formats = new Map<string, Format>();
  return ({ locale, timeZone, currency }) => {
    const name = `${locale} ${timeZone} ${currency.code}`;
    const cachedFormat = formats.get(name);
    if (cachedFormat) return cachedFormat;
    if (formats.size >= PORTAL_FORMATS_LIMIT) formats.clear();
    const format = makeFormat({ locale, timeZone, currency }, clock);
    formats.set(name, format);
    return format;
  };
}

function makeFormat(
  { locale, timeZone, currency: { code, decimals } }: FormatContext, clock: () => number,
) {
  const numbers = new Intl.NumberFormat(locale);
  const deltas = new Intl.NumberFormat(locale, { signDisplay: 'exceptZero' });
  const amounts = new Intl.NumberFormat(locale, {
    style: 'currency', currency: code,
    minimumFractionDigits: decimals, maximumFractionDigits: decimals,
  });
  const isComma = numbers.formatToParts(0.5).some(({ type, value }) =>
    type === 'decimal' && value === ',');
  const decimalMark = isComma ? ',' : '.';
  /** Returns a function of milliseconds since 1970. */
  const timeFormat = (
    options: Intl.DateTimeFormatOptions,
  ): (at: number) => string => new Intl.DateTimeFormat(locale, { timeZone, ...options }).format;
  const [day, minute] = [
    { month: 'short', day: 'numeric' }, { hour: '2-digit', minute: '2-digit' },
  ] as const;
  const time = timeFormat({
    ...day, ...minute, year: 'numeric', second: '2-digit', timeZoneName: 'short',
  });
  const relativeTime = makeRelativeTime(locale, clock, timeFormat({ ...day, year: 'numeric' }));
  const lang = /^en\b/.test(locale) ? undefined : locale;
  /** @param live The member that `live.js` keeps current. */
  const timeElement = (at: number, live?: string): Html => html`<time datetime="${
    formatIso(at)}" title="${time(at)}"${lang && html` lang="${lang}"`}${
    live && html` data-live="${live}"`}>${relativeTime(at)}</time>`;
  return {
    number: (value: number | bigint): string => numbers.format(value),
    /** Such as `1 product` and `2 products`. */
    countProducts: (count: number): string =>
      count === 1 ? '1 product' : `${numbers.format(count)} products`,
    /** With a sign, such as `+3`, for stock movements. */
    delta: (value: number): string => deltas.format(value),
    ...makeCompact(locale, code, decimals),
    /** An amount in minor units. */
    money: (minor: number | bigint): string => amounts.format(toDecimal(minor, decimals)),
    /** An amount as a user types it: only digits and the decimal mark. */
    amount: (minor: number | bigint): string =>
      toDecimal(minor, decimals).replace('.', decimalMark),
    decimalMark,
    /** Date, time and zone. */
    time,
    /** A relative time, with the exact one on hover; `portal.js` keeps it current. */
    timeElement,
    /** The same, and the exact time below it: for logs, and for screens that cannot hover. */
    fullTimeElement: (at: number): Html =>
      html`${timeElement(at)}<br><span class="small quiet">${time(at)}</span>`,
    relativeTime,
    /** Day and month. */
    day: timeFormat(day),
    /** Day and month in UTC, for daily counts. */
    utcDay: timeFormat({ ...day, timeZone: 'UTC' }),
    /** Hour and minute. */
    hour: timeFormat(minute),
    /** Day, month, hour and minute. */
    minute: timeFormat({ ...day, ...minute }),
  } as const;
}

/** Short numbers and amounts in minor units, such as `1.25M`, for axes. */
function makeCompact(locale: string, currency: string, decimals: number) {
  const short = { notation: 'compact', maximumFractionDigits: 2 } as const;
  const numbers = new Intl.NumberFormat(locale, short);
  const amounts = new Intl.NumberFormat(locale, { ...short, style: 'currency', currency });
  return {
    compact: (value: number): string => numbers.format(value),
    compactMoney: (minor: number): string => amounts.format(minor / 10 ** decimals),
  };
}

/** Units of relative times, each up to its number. */
const RELATIVE_UNITS = [
  ['minute', MINUTE_MS, 59], ['hour', HOUR_MS, 47], ['day', DAY_MS, 30],
] as const;

/** Such as `3 minutes ago` and `in 24 hours`; the date if it is more than 30 days away. */
function makeRelativeTime(
  locale: string, clock: () => number, date: (at: number) => string,
): (at: number) => string {
  const relative = new Intl.RelativeTimeFormat(locale);
  const now = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(0, 'second');
  return (at) => {
    const aheadMs = at - clock();
    if (Math.abs(aheadMs) < MINUTE_MS) return now;
    const unit = RELATIVE_UNITS.find(([, unitMs, limit]) =>
      Math.abs(Math.round(aheadMs / unitMs)) <= limit);
    return unit ? relative.format(Math.round(aheadMs / unit[1]), unit[0]) : date(at);
  };
}

/** In whole seconds, because pages repeat it in every row. */
function formatIso(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+/, '');
}

/** An exact decimal text for `Intl`, because a bigint may exceed the range of a double. */
export function toDecimal(minor: number | bigint, decimals: number): `${number}` {
  const [sign, size] = minor < 0 ? ['-', -minor] : ['', minor];
  const digits = String(size).padStart(decimals + 1, '0');
  const whole = sign + digits.slice(0, digits.length - decimals);
  // The cast: these are digits, with a point where there are decimals.
  return (decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`) as `${number}`;
}
