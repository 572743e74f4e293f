/** Limits of search and of exports. */

/** How long a search waits until the projection has come to the position of its caller. */
export const SEARCH_WAIT_LIMIT_MS = 5_000;
/** What a search that waited in vain, or an export too many, is told to wait. */
export const SEARCH_RETRY_AFTER_SECONDS = 5;
/** Searches, and pages of exports, that wait at once; one more is refused. */
export const SEARCH_QUEUE_LIMIT = 1_000;
/** Of one seller. */
export const SEARCHES_PER_SELLER_LIMIT = 250;
/** Changes, or products of a first build, that one transaction of the projection takes over. */
export const SEARCH_STEP_LIMIT = 1_000;
/** Pages of the text index that one step of putting it together writes: some 70 ms. */
export const SEARCH_MERGE_STEP_PAGES = 500;
/** The projection works unasked once nothing was written for this long, ... */
export const SEARCH_IDLE_MS = 250;
/** ... and its thread is started for that after this many commits. */
export const SEARCH_IDLE_COMMITS = 20;
/** Matches of a condition up to which they are fetched and sorted, rather than met on the way. */
export const SEARCH_PROBE_LIMIT = 5_000;
export const SEARCH_STATEMENTS_LIMIT = 200;
/** Longest wait for the projection of another process on the same folder. */
export const SEARCH_BUSY_TIMEOUT_MS = 5_000;
export const SEARCH_CACHE_KIB = 16_384;
/** For new objects of its thread: a step makes many, and none of them is needed for long. */
export const SEARCH_YOUNG_HEAP_MIB = 12;
/** Pages of 4 KiB in the log of the projection after which they are moved into its file. */
export const SEARCH_CHECKPOINT_PAGES = 8_000;

export const CONCURRENT_EXPORTS_LIMIT = 8;
export const CONCURRENT_EXPORTS_PER_SELLER_LIMIT = 4;
export const EXPORT_PAGE_SIZE = 250;
/** An export holds a snapshot open, which keeps the log of the projection from being cut back. */
export const EXPORT_TIME_LIMIT_MS = 30 * 60 * 1000;
export const EXPORT_CACHE_KIB = 2_048;
