/** Limits of the PostgreSQL adapter. */

/** Attempts to write a transaction that conflicts with another node's. */
export const POSTGRES_CONFLICT_ATTEMPTS = 5;
/** Attempts to find out whether a transaction whose response was lost was committed; about 20 s. */
export const POSTGRES_OUTCOME_ATTEMPTS = 9;
/** Keys whose seller is remembered; the longest known is forgotten first. */
export const POSTGRES_KEY_OWNERS_LIMIT = 100_000;
/** Products that one statement of an export reads. */
export const POSTGRES_EXPORT_PAGE_SIZE = 1_000;
/** Connections of a node for reads, writes and exports. */
export const POSTGRES_READ_CONNECTIONS = 4;
export const POSTGRES_WRITE_CONNECTIONS = 8;
export const POSTGRES_EXPORT_CONNECTIONS = 2;
/** Time limits of the server for a statement, for its locks, and between two of a transaction. */
export const POSTGRES_STATEMENT_TIMEOUT_MS = 15_000;
export const POSTGRES_LOCK_TIMEOUT_MS = 5_000;
export const POSTGRES_IDLE_TRANSACTION_TIMEOUT_MS = 10_000;
/** For a statement of `migrate`, such as a new index on all changes, or of `doctor`. */
export const POSTGRES_MAINTENANCE_TIMEOUT_MS = 24 * 60 * 60 * 1000;
/** Rows that `doctor` reads at a time. */
export const DOCTOR_PAGE_ROWS = 500;

/** Pause between deletions of token buckets that are full. */
export const TOKEN_BUCKET_PRUNE_INTERVAL_MS = 60_000;
