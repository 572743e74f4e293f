/**
 * Every setting of the server, and every limit that is not one of the data (`domain/limits.ts`), of
 * HTTP itself (`http/limits.ts`) or of the portal alone (`portal/limits.ts`).
 */

/** Settings of `serve`: each is a flag (`--base-url`) and a variable (`SELLER_API_BASE_URL`). */
export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 8080;
export const DEFAULT_DATA_FOLDER = 'data';
/** Sockets that systemd passes. */
export const INHERITED_SOCKETS_LIMIT = 8;
/** A certificate that expires sooner is warned of. */
export const CERTIFICATE_EXPIRY_WARNING_DAYS = 14;
/** Requests a minute for each key; 0 turns the limit off. */
export const DEFAULT_RATE_LIMIT_PER_MINUTE = 6_000;
export const RATE_LIMIT_PER_MINUTE_LIMIT = 10_000_000;
/** A seller's default rate limit, as a multiple of the rate limit of one key. */
export const SELLER_RATE_LIMIT_KEYS = 10;

/** What waits for whoever reads the log; beyond it lines are dropped. */
export const LOG_BUFFER_LIMIT_CHARACTERS = 1024 * 1024;
/** How long the end of a server waits for the log to be taken. */
export const LOG_CLOSE_TIMEOUT_MS = 1_000;

