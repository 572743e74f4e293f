/** The header fields of requests and responses, as the OpenAPI document describes them. */
import { IDEMPOTENCY_KEY_LIMIT_CHARACTERS } from '../limits.ts';
import { IDEMPOTENCY_LIFE_MS } from '../../store/limits.ts';
import type { Schema } from '../../domain/validation.ts';

interface HeaderField {
  readonly field: string;
  readonly description: string;
  readonly schema: Schema;
  readonly example: string | number;
  /** Whether whatever lists it always has it. */
  readonly required: boolean;
}

export type RequestField = keyof typeof requestFields;
export type ResponseField = keyof typeof responseFields;

/** RFC 9110 section 8.8.3, as this server makes them: never weak. */
const tag = { type: 'string', pattern: '^"[!#-~]+"$' };
const text = { type: 'string', minLength: 1 };

export const requestFields = {
  IfMatch: {
    field: 'If-Match', required: false, schema: text, example: '"12"',
    description: 'Answer or change the product only where this is its `ETag`; `*`: only where it '
      + 'exists. Otherwise 412.',
  },
  IfNoneMatch: {
    field: 'If-None-Match', required: false, schema: text, example: '"12"',
    description: 'To read: 304 without a body where this is still the `ETag`. To change: 412 where '
      + 'it is; `*`: 412 where there is such a product.',
  },
  IdempotencyKey: {
    field: 'Idempotency-Key', required: false, schema: text,
    example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
    description: `Up to ${IDEMPOTENCY_KEY_LIMIT_CHARACTERS} visible characters of ASCII, quoted or `
      + 'bare, that you choose for each change. Sent again with the same key within '
      + `${IDEMPOTENCY_LIFE_MS / 3_600_000} hours, the request changes nothing and has the answer `
      + 'of the first time; with the key of another request it is rejected with 422.',
  },
  ContentEncoding: {
    field: 'Content-Encoding', required: false,
    schema: { type: 'string', enum: ['gzip', 'identity'] }, example: 'gzip',
    description: 'Of the body.',
  },
  LastEventId: {
    field: 'Last-Event-ID', required: false, schema: { type: 'string', pattern: '^\\d*$' },
    example: '12', description: 'Of a stream: go on after this event, whatever `after` says.',
  },
} as const satisfies Readonly<Record<string, HeaderField>>;

export const responseFields = {
  CacheControl: {
    field: 'Cache-Control', required: true, schema: text, example: 'private, no-cache',
    description: 'Whether the answer may be kept.',
  },
  ProductTag: {
    field: 'ETag', required: true, schema: tag, example: '"12"',
    description: 'The position of the last change of the product, and the coding if it has one.',
  },
  CatalogueTag: {
    field: 'ETag', required: false, schema: tag, example: '"12"',
    description: 'The position of your catalogue, and the coding if it has one. Exports have none.',
  },
  DocumentTag: {
    field: 'ETag', required: true, schema: tag, example: '"zcXV5YUXYTsYUeJVYyT3HUlP"',
    description: 'Of this document.',
  },
  Location: {
    field: 'Location', required: true, schema: { type: 'string', format: 'uri-reference' },
    example: '/api/v1/products/prd_1k7s94cm9001k7s94bi600',
    description: 'The URL of the new resource.',
  },
  Link: {
    field: 'Link', required: false, schema: text,
    example: '</api/v1/products?limit=100&cursor=IWxzdGFydA>; rel="next"',
    description: '`rel="next"`: the next page, where there is one.',
  },
  SellerPosition: {
    field: 'Seller-Position', required: false, schema: { type: 'integer', minimum: 0 }, example: 12,
    description: 'On exports: the position at which the catalogue stands in it.',
  },
  IdempotentReplay: {
    field: 'Idempotent-Replay', required: false, schema: { type: 'string', const: 'true' },
    example: 'true', description: 'The change had been made before, under this Idempotency-Key.',
  },
  ContentEncoding: {
    field: 'Content-Encoding', required: false,
    schema: { type: 'string', enum: ['br', 'gzip'] }, example: 'gzip',
    description: 'Where the request accepts it and it makes the answer smaller.',
  },
  AccelBuffering: {
    field: 'X-Accel-Buffering', required: false, schema: { type: 'string', const: 'no' },
    example: 'no', description: 'On streams: no server on the way is to keep events back.',
  },
  Vary: {
    field: 'Vary', required: false, schema: text, example: 'accept-encoding',
    description: 'Fields of the request that decided on the form of the answer.',
  },
  RateLimit: {
    field: 'RateLimit', required: false, schema: text, example: '"requests";r=5999;t=1',
    description: 'The requests that remain (`r`) to this key (`"requests"`) or to all keys of its '
      + 'seller (`"seller"`), whichever has fewer, and the seconds (`t`) until all of them are '
      + 'restored. Where the server limits rates.',
  },
  RateLimitPolicy: {
    field: 'RateLimit-Policy', required: false, schema: text, example: '"requests";q=6000;w=60',
    description: 'How many requests (`q`) the key, or all keys of its seller, may send in how many '
      + 'seconds (`w`).',
  },
  WwwAuthenticate: {
    field: 'WWW-Authenticate', required: true, schema: text,
    example: 'ApiKey realm="x-api-key", error="key_missing"',
    description: 'That a key is needed, and what is wrong with the one that was sent.',
  },
  Allow: {
    field: 'Allow', required: true, schema: text, example: 'GET, HEAD, POST',
    description: 'The methods that the path has.',
  },
  RetryAfter: {
    field: 'Retry-After', required: true, schema: { type: 'integer', minimum: 1 }, example: 5,
    description: 'Seconds after which it is worth asking again.',
  },
} as const satisfies Readonly<Record<string, HeaderField>>;
