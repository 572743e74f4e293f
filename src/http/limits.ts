/**
 * Limits of HTTP: what one connection, one request and one response may take, and how long. Each
 * comment says what is limited, then why.
 */

/** Longest JSON body unless a route says otherwise; the largest valid product takes 5 KiB. */
export const BODY_LIMIT_BYTES = 64 * 1024;
/** Longest time for a body that is read as a whole; slow networks send 64 KiB in seconds. */
export const REQUEST_TIMEOUT_MS = 30_000;
/**
 * Minimum rate of a body of any length, averaged over each interval of waiting; a client that
 * sends next to nothing would hold one of few slots.
 */
export const BODY_MIN_RATE_BYTES_PER_SECOND = 1_024;
export const BODY_MIN_RATE_INTERVAL_MS = 30_000;
/** Nesting of a JSON body; the API needs 3 levels, and recursion needs a bound. */
export const JSON_DEPTH_LIMIT = 8;
/** Members and items of a JSON body; 10,000 stock changes have up to 60,007. */
export const JSON_VALUES_LIMIT = 64_000;
/**
 * Expansion of a gzip body, beyond an exempt size; files of rows shrink to a twentieth, bombs to
 * a thousandth.
 */
export const GZIP_RATIO_LIMIT = 200;
export const GZIP_RATIO_EXEMPT_BYTES = 1024 * 1024;
/** Fields and files of one form, and the header of each; no form of the portal has more. */
export const FORM_PARTS_LIMIT = 100;
export const FORM_PART_HEAD_LIMIT_BYTES = 4 * 1024;

/** Header of a request, in bytes and fields; browsers and proxies send under 8 KiB. */
export const HEADER_LIMIT_BYTES = 16 * 1024;
export const HEADER_COUNT_LIMIT = 100;
/** Time for a TLS handshake, and then for the headers; both take a few round trips. */
export const HANDSHAKE_TIMEOUT_MS = 5_000;
export const HEADERS_TIMEOUT_MS = 5_000;
/** How often overdue headers are looked for; it bounds how late their timeout is. */
export const CONNECTIONS_CHECK_INTERVAL_MS = 1_000;

/**
 * Time without a byte in either direction during a request; longer than any wait for a body or
 * for changes, and it frees what a vanished client holds.
 */
export const STALL_TIMEOUT_MS = 45_000;
/** Time between requests on a connection; clients that poll reuse theirs within seconds. */
export const KEEP_ALIVE_TIMEOUT_MS = 5_000;
/** Requests of one connection, one after the other; a bound that no normal client reaches. */
export const CONNECTION_REQUESTS_LIMIT = 100_000;
/** Pipelined requests of a connection without a response; each waits in memory. */
export const PIPELINED_REQUESTS_LIMIT = 100;
/**
 * Connections in total and per client address (IPv6: a /64 network); each takes memory and a
 * descriptor, and one client must not take all.
 */
export const CONNECTIONS_LIMIT = 10_000;
export const CONNECTIONS_PER_ADDRESS_LIMIT = 256;
/** Excess connections that are being rejected with 503; further ones are closed at once. */
export const REJECTED_CONNECTIONS_LIMIT = 1_000;
/**
 * Minimum rate at which a client reads, after a grace period, and how often it is checked; what a
 * client does not read stays in memory.
 */
export const SLOW_READER_MIN_RATE_BYTES_PER_SECOND = 1_024;
export const SLOW_READER_GRACE_MS = 30_000;
export const SLOW_READER_CHECK_INTERVAL_MS = 5_000;

/**
 * Longest body, and time, to discard after an early response; a new connection costs less than
 * reading more.
 */
export const DISCARD_LIMIT_BYTES = 1024 * 1024;
export const DISCARD_TIMEOUT_MS = 30_000;
/**
 * Lingering close: how long a connection is read after its last response, in total and without a
 * byte; the values of nginx.
 */
export const LINGERING_TIMEOUT_MS = 30_000;
export const LINGERING_IDLE_TIMEOUT_MS = 5_000;
/** Concurrently lingering connections; one more destroys the oldest. */
export const LINGERING_CONNECTIONS_LIMIT = 1_000;
/** Read rate of all lingering connections together; it takes about 5 % of one core. */
export const LINGERING_BYTES_PER_SECOND = 64 * 1024 * 1024;

/** Response bytes buffered for a proxy that is still sending; beyond it the response starts. */
export const RESPONSE_BUFFER_LIMIT_BYTES = 4 * 1024 * 1024;
/**
 * Smallest response that is compressed, and the largest share that a compressed one may have;
 * below that, compression costs more than it saves.
 */
export const COMPRESSION_MIN_BYTES = 1_024;
export const COMPRESSION_MAX_RATIO = 0.9;
/** Brotli quality, 0 to 11; 11 shrinks pages by another seventh in a hundred times the time. */
export const BROTLI_QUALITY = 4;

/** Time to drain in-flight requests when the server stops; then their connections are closed. */
export const STOP_TIMEOUT_MS = 8_000;
