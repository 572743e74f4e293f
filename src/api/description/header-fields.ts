/** The header fields of requests and responses, as the OpenAPI document describes them. */
import { IDEMPOTENCY_KEY_LIMIT_CHARACTERS } from '../limits.ts';
import { IDEMPOTENCY_LIFE_MS } from '../../store/limits.ts';
import { HOUR_MS } from '../../domain/time.ts';
import { revisionSchema } from '../../domain/revision.ts';
import type { Schema } from '../../domain/validation.ts';

/** `required`: whether every message that lists the field carries it. */
export type HeaderField = Readonly<ReturnType<typeof required>>;

export type RequestField = keyof typeof requestFields;
export type ResponseField = keyof typeof responseFields;

const text = { type: 'string', minLength: 1 };
/** RFC 9110 section 8.8.3, as this server makes them: never weak. */
const tag = { type: 'string', pattern: '^"[!#-~]+"$' };

export const requestFields = {
  IfMatch: optional('If-Match', '"12"', 'Read or change the product only if its `ETag` matches or, '
    + 'with `*`, if it exists. Otherwise 412.'),
  IfNoneMatch: optional('If-None-Match', '"12"', 'On reads: 304 without a body if the `ETag` '
    + 'still matches. On writes: 412 if it matches; with `*`, 412 if the product exists.'),
  IdempotencyKey: optional('Idempotency-Key', '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
    `A unique key for this change: up to ${IDEMPOTENCY_KEY_LIMIT_CHARACTERS} visible ASCII `
    + 'characters, quoted or bare. A retry with the same key within '
    + `${IDEMPOTENCY_LIFE_MS / HOUR_MS} hours changes nothing and returns the first response; a `
    + 'different request with the same key gets 422.'),
  ContentEncoding: optional('Content-Encoding', 'gzip', 'How the body is compressed.',
    { type: 'string', enum: ['gzip', 'identity'] }),
  LastEventId: optional('Last-Event-ID', '12', 'On streams: continue after this event. Overrides '
    + '`after`.', { type: 'string', pattern: '^([a-z2-7]{5}-)?\\d*$' }),
};

export const responseFields = {
  CacheControl: required('Cache-Control', 'private, no-cache',
    'Whether the response may be cached.'),
  ProductTag: required('ETag', '"12"', 'The position of the product\'s last change, plus the '
    + 'content coding if there is one.', tag),
  CatalogueTag: optional('ETag', '"12"', 'The position of your catalogue, or with `at` of the '
    + 'catalogue shown, plus the content coding if there is one. Not on exports.', tag),
  DocumentTag: required('ETag', '"zcXV5YUXYTsYUeJVYyT3HUlP"', 'The version of this document.', tag),
  Location: required('Location', '/api/v1/products/prd_1k7s94cm9001k7s94bi600',
    'The URL of the new resource.', { type: 'string', format: 'uri-reference' }),
  Link: optional('Link', '</api/v1/products?limit=100&cursor=IWxzdGFydA>; rel="next"',
    '`rel="next"`: the next page, if there is one.'),
  SellerPosition: optional('Seller-Position', 12, 'On exports and lookups, and with `at`: the '
    + 'position of the catalogue shown.', revisionSchema),
  IdempotentReplay: optional('Idempotent-Replay', 'true', 'An earlier request with this '
    + 'Idempotency-Key already made the change.', { type: 'string', const: 'true' }),
  ContentEncoding: optional('Content-Encoding', 'gzip', 'Present if the request accepts it and it '
    + 'makes the response smaller.', { type: 'string', enum: ['br', 'gzip'] }),
  AccelBuffering: optional('X-Accel-Buffering', 'no', 'On streams: tells proxies not to buffer '
    + 'events.', { type: 'string', const: 'no' }),
  Vary: optional('Vary', 'accept-encoding', 'Request header fields that the response depends '
    + 'on.'),
  RateLimit: optional('RateLimit', '"requests";r=5999;t=1', 'Remaining requests (`r`) of this key '
    + '(`"requests"`) or of all its seller\'s keys (`"seller"`), whichever has fewer, and seconds '
    + '(`t`) until the quota is full again. Present if the server limits rates.'),
  RateLimitPolicy: optional('RateLimit-Policy', '"requests";q=6000;w=60', 'The quota: requests '
    + '(`q`) that the key, or all its seller\'s keys, may send per window of `w` seconds.'),
  WwwAuthenticate: required('WWW-Authenticate', 'ApiKey realm="x-api-key", error="key_missing"',
    'The request needs a valid API key; `error` says what is wrong with the one sent.'),
  Allow: required('Allow', 'GET, HEAD, POST', 'The methods that the path supports.'),
  RetryAfter: required('Retry-After', 5, 'Seconds to wait before retrying.',
    { type: 'integer', minimum: 1 }),
};

function optional(
  field: string, example: string | number, description: string, schema: Schema = text,
) {
  return { field, required: false, schema, example, description };
}

function required(...field: Parameters<typeof optional>) {
  return { ...optional(...field), required: true };
}
