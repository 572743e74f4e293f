/** Defaults and limits of the command line and of the settings of `serve`. */

/** Settings of `serve`: each is a flag (`--base-url`) and a variable (`SELLER_API_BASE_URL`). */
export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 8080;
export const DEFAULT_DATA_FOLDER = 'data';
/** Sockets that systemd passes. */
export const INHERITED_SOCKETS_LIMIT = 8;
/** A certificate that expires sooner is warned of. */
export const CERTIFICATE_EXPIRY_WARNING_DAYS = 14;

/** After this a stopping server ends, whatever it waits for; what was answered is on the disk. */
export const STOP_DEADLINE_MS = 9_500;

/** A setting of `serve`: 0 keeps the history for ever. */
export const DEFAULT_HISTORY_DAYS = 400;
export const HISTORY_DAYS_LIMIT = 36_500;
/** How often what is too old is looked for, what one step removes, and the pause between steps. */
export const HISTORY_PRUNE_INTERVAL_MS = 60 * 60 * 1000;
/** How far the clock may be ahead of the newest change at the start, to remove history by it. */
export const HISTORY_CLOCK_TRUST_DAYS = 31;

/** The command line as a client: how long a server may keep silent before it counts as gone. */
export const RESPONSE_TIMEOUT_MS = 60_000;
/** How often an import or export is retried, and after which delays. */
export const RETRY_POLICY = { retries: 5, firstMs: 1_000, limitMs: 60_000 };
/** A refusal of a server; a line of its report on an import, or of a file of failures. */
export const ERROR_BODY_LIMIT_BYTES = 64 * 1024;
/** Failed rows of an import that are shown; all are in its file of failures. */
export const REJECTED_ROWS_SHOWN = 5;
/** Such files beside one catalogue: none is overwritten, the next has the next number. */
export const REJECTED_ROWS_FILES_LIMIT = 100;
/** How often progress is written: on a terminal, and elsewhere. */
export const TERMINAL_PROGRESS_INTERVAL_MS = 100;
export const PROGRESS_INTERVAL_MS = 5_000;

/** Backups by a server: how often, the shortest time between two, and how many are kept. */
export const DEFAULT_BACKUP_EVERY = '24h';
export const BACKUP_INTERVAL_MIN_MS = 1_000;
export const DEFAULT_BACKUPS_KEPT = 14;
export const BACKUPS_KEPT_LIMIT = 10_000;
/** After one that failed, or that another process makes; and the longest wait: clocks may step. */
export const BACKUP_RETRY_MS = 10 * 60 * 1000;
export const BACKUP_WAIT_LIMIT_MS = 60 * 60 * 1000;
/** How long a server that stops waits for a backup to remove what it has made. */
export const BACKUP_STOP_TIMEOUT_MS = 2_000;
/** Of standard error of the process that makes a backup. */
export const BACKUP_STDERR_LIMIT_CHARACTERS = 4_000;

/** How long a code to join holds: of an invitation, and the one that an empty server prints. */
export const INVITATION_CODE_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
export const FIRST_CODE_LIFE_MS = 24 * 60 * 60 * 1000;

/** Of a secret that a command reads from standard input. */
export const SECRET_INPUT_LIMIT_CHARACTERS = 10_000;
