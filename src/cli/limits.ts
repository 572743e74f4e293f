/** Defaults and limits of the command line and of the settings of `serve`. */

/** Default host and port; other machines reach the server only when the operator says so. */
export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 8080;
/** Default data folder; it is beside the sources. */
export const DEFAULT_DATA_FOLDER = 'data';
/** Sockets that systemd passes; a service has one or two. */
export const INHERITED_SOCKETS_LIMIT = 8;
/** Days before its expiry from which a certificate is warned about; ACME clients renew earlier. */
export const CERTIFICATE_EXPIRY_WARNING_DAYS = 14;
/**
 * Time after which a stopping server exits whatever it waits for; whatever was acknowledged is on
 * disk, and service managers kill after 10 s.
 */
export const STOP_DEADLINE_MS = 9_500;

/**
 * Days of history that are kept, by default and at most (0 is forever); more than a year, to
 * compare with the last one.
 */
export const DEFAULT_HISTORY_DAYS = 400;
export const HISTORY_DAYS_LIMIT = 36_500;
/** How often old history is looked for; a day's worth must not wait long. */
export const HISTORY_PRUNE_INTERVAL_MS = 60 * 60 * 1000;
/**
 * How far the clock may be ahead of the newest change at the start; a wrong clock must not remove
 * history.
 */
export const HISTORY_CLOCK_TRUST_DAYS = 31;

/** Time without a byte after which a client counts a server as gone; servers wait up to 45 s. */
export const RESPONSE_TIMEOUT_MS = 60_000;
/** How often an import or export is retried, and after which delays; a restart passes. */
export const RETRY_POLICY = { retries: 5, firstMs: 1_000, limitMs: 60_000 };
/** Error response, or line of an import report, that a client reads; real ones are far shorter. */
export const ERROR_BODY_LIMIT_BYTES = 64 * 1024;
/** Rejected rows of an import that are printed; all are in the file of rejected rows. */
export const REJECTED_ROWS_SHOWN = 5;
/** Files of rejected rows beside one catalogue; none is overwritten, they are numbered. */
export const REJECTED_ROWS_FILES_LIMIT = 100;
/** How often progress is printed, on a terminal and elsewhere; a log must stay readable. */
export const TERMINAL_PROGRESS_INTERVAL_MS = 100;
export const PROGRESS_INTERVAL_MS = 5_000;

/**
 * Default and shortest interval between backups, and how many are kept by default and at most; two
 * weeks of days.
 */
export const DEFAULT_BACKUP_EVERY = '24h';
export const BACKUP_INTERVAL_MIN_MS = 1_000;
export const DEFAULT_BACKUPS_KEPT = 14;
export const BACKUPS_KEPT_LIMIT = 10_000;
/** Delay after a failed backup, or one of another process; a disk may have room by then. */
export const BACKUP_RETRY_MS = 10 * 60 * 1000;
/** Longest wait for a backup before its time is computed again; clocks may step. */
export const BACKUP_WAIT_LIMIT_MS = 60 * 60 * 1000;
/** Time for which a stopping server waits for a backup to remove its temporary file. */
export const BACKUP_STOP_TIMEOUT_MS = 2_000;

/** Life of an invitation code, and of the one that an empty server prints; a person is near. */
export const INVITATION_CODE_LIFE_MS = 7 * 24 * 60 * 60 * 1000;
export const FIRST_CODE_LIFE_MS = 24 * 60 * 60 * 1000;
/** Secret that a command reads from stdin; a wrong file must not fill memory. */
export const SECRET_INPUT_LIMIT_CHARACTERS = 10_000;
