/** Limits of moves between SQLite and PostgreSQL. */

/** Text of the rows that one transaction writes; a row of a few megabytes may exceed it. */
export const MOVE_BATCH_CHARACTERS = 2 * 1024 * 1024;
/** Rows that one statement reads from PostgreSQL; the next one begins after the last row. */
export const MOVE_PAGE_ROWS = 20_000;
/** Wait for a lock that another move or a server holds. */
export const MOVE_LOCK_TIMEOUT_MS = 10_000;
