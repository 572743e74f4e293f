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
/** Sessions of one seller; the oldest is ended first, so the table is bounded. */
export const SESSIONS_PER_SELLER_LIMIT = 50;
/** Column mappings kept for one seller; those used longest ago go first. */
export const COLUMN_MAPPINGS_PER_SELLER_LIMIT = 100;
/** A column mapping as JSON; a larger one is not kept. */
export const COLUMN_MAPPING_LIMIT_CHARACTERS = 8_192;

/** Mutations of one transaction; the first in it waits for the last. */
export const WRITE_BATCH_LIMIT = 500;
/** Rows of one transaction, unless one mutation has more; single changes wait for an import. */
export const WRITE_BATCH_ROWS_LIMIT = 4_000;
/** Mutations that wait for a transaction; one more is rejected, so memory is bounded. */
export const WRITE_QUEUE_LIMIT = 20_000;
/** Stock levels that the writer caches; stock requests name the same products again. */
export const STOCK_LEVELS_KEPT = 20_000;
