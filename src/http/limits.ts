/**
 * The limits of HTTP itself: what one connection, one request and one answer may be, and how long
 * each may take.
 */

/** A product of the largest legal members takes under 5 KiB of JSON, however it is escaped. */
export const BODY_LIMIT_BYTES = 64 * 1024;
/** Longest body, and longest time, to discard after an early response to keep the connection. */
export const DISCARD_LIMIT_BYTES = 1024 * 1024;
export const DISCARD_TIMEOUT_MS = 30_000;
/**
 * Lingering close, with the times of nginx: how long a connection is read after its last response,
 * and how long without a byte of its client.
 */
export const LINGERING_TIMEOUT_MS = 30_000;
export const LINGERING_IDLE_TIMEOUT_MS = 5_000;
/** Concurrently lingering connections: one more destroys the oldest one. */
export const LINGERING_CONNECTIONS_LIMIT = 1_000;
/** Read rate for all of them: discarding that much takes about a twentieth of a processor. */
export const LINGERING_BYTES_PER_SECOND = 64 * 1024 * 1024;
export const JSON_DEPTH_LIMIT = 8;
/** Members of objects and items of arrays: 10,000 changes of stock have up to 60,007. */
export const JSON_VALUES_LIMIT = 64_000;
/** Fields and files of one form, and what describes one of them. */
export const FORM_PARTS_LIMIT = 100;
export const FORM_PART_HEAD_LIMIT_BYTES = 4 * 1024;

/** What is held of an answer for a proxy that is still sending; then it begins all the same. */
export const RESPONSE_BUFFER_LIMIT_BYTES = 4 * 1024 * 1024;

/** Shorter answers are not worth compressing, and neither are those that shrink by less. */
export const COMPRESSION_MIN_BYTES = 1_024;
export const COMPRESSION_MAX_RATIO = 0.9;
/** From 0 to 11, which makes pages a seventh smaller than 4 in a hundred times the time. */
export const BROTLI_QUALITY = 4;

/** How large gzip may make a body, by its size as it comes: beyond some bytes that it may be. */
export const GZIP_RATIO_LIMIT = 200;
export const GZIP_RATIO_EXEMPT_BYTES = 1024 * 1024;
/** How fast a body of any length has to come: on average over each interval of waiting for it. */
export const BODY_MIN_RATE_BYTES_PER_SECOND = 1_024;
export const BODY_MIN_RATE_INTERVAL_MS = 30_000;

/** Headers of a request, in bytes and in number. */
export const HEADER_LIMIT_BYTES = 16 * 1024;
export const HEADER_COUNT_LIMIT = 100;
/** How long a client may take to agree on TLS. */
export const HANDSHAKE_TIMEOUT_MS = 5_000;
/** How long a client may take to send the headers, and then a body that is read as a whole. */
export const HEADERS_TIMEOUT_MS = 5_000;
export const REQUEST_TIMEOUT_MS = 30_000;
/**
 * How long a connection with a request under way may stand still: nothing read, nothing sent.
 * Longer than a request may wait for changes.
 */
export const STALL_TIMEOUT_MS = 45_000;
/** How often the headers that have not come are looked for. */
export const CONNECTIONS_CHECK_INTERVAL_MS = 1_000;
/** How long a connection may wait for its next request. */
export const KEEP_ALIVE_TIMEOUT_MS = 5_000;
/** How many requests one connection may carry, one after the other. */
export const CONNECTION_REQUESTS_LIMIT = 100_000;
/** How many of them may wait for their answers at once. */
export const PIPELINED_REQUESTS_LIMIT = 100;
/** Connections in all, and of one address (of IPv6: a network of 64 bits). */
export const CONNECTIONS_LIMIT = 10_000;
export const CONNECTIONS_PER_ADDRESS_LIMIT = 256;
/** Those beyond that are being told so; more are ended without a word. */
export const REJECTED_CONNECTIONS_LIMIT = 1_000;
/** How fast a client has to take what waits for it, after a time; and how often that is judged. */
export const SLOW_READER_MIN_RATE_BYTES_PER_SECOND = 1_024;
export const SLOW_READER_GRACE_MS = 30_000;
export const SLOW_READER_CHECK_INTERVAL_MS = 5_000;

/** After this a stopping server ends the connections that are still under way. */
export const STOP_TIMEOUT_MS = 8_000;
