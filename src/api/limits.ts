/** Limits of the API: rates, streams, pages and concurrent calls. */

/** Requests a minute for each key; 0 turns the limit off. */
export const DEFAULT_RATE_LIMIT_PER_MINUTE = 6_000;
export const RATE_LIMIT_PER_MINUTE_MAX = 10_000_000;
/** A seller's default rate limit, as a multiple of the rate limit of one key. */
export const SELLER_RATE_LIMIT_FACTOR = 10;

/** How often the server looks whether it is ready, and how long that may take. */
export const READY_CHECK_INTERVAL_MS = 1_000;
export const READY_CHECK_TIMEOUT_MS = 2_000;
/** A disk that has less left counts as full. */
export const READY_MIN_FREE_BYTES = 16 * 1024 * 1024;
/** How long after a commit that failed no more changes are asked for. */
export const READY_RETRY_MS = 5_000;

/** Refused keys a minute from one address; beyond it they are answered with 429. */
export const FAILED_KEYS_PER_ADDRESS_PER_MINUTE = 60;
/** Token buckets kept for keys, sellers and addresses; the least recently used is dropped first. */
export const RATE_LIMIT_ENTRIES_LIMIT = 10_000;
export const IDEMPOTENCY_KEY_LIMIT_CHARACTERS = 255;
/** How often the last use of a key is written. */
export const KEY_LAST_USE_INTERVAL_MS = 60_000;
/** How often the requests of keys are written that were counted, and of how many keys at once. */
export const KEY_USAGE_INTERVAL_MS = 10_000;
export const KEY_USAGE_ENTRIES_LIMIT = 10_000;

/** Imports under way, in all and for one seller: each holds up to two units in memory. */
export const CONCURRENT_IMPORTS_LIMIT = 8;
export const CONCURRENT_IMPORTS_PER_SELLER_LIMIT = 4;

export const PAGE_SIZE_DEFAULT = 100;
export const PAGE_SIZE_LIMIT = 1_000;
/** Bytes of rendered pages that are kept in memory; their compressed forms are kept beside. */
export const PAGE_CACHE_LIMIT_BYTES = 16 * 1024 * 1024;

/** Of a call that changes stock, in JSON. */
export const STOCK_BODY_LIMIT_BYTES = 2 * 1024 * 1024;
/** Those larger than other bodies may be, in all and of one seller: each takes 10 MiB of memory. */
export const CONCURRENT_LARGE_STOCK_REQUESTS_LIMIT = 32;
export const CONCURRENT_LARGE_STOCK_REQUESTS_PER_SELLER_LIMIT = 8;

/**
 * Concurrent streams, plus requests that wait for changes: total, per seller, and per key. It takes
 * ten sellers at their limits to exhaust the total.
 */
export const STREAMS_TOTAL_LIMIT = 2_000;
export const STREAMS_PER_SELLER_LIMIT = 200;
export const STREAMS_PER_KEY_LIMIT = 50;
/** How often a stream checks its key or session again. SECURITY.md promises it. */
export const REAUTHORIZE_INTERVAL_MS = 15_000;
/** Maximum duration of an export or a live stream, so of the slot that a slow reader holds. */
export const STREAM_DURATION_LIMIT_MS = 30 * 60 * 1000;
