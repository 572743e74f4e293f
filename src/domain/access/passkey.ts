/**
 * Passkeys of an account. The user handle that an authenticator keeps with a passkey names the
 * account, so a sign-in needs no e-mail; it is not secret, and contains nothing personal (WebAuthn
 * Level 2, section 14.6.1).
 */
import { type AccountId, formatSellerId, parseSellerId } from '../id.ts';
import { PASSKEY_NAME_LIMIT_CODE_POINTS } from '../limits.ts';
import { lineValidator, type ParseResult } from '../validation.ts';
import type { AccountReference } from './account.ts';

/** Hints how a browser reaches an authenticator (WebAuthn Level 2, section 5.8.4, and later). */
const TRANSPORTS = ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal'] as const;
type Transport = (typeof TRANSPORTS)[number];

export interface NewPasskey {
  /** 1..60 code points. */
  readonly name: string;
  /** 1..1,023 bytes in base64url. */
  readonly credentialId: string;
  /** The COSE_Key in base64url. */
  readonly publicKey: string;
  /** The host name that it works at. */
  readonly rpId: string;
  /** 0 if the authenticator does not count. */
  readonly signCount: number;
  readonly transports: readonly Transport[];
}

/** Times are milliseconds since 1970. */
export interface Passkey extends NewPasskey {
  /** Increases with each passkey of the account. */
  readonly id: number;
  readonly createdAt: number;
  /** Undefined if it has never been used. */
  readonly lastUsedAt: number | undefined;
}

const USER_HANDLE = /^(sel_\w{11})\.([1-9]\d{0,8})$/;

export function parsePasskeyName(text: string): ParseResult<string> {
  return lineValidator(PASSKEY_NAME_LIMIT_CODE_POINTS).parse(text.trim());
}

/** The known ones of a list that is separated by spaces; each once. */
export function readTransports(text: string): readonly Transport[] {
  const names = text.split(' ');
  return TRANSPORTS.filter((transport) => names.includes(transport));
}

export function formatUserHandle({ sellerId, accountId }: AccountReference): string {
  return `${formatSellerId(sellerId)}.${accountId}`;
}

/** Undefined unless it is one of this server's, whether or not the account exists. */
export function parseUserHandle(handle: string): AccountReference | undefined {
  const [, seller = '', account] = USER_HANDLE.exec(handle) ?? [];
  const sellerId = parseSellerId(seller);
  // The cast is what the expression proves.
  return sellerId === undefined ? undefined : { sellerId, accountId: Number(account) as AccountId };
}
