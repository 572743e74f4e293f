/** Limits of the SQLite store. */

/** How often the log repeats why all writes fail; a full disk fails thousands of them. */
export const FAILURE_LOG_INTERVAL_MS = 1_000;
/** How often an idle writer checks that its files have their names; until then, reads continue. */
export const OPEN_FILES_CHECK_INTERVAL_MS = 1_000;
/** Longest wait of the writer for another process; it waits on its own thread. */
export const WRITER_BUSY_TIMEOUT_MS = 5_000;
/** Longest wait of a reader, only while the write-ahead log is recovered after a crash. */
export const READER_BUSY_TIMEOUT_MS = 1_000;
/** Page cache of the writer and of each reader; twice as much made nothing faster. */
export const WRITER_CACHE_KIB = 8_192;
export const READER_CACHE_KIB = 8_192;
/**
 * Pages of 4 KiB in the write-ahead log at which the writer checkpoints; an import, which changes
 * pages all over the database, is a third faster than with 1,000, and no reader waits.
 */
export const WAL_CHECKPOINT_PAGES = 8_000;
/** Size to which a grown write-ahead log is truncated; its space returns to the disk. */
export const WAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Shortest time between two writes of a high-water mark. */
export const HIGH_WATER_INTERVAL_MS = 1_000;
/** Polling interval for commits of other processes while a client waits for changes. */
export const COMMIT_POLL_INTERVAL_MS = 20;
/** How often a process tries to get another's delivery lock; a failover takes as long. */
export const WEBHOOK_LOCK_INTERVAL_MS = 2_000;

/** Pages of 4 KiB that a backup copies before it reports progress; it takes milliseconds. */
export const BACKUP_STEP_PAGES = 250;
/** Age at which the lock of an unfinished file that was never created counts as abandoned. */
export const UNLOCKED_TEMP_FILE_AGE_MS = 24 * 60 * 60 * 1000;

/** Size of a write-ahead log, and free disk space, at which `doctor` warns; both are unusual. */
export const DOCTOR_WAL_LIMIT_BYTES = 256 * 1024 * 1024;
export const DOCTOR_FREE_LIMIT_BYTES = 256 * 1024 * 1024;
/** Free inodes at which `doctor` warns, and that opening a catalogue needs. */
export const DOCTOR_FREE_INODES_LIMIT = 1_000;
export const OPENING_INODES = 4;
/** Age at which `doctor` reports an unfinished file; writing one takes less. */
export const DOCTOR_LEFTOVER_AGE_MS = 10 * 60 * 1000;
