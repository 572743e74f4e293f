/**
 * Ids: integers inside, opaque prefixed strings outside (`prd_...`, `key_...`, `sel_...`,
 * `whk_...`).
 * An integer is `milliseconds since 1970 * 1024 + n`, so it orders by time and stays below 2^53
 * until the year 2248. A string spells it in 11 characters of base32hex (RFC 4648 section 7, lower
 * case, which keeps the order); what belongs to a seller adds the seller's 11, so that no id of one
 * seller can ever mean something of another.
 */

type Branded<Name extends string> = number & { readonly [brand]: Name };
declare const brand: unique symbol;

export type SellerId = Branded<'SellerId'>;
export type KeyId = Branded<'KeyId'>;
export type ProductId = Branded<'ProductId'>;
export type WebhookId = Branded<'WebhookId'>;

/** A key together with the seller whose key it is. */
export interface KeyReference {
  readonly sellerId: SellerId;
  readonly keyId: KeyId;
}

/** An endpoint of webhooks together with its seller. */
export interface WebhookReference {
  readonly sellerId: SellerId;
  readonly id: WebhookId;
}

/**
 * Stands in the history for the key of a change that was made in the portal, by a person who was
 * signed in. No key ever has this id: those of keys are times.
 */
// The cast is what makes it one.
export const PORTAL_KEY_ID = 1 as KeyId;

const IDS_PER_MILLISECOND = 1024;
const DIGITS = '0123456789abcdefghijklmnopqrstuv';
const LENGTH = 11;
/** The two digits of every number of 10 bits. */
const PAIRS = Array.from({ length: 1024 }, (_, n) => DIGITS.charAt(n >> 5) + DIGITS.charAt(n & 31));
const LOW_RANGE = 2 ** 30;

/** An id for an object made at `at` (milliseconds since 1970): above `lastId`, ordered by time. */
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

export function formatWebhookId({ sellerId, id }: WebhookReference): string {
  return `whk_${encode(id)}${encode(sellerId)}`;
}

/** Undefined for anything that is not an id of a seller. */
export function parseSellerId(text: string): SellerId | undefined {
  // The cast is what this function proves: the prefix says that the number is a seller's.
  return decode('sel_', text, 1)?.[0] as SellerId | undefined;
}

/** Undefined for anything that is not an id of a key. */
export function parseKeyId(text: string): KeyReference | undefined {
  const numbers = decode('key_', text, 2);
  // The casts are what this function proves, as in parseSellerId.
  return numbers && { keyId: numbers[0] as KeyId, sellerId: numbers[1] as SellerId };
}

/** Undefined for anything that is not an id of a product of this seller. */
export function parseProductId(sellerId: SellerId, text: string): ProductId | undefined {
  const numbers = decode('prd_', text, 2);
  // The cast is what this function proves, as in parseSellerId.
  return numbers?.[1] === sellerId ? (numbers[0] as ProductId) : undefined;
}

/** Undefined for anything that is not an id of an endpoint of this seller. */
export function parseWebhookId(sellerId: SellerId, text: string): WebhookId | undefined {
  const numbers = decode('whk_', text, 2);
  // The cast is what this function proves, as in parseSellerId.
  return numbers?.[1] === sellerId ? (numbers[0] as WebhookId) : undefined;
}

/** Eleven digits. Number.toString(32) does the same at ten times the cost, which lists feel. */
function encode(id: number): string {
  const high = Math.floor(id / LOW_RANGE);
  const low = id % LOW_RANGE;
  return DIGITS.charAt(high >> 20) + pair(high >> 10) + pair(high)
    + pair(low >> 20) + pair(low >> 10) + pair(low);
}

function pair(number: number): string {
  return PAIRS[number & 1023] ?? '';
}

function decode(prefix: string, text: string, count: number): number[] | undefined {
  if (!text.startsWith(prefix) || text.length !== prefix.length + count * LENGTH) return undefined;
  const numbers: number[] = [];
  for (let at = prefix.length; at < text.length; at += LENGTH) {
    const digits = text.slice(at, at + LENGTH);
    const number = /^[0-9a-v]+$/.test(digits) ? Number.parseInt(digits, 32) : NaN;
    if (!Number.isSafeInteger(number)) return undefined;
    numbers.push(number);
  }
  return numbers;
}
