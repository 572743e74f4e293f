/** Limits of the change feed. */

/**
 * Changes per page of the feed, default and maximum, and per chunk of a live stream; each is read
 * and rendered in one piece.
 */
export const CHANGES_PAGE_SIZE_DEFAULT = 100;
export const CHANGES_PAGE_SIZE_LIMIT = 1_000;
/** Longest wait of a request for changes; proxies give up on silent requests after a minute. */
export const CHANGES_WAIT_LIMIT_SECONDS = 30;

/** Idle time after which a live stream sends a comment; proxies close silent connections. */
export const HEARTBEAT_INTERVAL_MS = 15_000;
/** Delay before the client of a live stream reconnects; a restart takes about as long. */
export const STREAM_RETRY_MS = 1_000;
/** Waiting clients woken in one time slice; each wake-up takes some microseconds. */
export const WAKE_SLICE_WAITERS = 100;