/** How often the server looks whether it is ready, and how long that may take. */
export const READY_CHECK_INTERVAL_MS = 1_000;
export const READY_CHECK_TIMEOUT_MS = 2_000;
/** A disk that has less left counts as full. */
export const READY_FREE_BYTES = 16 * 1024 * 1024;
/** How long after a commit that failed no more changes are asked for. */
export const READY_RETRY_MS = 5_000;
/** By which the times of requests are counted. */
export const REQUEST_BOUNDS_SECONDS: readonly number[] =
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** How often it is looked how late the event loop is, and by which that is counted. */
export const EVENT_LOOP_LOOK_INTERVAL_MS = 20;
export const EVENT_LOOP_BOUNDS_SECONDS: readonly number[] =
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
/** Characters of a token for the figures. */
export const METRICS_TOKEN_MIN_CHARACTERS = 20;
/** By which the times of commits are counted. */
export const COMMIT_BOUNDS_SECONDS: readonly number[] =
  [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Refused keys a minute from one address; beyond it they are answered with 429. */
export const FAILED_KEYS_PER_MINUTE = 60;
/** Token buckets kept for keys, sellers and addresses; the least recently used is dropped first. */
export const RATE_LIMIT_ENTRIES_LIMIT = 10_000;
/** How often the last use of a key is written. */
export const KEY_USE_INTERVAL_MS = 60_000;
/** How often the requests of keys are written that were counted, and of how many keys at once. */
export const KEY_USAGE_INTERVAL_MS = 10_000;
export const KEY_USAGE_ENTRIES_LIMIT = 10_000;
/** How long they are kept: 8 days. */
export const KEY_USAGE_KEPT_HOURS = 8 * 24;

/** A record of a CSV file, or a line of NDJSON: shops put whole descriptions, in HTML, into one. */
export const IMPORT_RECORD_LIMIT_BYTES = 256 * 1024;
/** Imports under way, in all and for one seller: each holds up to two units in memory. */
export const IMPORTS_AT_ONCE_LIMIT = 8;
export const IMPORTS_PER_SELLER_LIMIT = 4;
/** Lines in a row without anything on them. */
export const IMPORT_BLANK_LINES_LIMIT = 10_000;
export const IMPORT_COLUMNS_LIMIT = 1_000;
/** What one transaction of an import holds: this many rows, or fewer that make so much text. */
export const IMPORT_UNIT_ROWS = 1_000;
export const IMPORT_UNIT_LIMIT_CHARACTERS = 1024 * 1024;
/** Rows of an import that are read before other requests get a turn of the event loop. */
export const IMPORT_TURN_ROWS = 100;
/** Products with variants whose categories an import remembers; the oldest is forgotten first. */
export const IMPORT_PARENTS_LIMIT = 10_000;
/** Columns that the summary of an import names as ignored. */
export const IMPORT_IGNORED_COLUMNS_LIMIT = 100;

export const PAGE_SIZE_DEFAULT = 100;
export const PAGE_SIZE_LIMIT = 1_000;
/** Bytes of rendered pages that are kept in memory; their compressed forms are kept beside. */
export const PAGE_CACHE_LIMIT_BYTES = 16 * 1024 * 1024;

/** After this a stopping server ends, whatever it waits for; what was answered is on the disk. */
export const STOP_DEADLINE_MS = 9_500;

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
export const TRIAL_CACHE_KIB = 8_192;
/**
 * Pages of 4 KiB in the write-ahead log after which the writer moves them into the database. Its
 * thread does that, so no reader waits. For single changes 1,000 is as good, but an import, which
 * changes pages all over the database, is a third faster, and much faster on a slow disk.
 */
export const WAL_CHECKPOINT_PAGES = 8_000;
/** A log that once grew is cut back to this when it starts anew. */
export const WAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;

/** Changes on a page of the feed, and in one piece of a live stream. */
export const CHANGES_PAGE_SIZE_DEFAULT = 100;
export const CHANGES_PAGE_SIZE_LIMIT = 1_000;
/** The longest that a request waits for changes. */
export const CHANGES_WAIT_LIMIT_SECONDS = 30;
/** Of a call that changes stock, in JSON. */
export const STOCK_BODY_LIMIT_BYTES = 2 * 1024 * 1024;
/** Those larger than other bodies may be, in all and of one seller: each takes 10 MiB of memory. */
export const LARGE_STOCK_CALLS_AT_ONCE_LIMIT = 32;
export const LARGE_STOCK_CALLS_PER_SELLER_LIMIT = 8;
/** Stock levels that the writer remembers, for calls that name the same products again. */
export const STOCK_LEVELS_KEPT = 20_000;
/** Products that a full count does not name, read at once. */
export const STOCK_STEP_PRODUCTS = 1_000;

/**
 * Concurrent streams, plus requests that wait for changes: total, per seller, and per key. It takes
 * ten sellers at their limits to exhaust the total.
 */
export const STREAMS_TOTAL_LIMIT = 2_000;
export const STREAMS_PER_SELLER_LIMIT = 200;
export const STREAMS_PER_KEY_LIMIT = 50;
/** How often a stream checks its key or session again. SECURITY.md promises it. */
export const REAUTHORIZE_INTERVAL_MS = 15_000;
/** Maximum duration of an export or a live stream, so of the slot that a slow reader holds. */
export const STREAM_DURATION_LIMIT_MS = 30 * 60 * 1000;
/** Idle time after which a live stream sends a comment: proxies close silent connections. */
export const HEARTBEAT_INTERVAL_MS = 15_000;
/** The time that a client of a stream is told to wait before it comes back. */
export const STREAM_RETRY_MS = 1_000;
/** Those who wait for changes are woken no more often than this, however many there are. */
export const WAKE_INTERVAL_MS = 15;
/** Those who are woken in one turn of the event loop. */
export const WAKE_TURN_WAITERS = 100;

/** A setting of `serve`: 0 keeps the history for ever. */
export const DEFAULT_HISTORY_DAYS = 400;
export const HISTORY_DAYS_LIMIT = 36_500;
/** How often what is too old is looked for, what one step removes, and the pause between steps. */
export const HISTORY_PRUNE_INTERVAL_MS = 60 * 60 * 1000;
export const PRUNE_STEP_CHANGES = 500;
export const PRUNE_PAUSE_MS = 20;
/** How far the clock may be ahead of the newest change at the start, to remove history by it. */
export const HISTORY_CLOCK_TRUST_DAYS = 31;

/** How far a clock may step back without the time of a catalogue doing so, too. */
export const CLOCK_STEP_LIMIT_MS = 60 * 60 * 1000;

/** Changes that one look into the history reads, whether they are asked for or passed over. */
export const HISTORY_SCAN_LIMIT = 5_000;
/** Such looks that a page of the ledger may take: then it is answered with what it has. */
export const LEDGER_STEPS_LIMIT = 40;
/** Deleted products whose movements are found by a SKU that they had. */
export const LEDGER_PRODUCTS_LIMIT = 100;
/** How often commits of other processes are looked for while somebody waits for changes. */
export const COMMIT_POLL_INTERVAL_MS = 20;

/** How long a change is remembered under its Idempotency-Key, and what each new one forgets. */
export const IDEMPOTENCY_LIFE_MS = 48 * 60 * 60 * 1000;
export const IDEMPOTENCY_PRUNE_STEP = 4;
/** What one step removes where old ones are looked for: each may be a MiB. */
export const IDEMPOTENCY_PRUNE_RECORDS = 25;
export const IDEMPOTENCY_KEY_LIMIT_CHARACTERS = 255;

/** The command line as a client: how long a server may keep silent before it counts as gone. */
export const ANSWER_TIMEOUT_MS = 60_000;
/** Waits before an import or export is tried again; where the server asks for more, up to this. */
export const RETRY_WAITS_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];
export const RETRY_WAIT_LIMIT_MS = 60_000;
/** A refusal of a server; a line of its report on an import, or of a file of failures. */
export const REFUSAL_LIMIT_BYTES = 64 * 1024;
export const LINE_LIMIT_BYTES = 1024 * 1024;
/** Failed rows of an import that are shown; all are in its file of failures. */
export const FAILURES_SHOWN = 5;
/** Such files beside one catalogue: none is overwritten, the next has the next number. */
export const FAILURES_FILES_LIMIT = 100;
/** How often progress is written: on a terminal, and elsewhere. */
export const TERMINAL_PROGRESS_INTERVAL_MS = 100;
export const PROGRESS_INTERVAL_MS = 5_000;

