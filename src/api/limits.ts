/** Limits of the API: rates, pages, streams and concurrent requests. */
import { EXPORT_TIME_LIMIT_MS } from '../store/limits.ts';

/** Default requests a minute per key, 0 for no limit; 100 a second on average. */
export const DEFAULT_RATE_LIMIT_PER_MINUTE = 6_000;
/** Default rate limit of a seller, as a multiple of that of a key; many keys must not add up. */
export const SELLER_RATE_LIMIT_FACTOR = 10;
/** Failed authentications a minute per client address; more get 429, which slows guessing. */
export const FAILED_KEYS_PER_ADDRESS_PER_MINUTE = 60;

/** Characters of an Idempotency-Key; the draft's examples have 36. */
export const IDEMPOTENCY_KEY_LIMIT_CHARACTERS = 255;
/** How often the last use of a key is written; one small write a minute per key. */
export const KEY_LAST_USE_INTERVAL_MS = 60_000;
/**
 * How often the request counts of keys are written, and for how many keys and hours; a crash
 * loses at most one interval.
 */
export const KEY_USAGE_INTERVAL_MS = 10_000;
export const KEY_USAGE_ENTRIES_LIMIT = 10_000;

/** How often readiness is checked, and how long a check may take; load balancers ask often. */
export const READY_CHECK_INTERVAL_MS = 1_000;
export const READY_CHECK_TIMEOUT_MS = 2_000;
/** Free space below which the disk counts as full; a commit and its log fit in it. */
export const READY_MIN_FREE_BYTES = 16 * 1024 * 1024;
/** Time after a failed commit without writes, in which the server counts as not ready. */
export const READY_RETRY_MS = 5_000;

/** Entries per page, default and maximum; a page of 1,000 is read and rendered in one piece. */
export const PAGE_SIZE_DEFAULT = 100;
export const PAGE_SIZE_LIMIT = 1_000;
/**
 * JSON of a page after which it ends early; 1,000 usual products take a fifth of it, the longest
 * ones 15 times as much.
 */
export const PAGE_LIMIT_CHARACTERS = 2 * 1024 * 1024;
/** Queries of a lookup; the response is built in one piece, like a page. */
export const LOOKUP_QUERIES_LIMIT = 1_000;
/** Body of a lookup; 1,000 of the longest SKUs take a quarter of it. */
export const LOOKUP_BODY_LIMIT_BYTES = 1024 * 1024;
/** JSON of the products of a lookup, which cannot end early; usual ones take a thirtieth of it. */
export const LOOKUP_RESPONSE_LIMIT_CHARACTERS = 16 * 1024 * 1024;
/** Bytes of rendered pages in the page cache, plus their compressed forms; memory is bounded. */
export const PAGE_CACHE_LIMIT_BYTES = 16 * 1024 * 1024;

/** Silence in the report of an import without rejected rows; proxies often give up after 60 s. */
export const REPORT_SILENCE_LIMIT_MS = 15_000;
/** Body of a stock request in JSON; 10,000 changes have 209 bytes each. */
export const STOCK_BODY_LIMIT_BYTES = 2 * 1024 * 1024;
/**
 * Concurrent stock requests above the normal body limit, in total and per seller; each takes
 * 10 MiB of memory.
 */
export const CONCURRENT_LARGE_STOCK_REQUESTS_LIMIT = 32;
export const CONCURRENT_LARGE_STOCK_REQUESTS_PER_SELLER_LIMIT = 8;

/** Products that one batch at the end of a streamed stocktake sets to 0. */
export const STOCKTAKE_BATCH_PRODUCTS = 1_000;

/** Stock file that is read twice; each of the concurrent imports may keep one on disk. */
export const SPOOLED_BODY_LIMIT_BYTES = 1024 ** 3;
/** Concurrent imports, in total and per seller; each holds up to two batches in memory. */
export const CONCURRENT_IMPORTS_LIMIT = 8;
export const CONCURRENT_IMPORTS_PER_SELLER_LIMIT = 4;
/**
 * Concurrent streams and requests that wait for changes: in total, per seller and per key; it
 * takes ten sellers at their limits to exhaust the total.
 */
export const STREAMS_TOTAL_LIMIT = 2_000;
export const STREAMS_PER_SELLER_LIMIT = 200;
export const STREAMS_PER_KEY_LIMIT = 50;
/**
 * Temporary files with exports for clients of HTTP/1.0, in total and per seller: an export of a
 * million usual products takes 300 MiB. Space is reserved in steps.
 */
export const SPOOL_TOTAL_LIMIT_BYTES = 4 * 1024 ** 3;
export const SPOOL_PER_SELLER_LIMIT_BYTES = 1024 ** 3;
export const SPOOL_STEP_BYTES = 256 * 1024;
/** How often a stream checks its key or session again; SECURITY.md promises it. */
export const REAUTHORIZE_INTERVAL_MS = 15_000;
/** A JSON body that takes longer to arrive has its key checked again before it is applied. */
export const REAUTHORIZE_BODY_MS = 100;
/** Longest export or live stream; a slow reader holds its slot no longer. */
export const STREAM_DURATION_LIMIT_MS = EXPORT_TIME_LIMIT_MS;
