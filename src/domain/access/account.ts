/**
 * Accounts of the portal: who may sign in for a seller. Each seller has at most one. Addresses of
 * e-mail are those that HTML takes (WHATWG HTML, section 4.10.5.1.5) and names only: nothing is
 * sent to them. Passwords follow NIST SP 800-63B-4, section 3.1.1: length counts, composition does
 * not, and what everybody would try first is refused.
 */
import type { Currency } from '../catalogue/currency.ts';
import type { SellerId } from '../id.ts';
import {
  EMAIL_LIMIT_CHARACTERS, PASSWORD_LIMIT_CODE_POINTS, PASSWORD_MIN_CODE_POINTS, STOCK_LIMIT,
} from '../limits.ts';
import { type ParseResult, parseInteger } from '../validation.ts';

/** How a seller reads numbers, times and the catalogue. */
export interface AccountSettings {
  /** BCP 47, such as `de-CH`: one that `Intl` knows. */
  readonly locale: string;
  /** IANA, such as `Europe/Zurich`. */
  readonly timeZone: string;
  /** Products with this stock or less are low: 0 to 1,000,000,000. */
  readonly lowStock: number;
}

export interface NewAccount extends Omit<AccountSettings, 'lowStock'> {
  /** In lower case, 3..254 characters. */
  readonly email: string;
  /** As the PHC string format writes it. */
  readonly passwordHash: string;
}

/** An account as its own pages show it. */
export interface Account extends AccountSettings {
  readonly sellerId: SellerId;
  readonly sellerName: string;
  readonly currency: Currency;
  readonly email: string;
  /** Whether signing in takes a one-time password, too. */
  readonly hasTotp: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

const EMAIL = new RegExp(
  "^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
  + '(?:\\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$',
);
const DISTINCT_CHARACTERS_MIN = 5;
const COMMON = /^(?:password|passwort|qwerty|letmein|welcome|iloveyou|administrator|changeme)/i;

/** In lower case, and without white space around it. */
export function parseEmail(text: string): ParseResult<string> {
  const email = text.trim().toLowerCase();
  if (email.length <= EMAIL_LIMIT_CHARACTERS && EMAIL.test(email)) return { value: email };
  const detail = 'Write an e-mail address, such as anna@shop.example.';
  return { error: { code: 'format', detail } };
}

/** `names` are what it may not consist of, such as the name of the shop. */
export function parseNewPassword(text: string, names: readonly string[]): ParseResult<string> {
  const password = normalisePassword(text);
  const length = [...password].length;
  if (length < PASSWORD_MIN_CODE_POINTS || length > PASSWORD_LIMIT_CODE_POINTS) {
    const range = `${PASSWORD_MIN_CODE_POINTS} to ${PASSWORD_LIMIT_CODE_POINTS}`;
    const detail = `Must have ${range} characters: a sentence of a few words is good.`;
    return { error: { code: 'length', detail } };
  }
  const isNamed = names.some((name) => name !== ''
    && password.toLowerCase().replaceAll(name.toLowerCase(), '').length < PASSWORD_MIN_CODE_POINTS
    && password.toLowerCase().includes(name.toLowerCase()));
  const isPoor = new Set(password).size < DISTINCT_CHARACTERS_MIN || isSequence(password);
  if (!isNamed && !isPoor && !COMMON.test(password)) return { value: password };
  const detail = 'Is easy to guess. Take one that has nothing to do with you or the shop.';
  return { error: { code: 'format', detail } };
}

/** One form for what looks the same, whatever keyboard it was typed on. */
export function normalisePassword(text: string): string {
  return text.normalize('NFKC');
}

export function parseLocale(text: string): ParseResult<string> {
  const hint = 'Write a language and a country, such as en-GB or de-CH.';
  try {
    const [locale] = Intl.NumberFormat.supportedLocalesOf(text);
    if (locale !== undefined && locale.length <= 35) return { value: locale };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // a text that is no locale at all
  }
  return { error: { code: 'format', detail: hint } };
}

export function parseTimeZone(text: string): ParseResult<string> {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions();
    if (text !== '') return { value: timeZone };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // a time zone that nobody knows
  }
  const detail = 'Write a time zone, such as Europe/Zurich or UTC.';
  return { error: { code: 'format', detail } };
}

export function parseLowStock(text: string): ParseResult<number> {
  return parseInteger(/^\d{1,10}$/.test(text.trim()) ? Number(text) : NaN, 0, STOCK_LIMIT);
}

/** `123456789012`, `abcdefghijkl` and the like. */
function isSequence(text: string): boolean {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = codes.slice(1).map((code, index) => Math.abs(code - (codes[index] ?? 0)));
  return steps.filter((step) => step <= 1).length > (steps.length * 2) / 3;
}
