/**
 * Portal accounts: the people of a seller, each with a role. E-mail addresses follow WHATWG HTML
 * section 4.10.5.1.5 and only identify the account: no mail is sent.
 */
import { oneOf } from '../arguments.ts';
import type { Currency } from '../catalogue/currency.ts';
import { stockQuantity } from '../catalogue/product-definition.ts';
import type { AccountId, SellerId } from '../id.ts';
import type { ShopSettings } from './seller.ts';
import { ACTOR_LIMIT_CODE_POINTS, EMAIL_LIMIT_CHARACTERS } from '../limits.ts';
import { invalid, type ParseResult } from '../validation.ts';

/** What accounts may do in the portal, from most to least: each role includes the next ones. */
export const ROLES = ['owner', 'editor', 'viewer'] as const;
/** A role of an account. */
export type Role = (typeof ROLES)[number];

/** An account, with its seller. */
export interface AccountReference {
  readonly sellerId: SellerId;
  readonly accountId: AccountId;
}

/** How the portal shows numbers and times. */
export interface AccountSettings {
  /** BCP 47, such as `de-CH`; known to `Intl`. */
  readonly locale: string;
  /** IANA, such as `Europe/Zurich`. */
  readonly timeZone: string;
}

export interface NewAccount extends AccountSettings {
  /** Lower case, 3..254 characters. */
  readonly email: string;
  /** In the PHC string format. */
  readonly passwordHash: string;
}

/** An account as the portal shows it. */
export interface Account extends AccountReference, AccountSettings, ShopSettings {
  /** 1..100 code points; no other account of the seller has it. Actor of the account's changes. */
  readonly name: string;
  readonly role: Role;
  readonly sellerName: string;
  readonly currency: Currency;
  readonly email: string;
  /** Whether two-factor authentication is on. */
  readonly hasTotp: boolean;
  readonly passkeys: number;
  /** Whether the password is for confirming changes only, and passkeys are for signing in. */
  readonly isPasswordOff: boolean;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Of the last sign-in or page, exact to a minute; milliseconds since 1970. */
  readonly seenAt: number;
}

const EMAIL = new RegExp(
  "^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
  + '(?:\\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$',
);

/** Whether a role includes another one. */
export function includesRole(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed);
}

export const parseRole = oneOf(ROLES);

/** Whether its shop requires two factors and it signs in with one; a passkey alone is two. */
export function lacksTwoFactor({ requiresTwoFactor, hasTotp, isPasswordOff }: Account): boolean {
  return requiresTwoFactor && !hasTotp && !isPasswordOff;
}

/** The name of an account for which none is given: the part of the e-mail address before `@`. */
export function nameFromEmail(email: string): string {
  return (email.split('@')[0] ?? '').slice(0, ACTOR_LIMIT_CODE_POINTS);
}

/** Two names that differ in case or in the form of their characters only are the same. */
export function isSameName(name: string, other: string): boolean {
  const [left, right] = [name, other].map((text) => text.normalize('NFKC').toLowerCase());
  return left === right;
}

/** Trims and lower-cases. */
export function parseEmail(text: string): ParseResult<string> {
  const email = text.trim().toLowerCase();
  if (email.length <= EMAIL_LIMIT_CHARACTERS && EMAIL.test(email)) return { value: email };
  return invalid('format', 'Enter an e-mail address, such as anna@shop.example.');
}

/** NFKC, so that a password works from any keyboard. */
export function normalisePassword(text: string): string {
  return text.normalize('NFKC');
}

export function parseLocale(text: string): ParseResult<string> {
  try {
    const [locale] = Intl.NumberFormat.supportedLocalesOf(text);
    if (locale !== undefined && locale.length <= 35) return { value: locale };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // not a locale
  }
  return invalid('format', 'Enter a language and a country, such as en-GB or de-CH.');
}

export function parseTimeZone(text: string): ParseResult<string> {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions();
    if (text !== '') return { value: timeZone };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // not a time zone
  }
  return invalid('format', 'Enter a time zone, such as Europe/Zurich or UTC.');
}

export function parseLowStock(text: string): ParseResult<number> {
  return stockQuantity.parse(/^\d{1,10}$/.test(text.trim()) ? Number(text) : NaN);
}
