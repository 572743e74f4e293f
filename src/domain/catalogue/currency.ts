/**
 * Currencies: an ISO 4217 code and the number of decimals. The decimals come from the table below,
 * because `Intl` differs from the standard for some currencies (IQD, AFN, ...). They are stored
 * with the seller, so that no update changes the meaning of a stored price.
 */
import { PRICE_LIMIT } from '../limits.ts';
import { invalid, type ParseResult } from '../validation.ts';

export interface Currency {
  /** ISO 4217 code: three capital letters. */
  readonly code: string;
  /** Digits of the minor unit, 0 to 3. */
  readonly decimals: number;
}

const DEFAULT_DECIMALS = 2;
// ISO 4217, table A.1, column "minor unit", where it is not 2.
const DECIMALS: Readonly<Record<string, number>> = {
  BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, VND: 0,
  VUV: 0, XAF: 0, XOF: 0, XPF: 0,
  BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3,
};
// Units of account, and currencies that ISO 4217 has withdrawn (list three) but `Intl` still has.
const NOT_PAID_IN: ReadonlySet<string> = new Set([
  'CLF', 'UYI', 'UYW', 'XDR', 'XSU', 'ANG', 'BGN', 'CUC', 'HRK', 'SLL', 'ZWL',
]);

/**
 * The currency of a new seller; undefined for a code that is not one, or no longer. A seller keeps
 * a currency that is withdrawn later, since its decimals are stored.
 */
export function findCurrency(code: string): Currency | undefined {
  if (NOT_PAID_IN.has(code) || !Intl.supportedValuesOf('currency').includes(code)) return undefined;
  return { code, decimals: DECIMALS[code] ?? DEFAULT_DECIMALS };
}

/**
 * The amount in minor units, or undefined if it has more decimals than the currency.
 * Exact for 0 <= amount < 10^12 and up to 3 decimals: both the minor units and the power of ten are
 * integers below 2^53, so dividing them rounds to the same double as the decimal text.
 */
export function toMinorUnits(amount: number, currency: Currency): number | undefined {
  const scale = 10 ** currency.decimals;
  const minor = Math.round(amount * scale);
  return minor / scale === amount ? minor : undefined;
}

/** The amount in the major unit, as clients send and read it: 1999 in EUR is 19.99. */
export function fromMinorUnits(minor: number, currency: Currency): number {
  return minor / 10 ** currency.decimals;
}

/** Parses a price in the currency's major unit to minor units. */
export const priceValidator = {
  schema: { type: 'number', minimum: 0, exclusiveMaximum: PRICE_LIMIT },
  parse: parsePrice,
};

function parsePrice(value: unknown, currency: Currency): ParseResult<number> {
  if (typeof value !== 'number') return invalid('type', 'Must be a number.');
  if (!(value >= 0 && value < PRICE_LIMIT)) {
    return invalid('range', 'Must be at least 0 and below 1,000,000,000,000.');
  }
  const minor = toMinorUnits(value, currency);
  if (minor === undefined) {
    const most = currency.decimals === 0 ? 'no decimals' : `at most ${currency.decimals} decimals`;
    return invalid('precision', `Must have ${most} in ${currency.code}.`);
  }
  return { value: minor + 0 }; // -0 + 0 is 0
}
