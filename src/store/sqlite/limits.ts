/** Limits of the SQLite store. */

/** By which the times of commits are counted. */
export const COMMIT_DURATION_BUCKETS_SECONDS: readonly number[] =
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** How long they are kept: 8 days. */
export const KEY_USAGE_KEPT_HOURS = 8 * 24;

/** Changes that one transaction holds, and changes that wait for one; one more is refused. */
export const WRITE_BATCH_LIMIT = 500;
/** Rows of large units that one transaction holds, but for a unit that is larger itself. */
export const WRITE_BATCH_ROWS_LIMIT = 4_000;
export const WRITE_QUEUE_LIMIT = 20_000;
/** How often the log says why changes are refused, while all are for the same disk. */
export const FAILURE_LOG_INTERVAL_MS = 1_000;
/** Longest wait of the writer for another process; it waits on a thread of its own. */
export const WRITER_BUSY_TIMEOUT_MS = 5_000;
/** Readers wait only while the write-ahead log is recovered after a crash. */
export const READER_BUSY_TIMEOUT_MS = 1_000;
export const WRITER_CACHE_KIB = 16_384;
export const READER_CACHE_KIB = 16_384;
/** Of an import that is only tried: what it would write grows beyond this into a file. */
export const DRY_RUN_CACHE_KIB = 8_192;
/**
 * Pages of 4 KiB in the write-ahead log after which the writer moves them into the database. Its
 * thread does that, so no reader waits. For single changes 1,000 is as good, but an import, which
 * changes pages all over the database, is a third faster, and much faster on a slow disk.
 */
export const WAL_CHECKPOINT_PAGES = 8_000;
/** A log that once grew is cut back to this when it starts anew. */
export const WAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Stock levels that the writer remembers, for calls that name the same products again. */
export const STOCK_LEVELS_KEPT = 20_000;
/** Products that a full count does not name, read at once. */
export const STOCKTAKE_STEP_PRODUCTS = 1_000;

export const PRUNE_STEP_CHANGES = 500;
export const PRUNE_PAUSE_MS = 20;

/** Changes that one look into the history reads, whether they are asked for or passed over. */
export const HISTORY_SCAN_LIMIT = 5_000;
/** Such looks that a page of the ledger may take: then it is answered with what it has. */
export const LEDGER_STEPS_LIMIT = 40;
/** Deleted products whose movements are found by a SKU that they had. */
export const LEDGER_PRODUCTS_LIMIT = 100;
/** How often commits of other processes are looked for while somebody waits for changes. */
export const COMMIT_POLL_INTERVAL_MS = 20;

export const IDEMPOTENCY_PRUNE_STEP = 4;
/** What one step removes where old ones are looked for: each may be a MiB. */
export const IDEMPOTENCY_PRUNE_RECORDS = 25;

/** Pages of 4 KiB that a backup copies before it says how far it is. */
export const BACKUP_STEP_PAGES = 250;

/**
 * An unfinished file without a lock, as earlier versions left it, counts as abandoned after this
 * long without a write: a copy writes all the time, and its checks take minutes.
 */
export const UNLOCKED_TEMP_FILE_AGE_MS = 24 * 60 * 60 * 1000;

/** What `doctor` says of one check, at most. */
export const DOCTOR_FINDINGS_LIMIT = 20;
/** A write-ahead log that is larger is worth a look; and a disk with less room than this. */
export const DOCTOR_WAL_LIMIT_BYTES = 256 * 1024 * 1024;
export const DOCTOR_FREE_LIMIT_BYTES = 256 * 1024 * 1024;
/** Unfinished files that are older are left over. */
export const DOCTOR_LEFTOVER_AGE_MS = 10 * 60 * 1000;
