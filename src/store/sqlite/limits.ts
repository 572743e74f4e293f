/** Limits of the SQLite store. */

/** Histogram buckets of commit durations; from a fast disk to one that stalls. */
export const COMMIT_DURATION_BUCKETS_SECONDS: readonly number[] =
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How long hourly request counts of keys are kept; 8 days, to show a full week. */
export const KEY_USAGE_KEPT_HOURS = 8 * 24;

/** How often the log repeats why all writes fail; a full disk fails thousands of them. */
export const FAILURE_LOG_INTERVAL_MS = 1_000;
/** Longest wait of the writer for another process; it waits on its own thread. */
export const WRITER_BUSY_TIMEOUT_MS = 5_000;
/** Longest wait of a reader, only while the write-ahead log is recovered after a crash. */
export const READER_BUSY_TIMEOUT_MS = 1_000;
/** Page cache of the writer and of each reader; twice as much made nothing faster. */
export const WRITER_CACHE_KIB = 8_192;
export const READER_CACHE_KIB = 8_192;
/** Page cache of a dry run; more goes to a temporary file. */
export const DRY_RUN_CACHE_KIB = 8_192;
/**
 * Pages of 4 KiB in the write-ahead log at which the writer checkpoints; an import, which changes
 * pages all over the database, is a third faster than with 1,000, and no reader waits.
 */
export const WAL_CHECKPOINT_PAGES = 8_000;
/** Size to which a grown write-ahead log is truncated; its space returns to the disk. */
export const WAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Page cache of a streamed stocktake; the ids of two million products take 30 MiB. */
export const STOCKTAKE_CACHE_KIB = 2_048;
/** Products missing from a stocktake that are read at once; memory is bounded. */
export const STOCKTAKE_STEP_PRODUCTS = 1_000;

/** Changes that one pruning step removes, and the pause after it; writes run in between. */
export const PRUNE_STEP_CHANGES = 500;
export const PRUNE_PAUSE_MS = 20;

/** Products that one mutation of a revert writes; other writes wait while it commits. */
export const REVERT_BATCH_PRODUCTS = 1_000;
/** Times that a revert plans a product that others keep changing; then it is a conflict. */
export const REVERT_ATTEMPTS_LIMIT = 10;
/** Products that each wait for the SKU of the next one. */
export const REVERT_SKU_CHAIN_LIMIT = 100;

/** Changes that one history query reads, matching or not; it takes milliseconds. */
export const HISTORY_SCAN_LIMIT = 5_000;
/** History queries for one ledger page; then the page ends early with a cursor. */
export const LEDGER_STEPS_LIMIT = 40;
/** Deleted products whose movements are found by a former SKU; each takes a query. */
export const LEDGER_PRODUCTS_LIMIT = 100;
/** Polling interval for commits of other processes while a client waits for changes. */
export const COMMIT_POLL_INTERVAL_MS = 20;

/** Expired idempotency records that each new one removes; the table shrinks as it is used. */
export const IDEMPOTENCY_PRUNE_STEP = 4;
/** Expired idempotency records that one pruning step removes; each may have a MiB. */
export const IDEMPOTENCY_PRUNE_RECORDS = 25;

/** Pages of 4 KiB that a backup copies before it reports progress; it takes milliseconds. */
export const BACKUP_STEP_PAGES = 250;
/**
 * Age without a write at which an unfinished file without a lock counts as abandoned; earlier
 * versions locked none, and checking a copy takes minutes.
 */
export const UNLOCKED_TEMP_FILE_AGE_MS = 24 * 60 * 60 * 1000;

/** Findings of one `doctor` check; the first ones tell enough. */
export const DOCTOR_FINDINGS_LIMIT = 20;
/** Size of a write-ahead log, and free disk space, at which `doctor` warns; both are unusual. */
export const DOCTOR_WAL_LIMIT_BYTES = 256 * 1024 * 1024;
export const DOCTOR_FREE_LIMIT_BYTES = 256 * 1024 * 1024;
/** Age at which `doctor` reports an unfinished file; writing one takes less. */
export const DOCTOR_LEFTOVER_AGE_MS = 10 * 60 * 1000;
