/**
 * Ids: integers inside, opaque prefixed strings outside (`prd_...`, `key_...`, `sel_...`,
 * `whk_...`, `imp_...`).
 * An integer is `milliseconds since 1970 * 1024 + n`, so it orders by time and stays below 2^53
 * until the year 2248. Its string has 11 characters of base32hex (RFC 4648 section 7, lower case,
 * which keeps the order). The ids of a seller's objects append the seller's 11 characters, so that
 * no id of one seller can identify an object of another.
 */

type Branded<Name extends string> = number & { readonly [brand]: Name };
declare const brand: unique symbol;

export type SellerId = Branded<'SellerId'>;
export type KeyId = Branded<'KeyId'>;
export type ProductId = Branded<'ProductId'>;
export type WebhookId = Branded<'WebhookId'>;
export type ImportId = Branded<'ImportId'>;

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
/** Two digits for every 10-bit number. */
const PAIRS = Array.from({ length: 1024 }, (_, n) => DIGITS.charAt(n >> 5) + DIGITS.charAt(n & 31));
const LOW_RANGE = 2 ** 30;

/** An id for an object created `at` (milliseconds since 1970), above `lastId`. */
export function nextId(lastId: number, at: number): number {
  return Math.max(lastId + 1, at * IDS_PER_MILLISECOND);
}

export function formatSellerId(id: SellerId): string {
  return `sel_${encode(id)}`;
}

export function formatKeyId(key: KeyReference): string {
  return `key_${encode(key.keyId)}${encode(key.sellerId)}`;
}

export function formatProductId(sellerId: SellerId, id: ProductId): string {
  return `prd_${encode(id)}${encode(sellerId)}`;
}

export function formatImportId(sellerId: SellerId, id: ImportId): string {
  return `imp_${encode(id)}${encode(sellerId)}`;
}

export function formatWebhookId({ sellerId, id }: WebhookReference): string {
  return `whk_${encode(id)}${encode(sellerId)}`;
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
export function parseProductId(sellerId: SellerId, text: string): ProductId | undefined {
  return parseOwnId<ProductId>('prd_', sellerId, text);
}

/** Undefined for anything but the id of an import of this seller. */
export function parseImportId(sellerId: SellerId, text: string): ImportId | undefined {
  return parseOwnId<ImportId>('imp_', sellerId, text);
}

/** Undefined for anything but the id of a webhook endpoint of this seller. */
export function parseWebhookId(sellerId: SellerId, text: string): WebhookId | undefined {
  return parseOwnId<WebhookId>('whk_', sellerId, text);
}

function parseOwnId<Id>(prefix: string, sellerId: SellerId, text: string): Id | undefined {
  const [id, owner] = decode(prefix, text, 2) ?? [];
  // The cast is what this function proves, as in parseSellerId.
  return owner === sellerId ? id as Id : undefined;
}

/** Eleven digits. Number.toString(32) takes ten times as long, which slows lists. */
function encode(id: number): string {
  const high = Math.floor(id / LOW_RANGE);
  const low = id % LOW_RANGE;
  return DIGITS.charAt(high >> 20) + pair(high >> 10) + pair(high)
    + pair(low >> 20) + pair(low >> 10) + pair(low);
}

function pair(number: number): string {
  return PAIRS[number & 1023] ?? '';
}

/** The numbers of an id: its own, and that of its seller. */
function decode(prefix: string, text: string, count: number): number[] | undefined {
  if (!text.startsWith(prefix) || text.length !== prefix.length + count * LENGTH) return undefined;
  const numbers = text.slice(prefix.length).match(/[0-9a-v]{11}/g)
    ?.map((digits) => Number.parseInt(digits, 32)) ?? [];
  return numbers.length === count && numbers.every(Number.isSafeInteger) ? numbers : undefined;
}
