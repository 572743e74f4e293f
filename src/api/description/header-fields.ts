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
    description: 'Read or change the product only if this is its `ETag`, or with `*` if it exists. '
      + 'Otherwise 412.',
  },
  IfNoneMatch: {
    field: 'If-None-Match', required: false, schema: text, example: '"12"',
    description: 'When reading: 304 without a body if this is still the `ETag`. When changing: 412 '
      + 'if it is; with `*`, 412 if the product exists.',
  },
  IdempotencyKey: {
    field: 'Idempotency-Key', required: false, schema: text,
    example: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
    description: `A key of your choice for this change: up to ${IDEMPOTENCY_KEY_LIMIT_CHARACTERS} `
      + 'visible ASCII characters, quoted or bare. Repeated with the same key within '
      + `${IDEMPOTENCY_LIFE_MS / 3_600_000} hours, the request changes nothing and gets the first `
      + 'response; a different request with the same key gets 422.',
  },
  ContentEncoding: {
    field: 'Content-Encoding', required: false,
    schema: { type: 'string', enum: ['gzip', 'identity'] }, example: 'gzip',
    description: 'The coding of the body.',
  },
  LastEventId: {
    field: 'Last-Event-ID', required: false, schema: { type: 'string', pattern: '^\\d*$' },
    example: '12', description: 'For a stream: continue after this event; overrides `after`.',
  },
} as const satisfies Readonly<Record<string, HeaderField>>;

export const responseFields = {
  CacheControl: {
    field: 'Cache-Control', required: true, schema: text, example: 'private, no-cache',
    description: 'Whether the response may be cached.',
  },
  ProductTag: {
    field: 'ETag', required: true, schema: tag, example: '"12"',
    description: 'The position of the last change of the product, and the coding if there is one.',
  },
  CatalogueTag: {
    field: 'ETag', required: false, schema: tag, example: '"12"',
    description: 'The position of your catalogue, and the coding if there is one. Not on exports.',
  },
  DocumentTag: {
    field: 'ETag', required: true, schema: tag, example: '"zcXV5YUXYTsYUeJVYyT3HUlP"',
    description: 'The version of this document.',
  },
  Location: {
    field: 'Location', required: true, schema: { type: 'string', format: 'uri-reference' },
    example: '/api/v1/products/prd_1k7s94cm9001k7s94bi600',
    description: 'The URL of the new resource.',
  },
  Link: {
    field: 'Link', required: false, schema: text,
    example: '</api/v1/products?limit=100&cursor=IWxzdGFydA>; rel="next"',
    description: '`rel="next"`: the next page, if there is one.',
  },
  SellerPosition: {
    field: 'Seller-Position', required: false, schema: { type: 'integer', minimum: 0 }, example: 12,
    description: 'On exports: the position of the exported catalogue.',
  },
  IdempotentReplay: {
    field: 'Idempotent-Replay', required: false, schema: { type: 'string', const: 'true' },
    example: 'true', description: 'The change was already made under this Idempotency-Key.',
  },
  ContentEncoding: {
    field: 'Content-Encoding', required: false,
    schema: { type: 'string', enum: ['br', 'gzip'] }, example: 'gzip',
    description: 'Set if the request accepts it and the response becomes smaller.',
  },
  AccelBuffering: {
    field: 'X-Accel-Buffering', required: false, schema: { type: 'string', const: 'no' },
    example: 'no', description: 'On streams: tells proxies not to buffer events.',
  },
  Vary: {
    field: 'Vary', required: false, schema: text, example: 'accept-encoding',
    description: 'Request fields that determined the form of the response.',
  },
  RateLimit: {
    field: 'RateLimit', required: false, schema: text, example: '"requests";r=5999;t=1',
    description: 'The remaining requests (`r`) of this key (`"requests"`) or of all keys of its '
      + 'seller (`"seller"`), whichever has fewer, and the seconds (`t`) until the full quota is '
      + 'restored. Present if the server limits rates.',
  },
  RateLimitPolicy: {
    field: 'RateLimit-Policy', required: false, schema: text, example: '"requests";q=6000;w=60',
    description: 'How many requests (`q`) the key, or all keys of its seller, may send in how many '
      + 'seconds (`w`).',
  },
  WwwAuthenticate: {
    field: 'WWW-Authenticate', required: true, schema: text,
    example: 'ApiKey realm="x-api-key", error="key_missing"',
    description: 'States that a key is required, and what is wrong with the one that was sent.',
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