/** Pages of 4 KiB that a backup copies before it says how far it is. */
export const BACKUP_STEP_PAGES = 250;
/** Backups by a server: how often, the shortest time between two, and how many are kept. */
export const DEFAULT_BACKUP_EVERY = '24h';
export const BACKUP_INTERVAL_LEAST_MS = 1_000;
export const DEFAULT_BACKUPS_KEPT = 14;
export const BACKUPS_KEPT_LIMIT = 10_000;
/** After one that failed, or that another process makes; and the longest wait: clocks may step. */
export const BACKUP_RETRY_MS = 10 * 60 * 1000;
export const BACKUP_WAIT_LIMIT_MS = 60 * 60 * 1000;
/** How long a server that stops waits for a backup to remove what it has made. */
export const BACKUP_STOP_TIMEOUT_MS = 2_000;
/** Of standard error of the process that makes a backup. */
export const BACKUP_NOTES_LIMIT_CHARACTERS = 4_000;

/** How long a search waits until the projection has come to the position of its caller. */
export const SEARCH_WAIT_LIMIT_MS = 5_000;
/** What a search that waited in vain, or an export too many, is told to wait. */
export const SEARCH_RETRY_AFTER_SECONDS = 5;
/** Searches, and pages of exports, that wait at once; one more is refused. */
export const SEARCH_QUEUE_LIMIT = 1_000;
/** Of one seller. */
export const SEARCHES_PER_SELLER_LIMIT = 250;
/** Changes, or products of a first build, that one transaction of the projection takes over. */
export const SEARCH_STEP_LIMIT = 1_000;
/** Pages of the text index that one step of putting it together writes: some 70 ms. */
export const SEARCH_MERGE_STEP_PAGES = 500;
/** The projection works unasked once nothing was written for this long, ... */
export const SEARCH_IDLE_MS = 250;
/** ... and its thread is started for that after this many commits. */
export const SEARCH_IDLE_COMMITS = 20;
/** Matches of a condition up to which they are fetched and sorted, rather than met on the way. */
export const SEARCH_PROBE_LIMIT = 5_000;
export const SEARCH_STATEMENTS_LIMIT = 200;
/** Longest wait for the projection of another process on the same folder. */
export const SEARCH_BUSY_TIMEOUT_MS = 5_000;
export const SEARCH_CACHE_KIB = 16_384;
/** For new objects of its thread: a step makes many, and none of them is needed for long. */
export const SEARCH_YOUNG_HEAP_MIB = 12;
/** Pages of 4 KiB in the log of the projection after which they are moved into its file. */
export const SEARCH_CHECKPOINT_PAGES = 8_000;

