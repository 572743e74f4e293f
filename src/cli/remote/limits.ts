/** Limits of the commands that send requests to a server. */

/** Retries of an import or export and their delays; enough for a server restart. */
export const RETRY_POLICY = { retries: 5, firstMs: 1_000, limitMs: 60_000 };
/** Interval at which `stock sync --watch` scans its folder. */
export const WATCH_INTERVAL_MS = 1_000;
/** Default time after which an unchanged file in that folder counts as complete. */
export const DEFAULT_SETTLE = '5s';
/**
 * Time after which a file is not sent again under its Idempotency-Key; an hour less than the server
 * keeps the key, since their clocks may differ.
 */
export const RESEND_LIMIT_MS = 47 * 60 * 60 * 1000;
/** Rejected rows in the report on such a file; the file of rejected rows has all of them. */
export const REPORTED_ROWS_LIMIT = 1_000;
/** Rejected rows that an import prints, and duplicate ones; files and summaries have more. */
export const REJECTED_ROWS_SHOWN = 5;
/** Files of rejected rows beside one catalogue; they are numbered, and none is overwritten. */
export const REJECTED_ROWS_FILES_LIMIT = 100;

/** Interval and time in which a server writes what it had received from an interrupted command. */
export const WRITTEN_POLLS = { everyMs: 1_000, limitMs: 8_000 };

/** Rows of a list that commands print without `--limit`. */
export const ROWS_SHOWN = 20;
/** Retries of other commands, within a second: somebody waits, and can run them again. */
export const COMMAND_RETRIES = 2;
/** Silence after which `status` and `open` give up on a server; a health check must not hang. */
export const STATUS_TIMEOUT_MS = 5_000;
/** Webhook message that `webhook listen` accepts; 100 changes are far shorter. */
export const WEBHOOK_MESSAGE_LIMIT_BYTES = 16 * 1024 * 1024;
/** Time that an application has to answer a forwarded message; the server waits for 15 s. */
export const WEBHOOK_FORWARD_TIMEOUT_MS = 14_000;
