/** Limits of the PostgreSQL adapter. */

/** Attempts to write a transaction that conflicts with another node's. */
export const POSTGRES_CONFLICT_ATTEMPTS = 5;
/** Attempts to find out whether a transaction whose response was lost was committed; about 15 s. */
export const POSTGRES_OUTCOME_ATTEMPTS = 9;
/** No such attempt begins later: clients get a response before their connection is closed. */
export const POSTGRES_OUTCOME_LIMIT_MS = 15_000;
/** Keys whose seller is remembered; the longest known is forgotten first. */
export const POSTGRES_KEY_OWNERS_LIMIT = 100_000;
/** Products that one statement of an export reads. */
export const POSTGRES_EXPORT_PAGE_SIZE = 1_000;
/** Connections of a node for reads, writes and exports. */
export const POSTGRES_READ_CONNECTIONS = 4;
export const POSTGRES_WRITE_CONNECTIONS = 8;
export const POSTGRES_EXPORT_CONNECTIONS = 2;
/**
 * Connections of a node for reads that may be slow, such as searches: in total and per seller. Then
 * how long a read waits for one, and how many wait, in total and per seller.
 */
export const POSTGRES_SEARCH_CONNECTIONS = 3;
export const POSTGRES_SEARCHES_PER_SELLER_LIMIT = 2;
export const POSTGRES_SEARCH_WAIT_LIMIT_MS = 5_000;
export const POSTGRES_SEARCH_QUEUE_LIMIT = 1_000;
export const POSTGRES_SEARCHES_WAITING_PER_SELLER_LIMIT = 250;
/** Time limits of the server for a statement, for its locks, and between two of a transaction. */
export const POSTGRES_STATEMENT_TIMEOUT_MS = 15_000;
export const POSTGRES_LOCK_TIMEOUT_MS = 5_000;
export const POSTGRES_IDLE_TRANSACTION_TIMEOUT_MS = 10_000;
/**
 * How long PostgreSQL waits for a node that does not read, because it is paused or unreachable,
 * and when it probes a silent one: none of the limits above ends that wait.
 */
export const POSTGRES_TCP_USER_TIMEOUT_MS = 15_000;
export const POSTGRES_TCP_KEEPALIVE_SECONDS = 5;
/** For a statement of `migrate`, such as a new index on all changes, or of `doctor`. */
export const POSTGRES_MAINTENANCE_TIMEOUT_MS = 24 * 60 * 60 * 1000;
/** Rows of a cursor that are read at a time; what they take fits into the buffers of a socket. */
export const POSTGRES_CURSOR_ROWS = 500;
/** Named rows of a seller up to which one round trip both locks the seller and reads them. */
export const POSTGRES_LOCKED_ROWS = 100;
/** Attempts to write a transaction with more rows from a snapshot, before the seller is locked. */
export const POSTGRES_SNAPSHOT_ATTEMPTS = 3;

/** Pause between deletions of token buckets that are full. */
export const TOKEN_BUCKET_PRUNE_INTERVAL_MS = 60_000;
