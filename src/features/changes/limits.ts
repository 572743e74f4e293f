/** Limits of the change feed. */

/** Changes on a page of the feed, and in one piece of a live stream. */
export const CHANGES_PAGE_SIZE_DEFAULT = 100;
export const CHANGES_PAGE_SIZE_LIMIT = 1_000;
/** The longest that a request waits for changes. */
export const CHANGES_WAIT_LIMIT_SECONDS = 30;

/** Idle time after which a live stream sends a comment: proxies close silent connections. */
export const HEARTBEAT_INTERVAL_MS = 15_000;
/** The time that a client of a stream is told to wait before it comes back. */
export const STREAM_RETRY_MS = 1_000;
/** Those who wait for changes are woken no more often than this, however many there are. */
export const WAKE_INTERVAL_MS = 15;
/** Those who are woken in one turn of the event loop. */
export const WAKE_SLICE_WAITERS = 100;
