/**
 * HTTP limits for connections, requests and responses. Comments state the limit, then the reason.
 */

/**
 * Longest JSON body unless a route says otherwise; the largest valid product takes 200 KiB if each
 * character is a surrogate pair of `\u` escapes, as Python's `json.dumps` writes it.
 */
export const BODY_LIMIT_BYTES = 256 * 1024;
/** Longest time to receive a buffered body; slow networks send 256 KiB in seconds. */
export const REQUEST_TIMEOUT_MS = 30_000;
/**
 * Minimum rate of a body of any length, averaged over each waiting interval; a client that sends
 * next to nothing would hold one of few slots.
 */
export const BODY_MIN_RATE_BYTES_PER_SECOND = 1_024;
export const BODY_MIN_RATE_INTERVAL_MS = 30_000;
/** Nesting of a JSON body; the API needs 3 levels, and recursion needs a bound. */
export const JSON_DEPTH_LIMIT = 8;
/** Members and items of a JSON body; 10,000 stock changes have up to 60,007. */
export const JSON_VALUES_LIMIT = 64_000;
/**
 * Gzip expansion, beyond an exempt size; row files shrink to a twentieth, bombs to a thousandth.
 */
export const GZIP_RATIO_LIMIT = 200;
export const GZIP_RATIO_EXEMPT_BYTES = 1024 * 1024;
/** Fields and files of one form, and the header of each; no form of the portal has more. */
export const FORM_PARTS_LIMIT = 100;
export const FORM_PART_HEAD_LIMIT_BYTES = 4 * 1024;

/** Request header, in bytes and fields; browsers and proxies send under 8 KiB. */
export const HEADER_LIMIT_BYTES = 16 * 1024;
export const HEADER_COUNT_LIMIT = 100;
/** Time for a TLS handshake, and then for the headers; both take a few round trips. */
export const HANDSHAKE_TIMEOUT_MS = 5_000;
export const HEADERS_TIMEOUT_MS = 5_000;
/** Interval at which Node checks for overdue headers; it bounds how late their timeout is. */
export const CONNECTIONS_CHECK_INTERVAL_MS = 1_000;

/**
 * Silence in both directions during a request before the connection closes; longer than any wait
 * for a body or for changes, and it frees what a vanished client holds.
 */
export const STALL_TIMEOUT_MS = 45_000;
/**
 * Time between requests on a connection, by default and at most; nginx and most load balancers
 * reuse theirs for 60 s, and one that the server closes first costs a request (502).
 */
export const KEEP_ALIVE_TIMEOUT_MS = 75_000;
export const KEEP_ALIVE_TIMEOUT_LIMIT_MS = 60 * 60 * 1000;
/**
 * Idle connections to keep, and the idle time after which those beyond that are closed; each takes
 * some 13 KiB, and a client that has paused for less is likely to send a request.
 */
export const IDLE_CONNECTIONS_LIMIT = 5_000;
export const IDLE_CLOSE_AFTER_MS = 5_000;
/** Requests per connection; a bound that no normal client reaches. */
export const CONNECTION_REQUESTS_LIMIT = 100_000;
/** Pipelined requests of a connection that await a response; each takes memory. */
export const PIPELINED_REQUESTS_LIMIT = 100;
/**
 * Connections in total and per client address (IPv6: a /64 network); each takes memory and a
 * descriptor, and one client must not take all.
 */
export const CONNECTIONS_LIMIT = 10_000;
export const CONNECTIONS_PER_ADDRESS_LIMIT = 256;
/** Excess connections in the process of getting 503; more are closed without a response. */
export const REJECTED_CONNECTIONS_LIMIT = 1_000;
/**
 * Minimum rate at which a client must read, after a grace period, and how often it is checked;
 * unread data stays in memory.
 */
export const SLOW_READER_MIN_RATE_BYTES_PER_SECOND = 1_024;
export const SLOW_READER_GRACE_MS = 30_000;
export const SLOW_READER_CHECK_INTERVAL_MS = 5_000;

/**
 * Longest body, and time, to discard after an early response; beyond it, reconnecting is cheaper.
 */
export const DISCARD_LIMIT_BYTES = 1024 * 1024;
export const DISCARD_TIMEOUT_MS = 30_000;
/** Lingering close: time to keep reading after the last response, total and idle; as in nginx. */
export const LINGERING_TIMEOUT_MS = 30_000;
export const LINGERING_IDLE_TIMEOUT_MS = 5_000;
/** Lingering connections; one more destroys the oldest. */
export const LINGERING_CONNECTIONS_LIMIT = 1_000;
/** Total read rate of all lingering connections; it takes about 5 % of one core. */
export const LINGERING_BYTES_PER_SECOND = 64 * 1024 * 1024;

/** Response bytes buffered for a proxy that is still sending; beyond it, the response starts. */
export const RESPONSE_BUFFER_LIMIT_BYTES = 4 * 1024 * 1024;
/**
 * Time to buffer the report on a write over HTTP/1.0, which has a length if it ends by then;
 * proxies often give up after 60 s.
 */
export const REPORT_BUFFER_TIME_MS = 15_000;
/**
 * Smallest response to compress, and largest acceptable compressed share; otherwise compression
 * costs more than it saves.
 */
export const COMPRESSION_MIN_BYTES = 1_024;
export const COMPRESSION_MAX_RATIO = 0.9;
/** Brotli quality, 0 to 11; 11 shrinks pages by another seventh in a hundred times the time. */
export const BROTLI_QUALITY = 4;

/** Time to drain in-flight requests when the server stops; then their connections are closed. */
export const STOP_TIMEOUT_MS = 8_000;
/** Longest such time that an embedding program may set. */
export const STOP_TIMEOUT_LIMIT_MS = 86_400_000;
/** Time for request handlers to end after that; a shop closes without those that do not. */
export const STOP_GRACE_MS = 1_000;
