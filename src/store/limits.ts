/** Limits that every store adapter enforces. */

/**
 * How far the clock may step back before a catalogue's times follow it; daylight saving errors
 * are an hour.
 */
export const CLOCK_STEP_LIMIT_MS = 60 * 60 * 1000;
/** How long an idempotency record is kept; clients retry within a day. */
export const IDEMPOTENCY_LIFE_MS = 48 * 60 * 60 * 1000;
/** Longest export; it holds a snapshot open, which keeps the write-ahead log from shrinking. */
export const EXPORT_TIME_LIMIT_MS = 30 * 60 * 1000;
/** Concurrent exports, in total and per seller; each has a snapshot or a temporary file. */
export const CONCURRENT_EXPORTS_LIMIT = 8;
export const CONCURRENT_EXPORTS_PER_SELLER_LIMIT = 4;
/**
 * Hash tables that find a file's duplicate SKUs, and slots of one: 12 bytes each, or 24 with levels
 * and prices; 48 or 96 MiB for 3,000,000 SKUs. SKUs that come after that many are kept on disk.
 */
export const IMPORT_SKU_TABLES = 64;
export const IMPORT_SKU_TABLE_SLOTS_LIMIT = 65_536;
/** `Retry-After` of a search that cannot run now. */
export const SEARCH_RETRY_AFTER_SECONDS = 5;
/** Products that one query of a lookup finds; more can be listed in pages. */
export const LOOKUP_MATCHES_LIMIT = 100;
/** Products that all queries of a lookup find, total: two per query, as few barcodes are shared. */
export const LOOKUP_PRODUCTS_LIMIT = 2_000;
/** Items per read of a list that is read to its end. */
export const LIST_PAGE_ITEMS = 1_000;

/**
 * Longest delay before a webhook message is retried; an endpoint that recovers hears within a
 * day.
 */
export const WEBHOOK_RETRY_LIMIT_MS = 24 * 60 * 60 * 1000;
/** Attempts kept in the log of an endpoint; they fit on a few pages. */
export const WEBHOOK_ATTEMPTS_KEPT = 200;

/** Life of a session without a request, and in any case; a person signs in once a day. */
export const SESSION_IDLE_MS = 12 * 60 * 60 * 1000;
export const SESSION_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
/** Sessions of one account; the oldest is ended first, so the table is bounded. */
export const SESSIONS_PER_ACCOUNT_LIMIT = 50;
/** Column mappings kept for one seller; those used longest ago go first. */
export const COLUMN_MAPPINGS_PER_SELLER_LIMIT = 100;
/** A column mapping as JSON; a larger one is not kept. */
export const COLUMN_MAPPING_LIMIT_CHARACTERS = 8_192;

/** How long hourly request counts of keys are kept; 8 days, to show a full week. */
export const KEY_USAGE_KEPT_HOURS = 8 * 24;

/**
 * Minimum interval between reads of the positions of watched catalogues; each wakes all clients
 * that wait for a change.
 */
export const POSITION_READ_INTERVAL_MS = 15;

/** Mutations of one transaction; the first in it waits for the last. */
export const WRITE_BATCH_LIMIT = 500;
/** Rows of one transaction, unless one mutation has more; single changes wait for an import. */
export const WRITE_BATCH_ROWS_LIMIT = 4_000;
/** Mutations that wait for a transaction; one more is rejected, so memory is bounded. */
export const WRITE_QUEUE_LIMIT = 20_000;
/** Transactions of catalogues in flight at a time, where each has a connection of its own. */
export const CONCURRENT_WRITES_LIMIT = 4;
/** Stock levels that the writer caches; stock requests name the same products again. */
export const STOCK_LEVELS_KEPT = 20_000;

