/** Limits of search and exports. */

/** How long a search waits for the projection to catch up; most lags are milliseconds. */
export const SEARCH_WAIT_LIMIT_MS = 5_000;
/** Waiting searches and export pages, in total and per seller; further ones are rejected. */
export const SEARCH_QUEUE_LIMIT = 1_000;
export const SEARCHES_PER_SELLER_LIMIT = 250;
/** Changes, or products of a first build, per projection transaction; searches run between. */
export const SEARCH_STEP_LIMIT = 1_000;
/** Pages of the text index that one merge step writes; it takes some 70 ms. */
export const SEARCH_MERGE_STEP_PAGES = 500;
/**
 * Time without a write after which the projection catches up without a request, and the commits
 * after which its thread starts for that; a search then finds it ready.
 */
export const SEARCH_IDLE_MS = 250;
export const SEARCH_IDLE_COMMITS = 20;
/**
 * Matches up to which a condition's products are fetched and sorted; beyond it, an index in sort
 * order is scanned.
 */
export const SEARCH_PROBE_LIMIT = 5_000;
/** Matches of a condition whose products are read to count those that match the others, too. */
export const SEARCH_COUNT_LIMIT = 1_000;
/** Cached prepared statements; each combination of conditions has its own. */
export const SEARCH_STATEMENTS_LIMIT = 200;
/** Longest wait for another process that writes the projection; it waits on its own thread. */
export const SEARCH_BUSY_TIMEOUT_MS = 5_000;
/** Page cache of the projection; twice as much made nothing faster. */
export const SEARCH_CACHE_KIB = 8_192;
/** Heap for new objects of the search thread; a step makes many short-lived ones. */
export const SEARCH_YOUNG_HEAP_MIB = 12;
/** Pages of 4 KiB in the projection's write-ahead log before a checkpoint; a build is faster. */
export const SEARCH_CHECKPOINT_PAGES = 8_000;

/** Products per export page; searches run between pages. */
export const EXPORT_PAGE_SIZE = 250;
/** Page cache of an export, which reads in order. */
export const EXPORT_CACHE_KIB = 2_048;
