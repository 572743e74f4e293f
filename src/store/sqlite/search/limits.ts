/** Limits of search and of exports. */

/** How long a search waits for the projection to reach the position of its caller. */
export const SEARCH_WAIT_LIMIT_MS = 5_000;
/** `Retry-After` of a search that timed out, and of an export over the limit. */
export const SEARCH_RETRY_AFTER_SECONDS = 5;
/** Searches and pages of exports that wait; one more is rejected. */
export const SEARCH_QUEUE_LIMIT = 1_000;
/** Of one seller. */
export const SEARCHES_PER_SELLER_LIMIT = 250;
/** Changes, or products of a first build, that one transaction of the projection applies. */
export const SEARCH_STEP_LIMIT = 1_000;
/** Pages of the text index that one merge step writes: about 70 ms. */
export const SEARCH_MERGE_STEP_PAGES = 500;
/** The projection catches up without a request after this long without a write, ... */
export const SEARCH_IDLE_MS = 250;
/** ... and its thread is started for that after this many commits. */
export const SEARCH_IDLE_COMMITS = 20;
/** Up to this many matches of a condition are read and sorted; otherwise the sort is scanned. */
export const SEARCH_PROBE_LIMIT = 5_000;
export const SEARCH_STATEMENTS_LIMIT = 200;
/** Longest wait for the projection of another process on the same folder. */
export const SEARCH_BUSY_TIMEOUT_MS = 5_000;
export const SEARCH_CACHE_KIB = 16_384;
/** Young generation of its thread: a step creates many short-lived objects. */
export const SEARCH_YOUNG_HEAP_MIB = 12;
/** Pages of 4 KiB in the WAL of the projection after which it is checkpointed. */
export const SEARCH_CHECKPOINT_PAGES = 8_000;

export const CONCURRENT_EXPORTS_LIMIT = 8;
export const CONCURRENT_EXPORTS_PER_SELLER_LIMIT = 4;
export const EXPORT_PAGE_SIZE = 250;
/** An open export keeps the WAL of the projection from being truncated. */
export const EXPORT_TIME_LIMIT_MS = 30 * 60 * 1000;
export const EXPORT_CACHE_KIB = 2_048;
