/**
 * Verifies webhook messages (Standard Webhooks 1.0.0, "Verifying webhook authenticity"), for
 * receivers on Node and runtimes with `node:crypto`. The package's entry `./webhooks`.
 */
import { timingSafeEqual } from 'node:crypto';
import { computeSignature, SECRET_PREFIX } from '../domain/webhooks/webhook-signature.ts';
import type { Product } from './product.ts';
import type { Change, StockMovement } from './types.ts';
import type { WebhookEventName } from '../domain/webhooks/webhook-type.ts';

/** A message: up to 100 changes in order; one change (`delivery` is `single`); or a test. */
export type WebhookEvent =
  | {
    /** A message of a webhook whose `delivery` is `batch`. */
    readonly type: 'changes';
    /** When the message was made: RFC 3339, in UTC. */
    readonly timestamp: string;
    /** The changes. */
    readonly data: {
      /** The id of the webhook. */
      readonly webhook_id: string;
      /** Of a restored catalogue: the same positions mean other changes than before. */
      readonly generation?: string;
      /** Position of the first change. */
      readonly first_position: number;
      /** Position of the last change. */
      readonly last_position: number;
      /** Up to 100, in order. */
      readonly changes: readonly Change[];
    };
  }
  | {
    /** What happened, in a message of a webhook whose `delivery` is `single`. */
    readonly type: WebhookEventName;
    /** When the change was made: RFC 3339, in UTC. */
    readonly timestamp: string;
    /** The change. */
    readonly data: WebhookEventData;
  }
  | {
    /** A message without changes. */
    readonly type: 'test';
    /** When the message was made: RFC 3339, in UTC. */
    readonly timestamp: string;
    /** The webhook. */
    readonly data: {
      /** Its id. */
      readonly webhook_id: string;
    };
  };

/** A change, with the same members for each type. */
export interface WebhookEventData extends Pick<
  StockMovement, 'product_id' | 'sku' | 'at' | 'key_id' | 'actor' | 'import' | 'reason' | 'source'
  | 'sequence' | 'position'
> {
  /** The id of the webhook. */
  readonly webhook_id: string;
  /** As in a message of type `changes`. */
  readonly generation?: string;
  /** The stock before the change; 0 before the product was created. */
  readonly stock_before: number;
  /** The stock after the change; 0 after the product was deleted. */
  readonly stock_after: number;
  /** The difference: `stock_after` minus `stock_before`. */
  readonly stock_delta: number;
  /** The threshold; absent unless the type is `stock.low`. */
  readonly low_stock?: number;
  /** After the change; for a deleted product, its last state. */
  readonly product: Product;
}

/** The header fields of a request, as `node:http` has them, or a `Headers` object. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | {
    /** The value of a field, as `Headers` returns it. */
    get(name: string): string | null;
  };

/** How to verify. */
export interface VerifyOptions {
  /** How far the timestamp may be from the clock, in milliseconds. Default 300,000. */
  readonly toleranceMs?: number | undefined;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/** The message is not from the server that has the secret, is too old, or was changed. */
export class WebhookVerificationError extends Error {
  /** The name of the class. */
  override readonly name = 'WebhookVerificationError';
}

const TOLERANCE_MS = 300_000;
const SECRET_LIMIT_BYTES = 64;
const SECRET_MINIMUM_BYTES = 24;

/**
 * Returns the message if one of the secrets signed it.
 * @param rawBody The body as it arrived: parsing and serialising it again changes its bytes.
 * @param secrets One, or several while a secret is rotated: `whsec_` and base64.
 * @throws WebhookVerificationError; TypeError if a secret is none, which is a mistake of the caller
 * @example
 * ```ts
 * import { verifyWebhook } from 'seller-product-api/webhooks';
 *
 * const event = verifyWebhook(await request.text(), request.headers, secret);
 * if (event.type === 'changes') {
 *   for (const { sku } of event.data.changes) console.log(sku); // MUG-1
 * }
 * ```
 */
export function verifyWebhook(
  rawBody: string | Uint8Array, headers: WebhookHeaders, secrets: string | readonly string[],
  { toleranceMs = TOLERANCE_MS, clock = Date.now }: VerifyOptions = {},
): WebhookEvent {
  const [id, timestamp, signature] =
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => find(headers, name));
  if (id === undefined || timestamp === undefined || signature === undefined) {
    throw new WebhookVerificationError('A header field is missing: webhook-id, webhook-timestamp '
      + 'or webhook-signature.');
  }
  const ageMs = clock() - Number(timestamp) * 1000;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(ageMs) > toleranceMs) {
    throw new WebhookVerificationError('The timestamp is too far from the clock of this machine.');
  }
  const signatures = signature.split(' ').filter((entry) => entry.startsWith('v1,'))
    .map((entry) => Buffer.from(entry.slice('v1,'.length), 'base64'));
  const isSigned = [secrets].flat().map(parseSecret).some((secret) => {
    const expected = computeSignature(secret, { id, timestamp, body: rawBody });
    return signatures.some((bytes) =>
      bytes.length === expected.length && timingSafeEqual(bytes, expected));
  });
  if (!isSigned) {
    throw new WebhookVerificationError('No signature is valid. Pass the body as it arrived, and '
      + 'the secret of this webhook.');
  }
  const text = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody);
  return JSON.parse(text);
}

function find(headers: WebhookHeaders, name: string): string | undefined {
  // The cast: a `Headers` object has a method of this name, and a record has only texts.
  const value = typeof headers.get === 'function' ? (headers as Headers).get(name)
    : (headers as Readonly<Record<string, string | undefined>>)[name];
  return typeof value === 'string' ? value : undefined;
}

function parseSecret(secret: string): Buffer {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '';
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length >= SECRET_MINIMUM_BYTES && bytes.length <= SECRET_LIMIT_BYTES) return bytes;
  throw new TypeError('A webhook secret is whsec_ and base64 of 24 to 64 bytes.');
}
