/** Defaults and limits of the command line and of the settings of `serve`. */

/** Default host and port; other machines reach the server only if the operator allows it. */
export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 8080;
/** A TCP port; 0 picks a free one. */
export const PORT_RANGE = [0, 65_535] as const;
/** Default data folder, beside the sources. */
export const DEFAULT_DATA_FOLDER = 'data';
/** Sockets passed by systemd; a service has one or two. */
export const INHERITED_SOCKETS_LIMIT = 8;
/** Days before expiry at which a certificate gets a warning; ACME clients renew earlier. */
export const CERTIFICATE_EXPIRY_WARNING_DAYS = 14;
/**
 * Time after which a stopping server exits in any case; acknowledged writes are on disk, and
 * service managers kill after 10 s.
 */
export const STOP_DEADLINE_MS = 9_500;
/** Time for `systemd-notify` to send one message; systemd waits longer for a start. */
export const NOTIFY_TIMEOUT_MS = 5_000;

/** Days of history kept, by default and at most (0 is forever); a year and a comparison margin. */
export const DEFAULT_HISTORY_DAYS = 400;
export const HISTORY_DAYS_LIMIT = 36_500;
/** Interval of the job that prunes old history; a day's worth must not wait long. */
export const HISTORY_PRUNE_INTERVAL_MS = 60 * 60 * 1000;
/** How far the clock may be ahead of the newest change at start; a wrong clock must not prune. */
export const HISTORY_CLOCK_TRUST_DAYS = 31;

/** Interval of progress lines, on a terminal and elsewhere; a log must stay readable. */
export const TERMINAL_PROGRESS_INTERVAL_MS = 100;
export const PROGRESS_INTERVAL_MS = 5_000;

/** Default and minimum backup interval, default and maximum number of backups kept; two weeks. */
export const DEFAULT_BACKUP_EVERY = '24h';
export const BACKUP_INTERVAL_MIN_MS = 1_000;
export const DEFAULT_BACKUPS_KEPT = 14;
export const BACKUPS_KEPT_LIMIT = 10_000;
/** Delay after a failed backup, or while another process makes one; a full disk may have room. */
export const BACKUP_RETRY_MS = 10 * 60 * 1000;
/** Longest wait before the next backup time is computed again; the clock may step. */
export const BACKUP_WAIT_LIMIT_MS = 60 * 60 * 1000;
/** Time that a stopping server gives a backup to remove its temporary file. */
export const BACKUP_STOP_TIMEOUT_MS = 2_000;

/** Secret read from stdin; a wrong file must not fill memory. */
export const SECRET_INPUT_LIMIT_BYTES = 10_000;

/** How often `serve` checks whether it has reached its limit of open files. */
export const FILE_LIMIT_CHECK_INTERVAL_MS = 1_000;
/** Checks that it skips after it has logged that, so that it logs it once a minute at most. */
export const FILE_LIMIT_CHECKS_SKIPPED = 59;
