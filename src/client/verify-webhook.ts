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
    readonly type: 'changes';
    /** RFC 3339. */
    readonly timestamp: string;
    readonly data: {
      readonly webhook_id: string;
      /** Of a restored catalogue: the same positions mean other changes than before. */
      readonly generation?: string;
      readonly first_position: number;
      readonly last_position: number;
      readonly changes: readonly Change[];
    };
  }
  | {
    readonly type: WebhookEventName;
    readonly timestamp: string;
    readonly data: WebhookEventData;
  }
  | {
    readonly type: 'test';
    readonly timestamp: string;
    readonly data: { readonly webhook_id: string };
  };

/** A change, with the same members for each type. */
export interface WebhookEventData extends Pick<
  StockMovement, 'product_id' | 'sku' | 'at' | 'key_id' | 'actor' | 'import' | 'reason' | 'source'
  | 'sequence' | 'position'
> {
  readonly webhook_id: string;
  /** As in a message of type `changes`. */
  readonly generation?: string;
  readonly stock_before: number;
  readonly stock_after: number;
  readonly stock_delta: number;
  /** For `stock.low`: the threshold. */
  readonly low_stock?: number;
  /** After the change; for a deleted product, its last state. */
  readonly product: Product;
}

/** As `node:http` has them, or a `Headers` object. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null };

export interface VerifyOptions {
  /** How far the timestamp may be from the clock, in milliseconds. Default 300,000. */
  readonly toleranceMs?: number | undefined;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: (() => number) | undefined;
}

/** The message is not from the server that has the secret, is too old, or was changed. */
export class WebhookVerificationError extends Error {
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
