/** Every setting of the server and every limit that is not one of the data (`domain/limits.ts`). */

/** Settings of `serve`: each is a flag (`--base-url`) and a variable (`SELLER_API_BASE_URL`). */
export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 8080;
export const DEFAULT_DATA_FOLDER = 'data';
/** Requests a minute for each key; 0 turns the limit off. */
export const DEFAULT_RATE_LIMIT_PER_MINUTE = 6_000;
export const RATE_LIMIT_PER_MINUTE_LIMIT = 10_000_000;

/** Refused keys a minute from one address; beyond it they are answered with 429. */
export const FAILED_KEYS_PER_MINUTE = 60;
/** Keys, and addresses, whose rate is remembered; the one seen longest ago is forgotten first. */
export const RATE_LIMIT_ENTRIES_LIMIT = 10_000;
/** How often the last use of a key is written. */
export const KEY_USE_INTERVAL_MS = 60_000;

/** A product of the largest legal members takes under 5 KiB of JSON, however it is escaped. */
export const BODY_LIMIT_BYTES = 64 * 1024;
/** What is still read, to be thrown away, of a body that was refused before its end. */
export const DISCARD_LIMIT_BYTES = 1024 * 1024;
export const JSON_DEPTH_LIMIT = 8;

export const PAGE_SIZE_DEFAULT = 100;
export const PAGE_SIZE_LIMIT = 1_000;
/** Bytes of rendered pages that are kept in memory. */
export const PAGE_CACHE_LIMIT_BYTES = 16 * 1024 * 1024;

/** Headers of a request, in bytes and in number. */
export const HEADER_LIMIT_BYTES = 16 * 1024;
export const HEADER_COUNT_LIMIT = 100;
/** How long a client may take to send the headers, and the whole request. */
export const HEADERS_TIMEOUT_MS = 5_000;
export const REQUEST_TIMEOUT_MS = 30_000;
/** How long a connection with a request under way may stand still: nothing read, nothing sent. */
export const STALL_TIMEOUT_MS = 30_000;
/** How often those two are looked at. */
export const CONNECTIONS_CHECK_INTERVAL_MS = 1_000;
/** How long a connection may wait for its next request. */
export const KEEP_ALIVE_TIMEOUT_MS = 5_000;
export const CONNECTIONS_LIMIT = 10_000;

/** After this a stopping server ends the connections that are still under way. */
export const STOP_TIMEOUT_MS = 8_000;
/** After this a stopping server ends, whatever it waits for; what was answered is on the disk. */
export const STOP_DEADLINE_MS = 9_500;

/** Changes that one transaction holds, and changes that wait for one; one more is refused. */
export const WRITE_BATCH_LIMIT = 500;
export const WRITE_QUEUE_LIMIT = 20_000;
/** Longest wait of the writer for another process; it waits on a thread of its own. */
export const WRITER_BUSY_TIMEOUT_MS = 5_000;
/** Readers wait only while the write-ahead log is recovered after a crash. */
export const READER_BUSY_TIMEOUT_MS = 1_000;
export const WRITER_CACHE_KIB = 65_536;
export const READER_CACHE_KIB = 16_384;
/**
 * Pages of 4 KiB in the write-ahead log after which the writer moves them into the database. Its
 * thread does that, so no reader waits; 8,000 and 20,000 were no faster, and pause for longer.
 */
export const WAL_CHECKPOINT_PAGES = 1_000;
/** A log that once grew is cut back to this when it starts anew. */
export const WAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;
