/**
 * Ids: integers inside, opaque prefixed strings outside (`prd_...`, `key_...`, `sel_...`,
 * `whk_...`, `imp_...`).
 * An integer is `milliseconds since 1970 * 1024 + n`, so it orders by time and stays below 2^53
 * until the year 2248. Its string has 11 characters of base32hex (RFC 4648 section 7, lower case,
 * which keeps the order). The ids of a seller's objects append the seller's 11 characters, so that
 * no id of one seller can identify an object of another.
 */
import { randomInt } from 'node:crypto';

/** An integer that only this file creates, so that an id is not mistaken for another. */
type Branded<Name extends string> = number & {
  /** Exists in types only. */
  readonly [brand]: Name;
};
/** Exists in types only. */
declare const brand: unique symbol;

/** A seller, as it is stored. */
export type SellerId = Branded<'SellerId'>;
/** A key of a seller, as it is stored. */
export type KeyId = Branded<'KeyId'>;
export type ProductId = Branded<'ProductId'>;
export type WebhookId = Branded<'WebhookId'>;
export type ImportId = Branded<'ImportId'>;
/** From 1 per seller; never used again. */
export type AccountId = Branded<'AccountId'>;

/** A key, with its seller. */
export interface KeyReference {
  readonly sellerId: SellerId;
  readonly keyId: KeyId;
}

/** A webhook endpoint, with its seller. */
export interface WebhookReference {
  readonly sellerId: SellerId;
  readonly id: WebhookId;
}

/**
 * The key id of changes made in the portal. No key has this id, since key ids contain a time.
 */
// The cast makes it a key id.
export const PORTAL_KEY_ID = 1 as KeyId;

/** The key id of changes that the program makes which embeds the server. No key has this id. */
// The cast makes it a key id.
export const PROGRAM_KEY_ID = 2 as KeyId;

const IDS_PER_MILLISECOND = 1024;
const DIGITS = '0123456789abcdefghijklmnopqrstuv';
const LENGTH = 11;
const DIGIT_CODES = Uint8Array.from(DIGITS, (digit) => digit.charCodeAt(0));
const LOW_RANGE = 2 ** 30;

/** An id for an object created `at` (milliseconds since 1970), above `lastId`. */
export function nextId(lastId: number, at: number): number {
  return Math.max(lastId + 1, at * IDS_PER_MILLISECOND);
}

/** An id for an object created `at`, random within its millisecond; it may be taken. */
export function randomId(at: number): number {
  return nextId(0, at) + randomInt(IDS_PER_MILLISECOND);
}

export function formatSellerId(id: SellerId): string {
  return `sel_${id.toString(32).padStart(LENGTH, '0')}`;
}

export function formatKeyId(key: KeyReference): string {
  return encode('key_', key.keyId, key.sellerId);
}

export function formatProductId(sellerId: SellerId, id: ProductId): string {
  return encode('prd_', id, sellerId);
}

export function formatImportId(sellerId: SellerId, id: ImportId): string {
  return encode('imp_', id, sellerId);
}

export function formatWebhookId({ sellerId, id }: WebhookReference): string {
  return encode('whk_', id, sellerId);
}

/** Undefined for anything but a seller id. */
export function parseSellerId(text: string): SellerId | undefined {
  // The cast is what this function proves: the prefix makes the number a seller's.
  return decode('sel_', text, 1)?.[0] as SellerId | undefined;
}

/** Undefined for anything but a key id. */
export function parseKeyId(text: string): KeyReference | undefined {
  const numbers = decode('key_', text, 2);
  // The casts are what this function proves, as in parseSellerId.
  return numbers && { keyId: numbers[0] as KeyId, sellerId: numbers[1] as SellerId };
}

/** Undefined for anything but the id of a product of this seller. */
export const parseProductId = ownIdParser<ProductId>('prd_');

/** Undefined for anything but the id of an import of this seller. */
export const parseImportId = ownIdParser<ImportId>('imp_');

/** Undefined for anything but the id of a webhook endpoint of this seller. */
export const parseWebhookId = ownIdParser<WebhookId>('whk_');

function ownIdParser<Id>(prefix: string) {
  return (sellerId: SellerId, text = ''): Id | undefined => {
    const [id, owner] = decode(prefix, text, 2) ?? [];
    // The cast is what this function proves, as in parseSellerId.
    return owner === sellerId ? id as Id : undefined;
  };
}

/** Four characters, and eleven digits of each number; joined strings take twice as long. */
function encode(prefix: string, id: number, owner: number): string {
  const [high, low] = [Math.floor(id / LOW_RANGE), id % LOW_RANGE];
  const [ownerHigh, ownerLow] = [Math.floor(owner / LOW_RANGE), owner % LOW_RANGE];
  return String.fromCharCode(
    prefix.charCodeAt(0), prefix.charCodeAt(1), prefix.charCodeAt(2), prefix.charCodeAt(3),
    digit(high >> 20), digit(high >> 15), digit(high >> 10), digit(high >> 5), digit(high),
    digit(low >> 25), digit(low >> 20), digit(low >> 15), digit(low >> 10), digit(low >> 5),
    digit(low), digit(ownerHigh >> 20), digit(ownerHigh >> 15), digit(ownerHigh >> 10),
    digit(ownerHigh >> 5), digit(ownerHigh), digit(ownerLow >> 25), digit(ownerLow >> 20),
    digit(ownerLow >> 15), digit(ownerLow >> 10), digit(ownerLow >> 5), digit(ownerLow),
  );
}

function digit(number: number): number {
  return DIGIT_CODES[number & 31] ?? 0;
}

/** The numbers of an id: its own, and that of its seller. */
function decode(prefix: string, text: string, count: number): number[] | undefined {
  if (!text.startsWith(prefix) || text.length !== prefix.length + count * LENGTH) return undefined;
  const numbers = text.slice(prefix.length).match(/[0-9a-v]{11}/g)
    ?.map((digits) => Number.parseInt(digits, 32)) ?? [];
  return numbers.length === count && numbers.every(Number.isSafeInteger) ? numbers : undefined;
}
