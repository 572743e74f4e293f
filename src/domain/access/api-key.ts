/**
 * API keys: `spk_`, 30 random base62 characters, and 6 base62 characters of CRC-32 over the 34
 * before them, so that secret scanners recognise a key and junk is rejected without a database
 * query. 30 characters are 178 bits. Only the SHA-256 of a key is stored, and its last four
 * characters, so that people can tell keys apart. A fast hash is enough for that much randomness.
 */
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { parseAddressRanges } from '../network-address.ts';
import { AppError, type Issue } from '../error.ts';
import { formatKeyId, formatSellerId, type KeyId, type SellerId } from '../id.ts';
import { KEY_NAME_LIMIT_CODE_POINTS, RATE_LIMIT_PER_MINUTE_MAX } from '../limits.ts';
import { isScope, type Scope, SCOPES } from './caller.ts';
import { validateText } from '../text.ts';
import { formatOptionalTime, formatTime } from '../time.ts';
import { integerValidator } from '../validation.ts';

declare const brand: unique symbol;
/** The secret. It is shown once and never stored, logged or part of an error. */
export type ApiKeySecret = string & { readonly [brand]: 'ApiKeySecret' };

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'spk_';
const RANDOM_CHARACTERS = 30;
const CHECKSUM_CHARACTERS = 6;
const LAST_CHARACTERS = 4;
const CHECKED_LENGTH = PREFIX.length + RANDOM_CHARACTERS;
export const API_KEY_CHARACTERS = CHECKED_LENGTH + CHECKSUM_CHARACTERS;
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${API_KEY_CHARACTERS - PREFIX.length}}$`);
/** Begins wherever the prefix does, also within `spk_spk_`. */
const KEY_LIKE = new RegExp(`(?=(${PREFIX}[0-9A-Za-z]*))`, 'g');

/** A key to create. Times are milliseconds since 1970. */
export interface NewApiKey {
  /** 1..100 code points. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** CIDR ranges that the key may be used from; empty for anywhere. */
  readonly addressRanges: readonly string[];
  /** Undefined for never. */
  readonly expiresAt: number | undefined;
  /** Requests; undefined for the server's limit per key, which also bounds it. */
  readonly rateLimitPerMinute?: number | undefined;
}

export interface ApiKey extends NewApiKey {
  readonly sellerId: SellerId;
  readonly id: KeyId;
  /** The last four characters of the secret. */
  readonly lastFour: string;
  readonly createdAt: number;
  /** The name of an account; undefined for the command line and for embedders. */
  readonly createdBy: string | undefined;
  readonly revokedAt: number | undefined;
  /** Exact to a minute, like the address. */
  readonly lastUsedAt: number | undefined;
  readonly lastUsedAddress: string | undefined;
  /** The newest key that replaced this one, if it was rotated. */
  readonly successorId: KeyId | undefined;
}

/** What is stored of a secret. */
export type StoredSecret = ReturnType<typeof toStoredSecret>;

/** A new secret from a CSPRNG. */
export function generateApiKey(): ApiKeySecret {
  const random = Array.from({ length: RANDOM_CHARACTERS }, () => ALPHABET.charAt(randomInt(62)));
  const checked = PREFIX + random.join('');
  // The cast is what this function generates.
  return (checked + checksum(checked)) as ApiKeySecret;
}

/** Undefined for text without the shape and checksum of a key. */
export function parseApiKey(text: string): ApiKeySecret | undefined {
  const checked = text.slice(0, CHECKED_LENGTH);
  const valid = SHAPE.test(text) && checksum(checked) === text.slice(CHECKED_LENGTH);
  // The cast is what this function proves.
  return valid ? (text as ApiKeySecret) : undefined;
}

/** What begins like a key, in any text: each up to the first character that no key has. */
export function listKeyLike(text: string): readonly string[] {
  return [...text.matchAll(KEY_LIKE)].map(([, keyLike = '']) => keyLike);
}

/** The SHA-256 under which a key is stored and found, in 64 hexadecimal digits. */
export function hashApiKey(key: ApiKeySecret): string {
  return hash('sha256', key, 'hex');
}

/**
 * The last four characters identify a key on screen. They belong to the checksum and reveal at most
 * 24 bits about the random characters: 154 bits of the key stay secret.
 */
export function toStoredSecret(key: ApiKeySecret) {
  return { hash: hashApiKey(key), lastFour: key.slice(-LAST_CHARACTERS) };
}

/** Such as `spk_…a1B2`. */
export function maskApiKey({ lastFour }: Pick<ApiKey, 'lastFour'>): string {
  return `${PREFIX}…${lastFour}`;
}

/** What precedes errors that do not name their member. */
const SUBJECTS = new Map([
  ['/name', 'The key\'s name: '], ['/rateLimitPerMinute', 'Requests per minute: '],
]);

/**
 * No scopes means all scopes.
 * @param serverRateLimit The server's limit per key, if known, in requests a minute; 0 for none.
 * @throws AppError `invalid_data` listing every error; its detail describes the first
 */
export function parseNewApiKey(
  input: Omit<NewApiKey, 'scopes'> & { readonly scopes: readonly string[] }, serverRateLimit = 0,
): NewApiKey {
  const { name, scopes, expiresAt, rateLimitPerMinute } = input;
  const issues: Issue[] = [];
  const error = validateText(name, KEY_NAME_LIMIT_CODE_POINTS);
  if (error) issues.push({ pointer: '/name', ...error });
  const unknown = scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined) {
    const detail = `"${unknown}" is not a scope. Scopes: ${SCOPES.join(', ')}.`;
    issues.push({ pointer: '/scopes', code: 'format', detail });
  }
  const most = Math.min(serverRateLimit || Infinity, RATE_LIMIT_PER_MINUTE_MAX);
  const rateLimit = integerValidator(1, most).parse(rateLimitPerMinute ?? 1);
  if ('error' in rateLimit) issues.push({ pointer: '/rateLimitPerMinute', ...rateLimit.error });
  const ranges = parseAddressRanges(input.addressRanges);
  if ('error' in ranges) issues.push({ pointer: '/allow', ...ranges.error });
  else if (issues.length === 0) {
    const grantedScopes = SCOPES.filter((scope) => scopes.length === 0 || scopes.includes(scope));
    return {
      name, scopes: grantedScopes, addressRanges: ranges.value, expiresAt, rateLimitPerMinute,
    };
  }
  const [{ pointer = '', detail } = { detail: '' }] = issues;
  throw new AppError('invalid_data', `${SUBJECTS.get(pointer) ?? ''}${detail}`, { issues });
}

/**
 * A key, without its secret, as the command line and embedding programs show one. Times are
 * RFC 3339.
 */
export interface KeyDescription {
  /** `key_...`. */
  readonly id: string;
  /** Its seller's id. */
  readonly seller: string;
  /** What the key is used for. */
  readonly name: string;
  /** The last four characters of the key. */
  readonly last_four: string;
  /** What the key may do. */
  readonly scopes: readonly Scope[];
  /** Addresses and CIDR ranges; empty for any. */
  readonly allow: readonly string[];
  /** When the key was created. */
  readonly created_at: string;
  /** When the key stops working; null for never. */
  readonly expires_at: string | null;
  /** Requests per minute; null for the server's limit per key, which also bounds it. */
  readonly rate_limit_per_minute: number | null;
  /** When the key was revoked; null unless it was. */
  readonly revoked_at: string | null;
  /** Exact to a minute, like the address; null before the first use. */
  readonly last_used_at: string | null;
  /** The client address of the last use; null before the first use. */
  readonly last_used_address: string | null;
}

export function describeKey(key: ApiKey): KeyDescription {
  return {
    id: formatKeyId({ sellerId: key.sellerId, keyId: key.id }),
    seller: formatSellerId(key.sellerId),
    name: key.name,
    last_four: key.lastFour,
    scopes: key.scopes,
    allow: key.addressRanges,
    created_at: formatTime(key.createdAt),
    expires_at: formatOptionalTime(key.expiresAt),
    rate_limit_per_minute: key.rateLimitPerMinute ?? null,
    revoked_at: formatOptionalTime(key.revokedAt),
    last_used_at: formatOptionalTime(key.lastUsedAt),
    last_used_address: key.lastUsedAddress ?? null,
  };
}

/** The CRC-32 in base62, with leading zeros. */
function checksum(checked: string): string {
  let characters = '';
  let remainder = crc32(checked);
  for (let index = 0; index < CHECKSUM_CHARACTERS; index += 1) {
    characters = ALPHABET.charAt(remainder % 62) + characters;
    remainder = Math.floor(remainder / 62);
  }
  return characters;
}