/** External ids whose sellers a process remembers, so that a lookup by one reads one row. */
export const EXTERNAL_IDS_REMEMBERED = 10_000;
/** Token buckets per kind of limit; memory is bounded, and the least recently used goes first. */
export const RATE_LIMIT_ENTRIES_LIMIT = 10_000;
/** How often a node renews what says that it is alive, and its leases. */
export const NODE_RENEW_INTERVAL_MS = 3_000;
/** When others take over from a node that does not: at most one renewal later. */
export const NODE_EXPIRY_MS = 10_000;
/** The part of a lease's term after which its holder stops: its timers may be late. */
export const NODE_TERM_PERCENT = 90;
/** Shortest pause between reads of the positions of sellers with webhooks; they cost a tenth. */
export const WEBHOOK_POSITION_POLL_MS = 50;
export const WEBHOOK_POSITION_POLL_PERCENT = 10;
/** How often a node looks for commits of the others while it watches catalogues. */
export const COMMIT_WATCH_INTERVAL_MS = 40;
/** The same while a program waits for changes of any catalogue, which asks for all of them. */
export const COMMIT_WATCH_ALL_INTERVAL_MS = 500;
/** How long an empty throttle is remembered, so that a flood of attempts asks the store once. */
export const THROTTLE_EMPTY_LIMIT_MS = 1_000;
/**
 * Where nodes share rate limits: the part of a limit that all nodes lease together, how often a
 * node returns tokens that it did not use, and how long it may wait to ask again for a bucket that
 * was empty. A node may hold half of a lease and the next one: 7.5 %, of the 10 % that may be lost.
 */
export const RATE_LEASE_PERCENT = 5;
export const RATE_LEASE_RETURN_INTERVAL_MS = 2_000;
export const RATE_LEASE_RETRY_LIMIT_MS = 250;

/** Changes that one history query reads, matching or not; it takes milliseconds. */
export const HISTORY_SCAN_LIMIT = 5_000;
/** History queries for one ledger page; then the page ends early with a cursor. */
export const LEDGER_STEPS_LIMIT = 40;
/**
 * Rows that counting a list reads at most; a list with more is said to have more. Products in a
 * ledger are counted to a tenth of it, since each of their changes is read by itself.
 */
export const LIST_COUNT_LIMIT = 10_000;
/** Newest changes of a period that its sums read, and that find its top movers. */
export const STOCK_SUMS_CHANGES_LIMIT = 2_000_000;
export const TOP_MOVERS_CHANGES_LIMIT = 100_000;
/** Deleted products whose movements are found by a former SKU; each takes a query. */
export const LEDGER_PRODUCTS_LIMIT = 100;

/** Changes that one pruning step removes, and the pause after it; writes run in between. */
export const PRUNE_STEP_CHANGES = 500;
export const PRUNE_PAUSE_MS = 20;
/** Large rows that one step of a seller's deletion removes: idempotency records, attempts. */
export const DELETION_STEP_LARGE_ROWS = 25;
/** Expired idempotency records that each new one removes; the table shrinks as it is used. */
export const IDEMPOTENCY_PRUNE_STEP = 4;
/** Expired idempotency records that one pruning step removes; each may have a MiB. */
export const IDEMPOTENCY_PRUNE_RECORDS = 25;

/** Products that one mutation of a revert writes; other writes wait while it commits. */
export const REVERT_BATCH_PRODUCTS = 1_000;
/** Times that a revert plans a product that others keep changing; then it is a conflict. */
export const REVERT_ATTEMPTS_LIMIT = 10;
/** How often a write is reviewed again because its products have changed; then it gets 503. */
export const REVIEW_ATTEMPTS_LIMIT = 30;
/** Rejected changes that one error names: a batch may have 10,000. */
export const REVIEW_ISSUES_LIMIT = 100;
/** Products that each wait for the SKU of the next one. */
export const REVERT_SKU_CHAIN_LIMIT = 100;

/** Page cache of a dry run; more goes to a temporary file. */
export const DRY_RUN_CACHE_KIB = 8_192;
/** Page cache of a streamed stocktake; the ids of two million products take 30 MiB. */
export const STOCKTAKE_CACHE_KIB = 2_048;
/** Products missing from a stocktake that are read at once; memory is bounded. */
export const STOCKTAKE_STEP_PRODUCTS = 1_000;

/** Import jobs that one statement lists; a seller has a few. */
export const IMPORT_JOBS_LIST_LIMIT = 1_000;
/** Chunks of an uploaded file that one statement reads, of 64 KiB and more each. */
export const IMPORT_CHUNKS_PER_READ = 4;

/** Histogram buckets of commit durations; from a fast disk to one that stalls. */
export const COMMIT_DURATION_BUCKETS_SECONDS: readonly number[] =
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Findings of one `doctor` check; the first ones tell enough. */
export const DOCTOR_FINDINGS_LIMIT = 20;
/** The newest imports that a text is searched in, which takes a few milliseconds. */
export const IMPORTS_SEARCHED_LIMIT = 5_000;
/** Saved filters of a list; more links above it help nobody. */
export const SAVED_FILTERS_PER_LIST_LIMIT = 20;
