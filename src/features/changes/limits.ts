/** Limits of the change feed. */

/**
 * Changes on a page of the feed, by default and at most, and in one piece of a live stream; a
 * piece is read and rendered at once.
 */
export const CHANGES_PAGE_SIZE_DEFAULT = 100;
export const CHANGES_PAGE_SIZE_LIMIT = 1_000;
/** Longest wait of a request for changes; proxies give up on silent requests after a minute. */
export const CHANGES_WAIT_LIMIT_SECONDS = 30;

/** Idle time after which a live stream sends a comment; proxies close silent connections. */
export const HEARTBEAT_INTERVAL_MS = 15_000;
/** Delay before the client of a live stream reconnects; a restart takes about as long. */
export const STREAM_RETRY_MS = 1_000;
/** Shortest time between two wake-ups of waiting clients; each costs a read per seller. */
export const WAKE_INTERVAL_MS = 15;
/** Waiting clients that one time slice wakes; each wake-up takes some microseconds. */
export const WAKE_SLICE_WAITERS = 100;