export const EXPORTS_AT_ONCE_LIMIT = 8;
export const EXPORTS_PER_SELLER_LIMIT = 4;
export const EXPORT_PAGE_SIZE = 250;
/** An export holds a snapshot open, which keeps the log of the projection from being cut back. */
export const EXPORT_TIME_LIMIT_MS = STREAM_DURATION_LIMIT_MS;
export const EXPORT_CACHE_KIB = 2_048;

/** Messages of webhooks under way at once; those to endpoints that fail take at most half. */
export const WEBHOOK_SLOTS_LIMIT = 256;
/** Changes in one message; messages that an endpoint gets before others have their turn. */
export const WEBHOOK_CHANGES_LIMIT = 100;
export const WEBHOOK_MESSAGES_IN_A_ROW = 20;
/** From the name of an endpoint to the end of its answer. */
export const WEBHOOK_TIMEOUT_MS = 15_000;
/** Of the answer, which is thrown away. */
export const WEBHOOK_ANSWER_LIMIT_BYTES = 64 * 1024;
/** For the name of an endpoint that is made. */
export const WEBHOOK_LOOKUP_TIMEOUT_MS = 5_000;
/**
 * In all; of a seller, and of endpoints that fail, it is one. Each takes one of the four threads of
 * Node that compress answers, too.
 */
export const WEBHOOK_LOOKUPS_AT_ONCE = 3;
/** The first wait after a failure, which doubles up to the longest; then the end of all trying. */
export const WEBHOOK_RETRY_MS = 5_000;
export const WEBHOOK_RETRY_LIMIT_MS = 24 * 60 * 60 * 1000;
export const WEBHOOK_GIVE_UP_MS = 5 * 24 * 60 * 60 * 1000;
/** How often endpoints that are due are looked for at most. */
export const WEBHOOK_LOOK_INTERVAL_MS = 100;
/** How often a process looks that knows of no endpoint: another one may make the first. */
export const WEBHOOK_STANDBY_INTERVAL_MS = 2_000;
/** How often a process that may not deliver, since another one does, tries to. */
export const WEBHOOK_CLAIM_INTERVAL_MS = 2_000;
/** How long an endpoint is left alone after the store has failed. */
export const WEBHOOK_PAUSE_MS = 5_000;
/** How long a server that stops waits for attempts that it has ended. */
export const WEBHOOK_STOP_TIMEOUT_MS = 2_000;
/** Attempts that are kept in the log of an endpoint. */
export const WEBHOOK_ATTEMPTS_KEPT = 200;
/** Test messages under way, in all and of a seller. */
export const WEBHOOK_TESTS_AT_ONCE_LIMIT = 16;
export const WEBHOOK_TESTS_PER_SELLER_LIMIT = 2;

/** A session ends when nothing was asked for so long, and after its whole life in any case. */
export const SESSION_IDLE_MS = 12 * 60 * 60 * 1000;
export const SESSION_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
/** How often it is written that a session was used. */
export const SESSION_SEEN_INTERVAL_MS = 60_000;
/** Sessions of one seller; the oldest is ended first. */
export const SESSIONS_PER_SELLER_LIMIT = 50;
/** How long a code to join holds: of an invitation, and the one that an empty server prints. */
export const INVITATION_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
export const FIRST_CODE_LIFE_MS = 24 * 60 * 60 * 1000;

/**
 * An unfinished file without a lock, as earlier versions left it, counts as abandoned after this
 * long without a write: a copy writes all the time, and its checks take minutes.
 */
export const UNLOCKED_PART_AGE_MS = 24 * 60 * 60 * 1000;

/** What `doctor` says of one check, at most. */
export const DOCTOR_FINDINGS_LIMIT = 20;
/** A write-ahead log that is larger is worth a look; and a disk with less room than this. */
export const DOCTOR_LOG_LIMIT_BYTES = 256 * 1024 * 1024;
export const DOCTOR_FREE_LIMIT_BYTES = 256 * 1024 * 1024;
/** Unfinished files that are older are left over. */
export const DOCTOR_LEFTOVER_AGE_MS = 10 * 60 * 1000;

/** Of a secret that a command reads from standard input. */
export const SECRET_INPUT_LIMIT_CHARACTERS = 10_000;
