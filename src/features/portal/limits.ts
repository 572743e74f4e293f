/** Limits of the portal: sign-in, pages and imports. */

/** Failed sign-ins per client address and minute; more get 429, which slows guessing. */
export const FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE = 30;
/**
 * Failed sign-ins per account and window; a browser that the account has used before has its own
 * count, so strangers cannot lock the owner out.
 */
export const FAILED_SIGN_INS_LIMIT = 10;
export const SIGN_IN_WINDOW_MS = 15 * 60 * 1000;
/** Passwords of an account that are hashed in this window, right or wrong: hashing is costly. */
export const PASSWORD_CHECKS_LIMIT = 60;
/**
 * Wrong one-time passwords per window; three in a million are valid, so the chance to guess one
 * within a year is 1 %.
 */
export const FAILED_TOTP_LIMIT = 10;
export const TOTP_WINDOW_MS = 24 * 60 * 60 * 1000;
/** Lifetime of the invitation code that an empty server prints; a person is near. */
export const FIRST_CODE_LIFE_MS = 24 * 60 * 60 * 1000;
/** Time between the password and the code of a sign-in; the device is at hand. */
export const TWO_FACTOR_LIFE_MS = 5 * 60 * 1000;
/** Time to use a passkey after the browser was asked for it; people look for their phones. */
export const CHALLENGE_LIFE_MS = 5 * 60 * 1000;
/** Time to confirm a new two-factor secret; the user may have to install an app first. */
export const NEW_TOTP_LIFE_MS = 30 * 60 * 1000;
/** Recovery codes of an account; each works once. */
export const RECOVERY_CODES = 10;
/** Life and size of a form draft that outlives its session; signing in again takes minutes. */
export const DRAFT_LIFE_MS = 60 * 60 * 1000;
export const DRAFT_LIMIT_BYTES = 24 * 1024;
/** Failed sign-ins per account and minute in the audit log; an attack must not fill it. */
export const LOGGED_FAILED_SIGN_INS_PER_MINUTE = 1;
/** How long an account remembers a browser after a sign-in; people return within a year. */
export const DEVICE_LIFE_MS = 365 * 24 * 60 * 60 * 1000;
/** How long the page after a change offers to undo it. */
export const UNDO_LIFE_MS = 60 * 60 * 1000;
/** How long a browser keeps its theme, and that it hides the steps of a new shop. */
export const PREFERENCE_LIFE_MS = 365 * 24 * 60 * 60 * 1000;
/** How long the overview of a shop with products shows these steps. */
export const TOUR_LIFE_MS = 30 * 24 * 60 * 60 * 1000;
/** Registrations per hour: per invitation, or per client address when none is required. */
export const REGISTRATIONS_PER_ADDRESS_PER_HOUR = 10;
/** Requests per session, and per address that is not signed in; people send far fewer. */
export const PORTAL_REQUESTS_PER_MINUTE = 600;
export const PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE = 120;
/**
 * Concurrent live pages and downloads of an account, and of all accounts of a shop. Browsers open
 * at most six connections to a server, and only visible pages are live.
 */
export const STREAMS_PER_ACCOUNT_LIMIT = 10;
export const PORTAL_STREAMS_PER_SELLER_LIMIT = 50;
/** Characters of `User-Agent` and `Accept-Language` that are read; anyone can send them. */
export const USER_AGENT_LIMIT_CHARACTERS = 200;
export const ACCEPT_LANGUAGE_LIMIT_CHARACTERS = 200;
/** Longest cookies that are decrypted; ours are shorter. */
export const DEVICE_COOKIE_LIMIT_CHARACTERS = 400;
export const TWO_FACTOR_COOKIE_LIMIT_CHARACTERS = 4_000;
/** Longest page to return to after the sign-in; the cookie of a pending sign-in contains it. */
export const RETURN_PATH_LIMIT_CHARACTERS = 1_000;
/** Longest encrypted challenge of a passkey that is decrypted; ours are shorter. */
export const CHALLENGE_LIMIT_CHARACTERS = 400;

/** Rows per list page; the page stays below 50 KiB, whatever the rows contain. */
export const PORTAL_PAGE_ROWS = 25;
export const PORTAL_PAGE_PRODUCTS = 50;
export const ACTIVITY_PAGE_SIZE = 50;
/** Bytes of a reason, a source and a key name on a list page; the rest is cut off. */
export const REASON_BYTES = 250;
export const SOURCE_BYTES = 100;
export const KEY_NAME_BYTES = 120;
/** Movements in a product's stock plot; the eye cannot separate more. */
export const PLOT_MOVEMENTS_LIMIT = 200;
/** Periods of reports in days, and the products among the top movers. */
export const REPORT_PERIODS: readonly number[] = [30, 90, 365];
export const TOP_MOVERS_SHOWN = 10;
/**
 * How long a report waits for what is calculated the first time, and shops whose sums and top
 * movers a process keeps; each has up to a few hundred numbers.
 */
export const REPORT_WAIT_MS = 1_000;
export const REPORTS_KEPT_LIMIT = 1_000;
/** Search: length, matches of a kind on the page of all kinds and on its own, and keys searched. */
export const SEARCH_LIMIT_CODE_POINTS = 200;
export const SEARCH_GROUP_ROWS = 10;
export const SEARCH_KIND_ROWS = 50;
export const KEYS_SEARCHED_LIMIT = 500;
/** Saved filters: all links together take a seventh of a list's page at most. */
export const SAVED_FILTER_NAME_LIMIT_CODE_POINTS = 60;
export const SAVED_FILTER_LIMIT_CHARACTERS = 200;
/** The newest changes on the page of a leaked key. */
export const KEY_CHANGES_SHOWN = 5;
/** Text in which a pasted key is searched; a line of a configuration file fits. */
export const PASTED_KEY_LIMIT_CHARACTERS = 1_000;
/** Form without a file, its fields, and the CSRF token before a file; our forms need less. */
export const FORM_LIMIT_BYTES = 512 * 1024;
export const FORM_FIELDS_LIMIT = 200;
export const CSRF_TOKEN_LIMIT_BYTES = 100;
/** Cached formats, one per locale, time zone and currency; clients choose their locale. */
export const PORTAL_FORMATS_LIMIT = 100;
/** Overview: days of stock movements, low-stock products listed, and low-stock products counted. */
export const OVERVIEW_DAYS = 30;
export const LOW_STOCK_SHOWN = 10;
export const LOW_STOCK_COUNT_LIMIT = 10_000;
/** Attempts to save a product whose stock changes concurrently; each one reads it again. */
export const EDIT_ATTEMPTS_LIMIT = 10;
/** Changes that a live page catches up on; beyond that it says that it missed some. */
export const LIVE_CATCH_UP_LIMIT = 1_000;

/** Uploaded file; a million rows fit. */
export const UPLOAD_LIMIT_BYTES = 256 * 1024 * 1024;
/** Minimum upload rate after a grace period; a slower upload would hold its slot for hours. */
export const UPLOAD_MIN_RATE_BYTES_PER_SECOND = 16 * 1024;
export const UPLOAD_GRACE_MS = 30_000;
/** Concurrent uploads, in total and per seller; each writes to disk. */
export const CONCURRENT_UPLOADS_LIMIT = 8;
export const CONCURRENT_UPLOADS_PER_SELLER_LIMIT = 2;
/**
 * Imports kept with their files, in the memory of a process and per seller; more than can run, so
 * an idle one can always be removed for the next.
 */
export const IMPORTS_KEPT_LIMIT = 40;
export const IMPORTS_KEPT_PER_SELLER_LIMIT = 5;
/** Disk space of all kept files; the least recently used are removed first. */
export const UPLOADS_KEPT_LIMIT_BYTES = 4 * 1024 * 1024 * 1024;
/** Uploads are written to their file in chunks of at least this size. */
export const UPLOAD_CHUNK_BYTES = 64 * 1024;
/**
 * How often a running import stores its progress; a cancellation through another node takes as
 * long. If it is silent for longer than the limit, the others regard its node as stopped.
 */
export const IMPORT_PROGRESS_INTERVAL_MS = 1_000;
export const IMPORT_SILENCE_LIMIT_MS = 15_000;
/** Attempts to store the end of an import, at the same interval: a database may fail over. */
export const IMPORT_END_ATTEMPTS = 60;
/** How long an abandoned import is kept, and how often the server looks for them. */
export const IMPORT_LIFE_MS = 24 * 60 * 60 * 1000;
export const IMPORT_SWEEP_INTERVAL_MS = 60 * 60 * 1000;
/** Size of the rejected-rows file; rows beyond it are only counted. */
export const REJECTED_ROWS_LIMIT_BYTES = 64 * 1024 * 1024;
/** Rows that a preview reads, which takes a few seconds. */
export const PREVIEW_ROWS_LIMIT = 500_000;
/** Examples in a preview: rows of each kind, and changed members; one page shows them all. */
export const PREVIEW_ROWS_SHOWN = 20;
export const DIFFERENCES_SHOWN = 20;
/** Bytes of a text in a preview, and of the reason for a rejected row. */
export const PREVIEW_TEXT_BYTES = 80;
export const PREVIEW_REASON_BYTES = 300;
/** Example rows of a file, and characters of each text; enough to recognize the columns. */
export const EXAMPLE_ROWS = 3;
export const EXAMPLE_LIMIT_CHARACTERS = 40;
/** Assignable columns of a file, and bytes of each column's name and examples. */
export const IMPORT_COLUMNS_SHOWN = 40;
export const COLUMN_NAME_BYTES = 40;
export const COLUMN_EXAMPLES_BYTES = 100;
/** Characters of a file name on a page. */
export const FILE_NAME_LIMIT_CHARACTERS = 100;
/** Products of one batch of a bulk edit; other writes wait while it commits. */
export const BULK_BATCH_PRODUCTS = 500;
/** Attempts to list the products of a bulk edit, and the pause between them; each takes seconds. */
export const BULK_ATTEMPTS_LIMIT = 30;
export const BULK_RETRY_MS = 1_000;
/** Categories that a form suggests. */
export const CATEGORIES_SUGGESTED = 50;
/** How long a page waits for an import that it started; most files finish within it. */
export const IMPORT_SETTLE_MS = 1_000;

/** Interval of writes to a session's last-seen time; one small write a minute. */
export const SESSION_SEEN_INTERVAL_MS = 60_000;

/** Webhooks in the banner of the overview, and newest attempts of each that are searched. */
export const WEBHOOK_BANNER_ROWS = 3;
export const WEBHOOK_BANNER_ATTEMPTS = 10;
/** How long "Retry now" waits for its attempt, and how often it looks; the user watches. */
export const WEBHOOK_RETRY_WAIT_MS = 3_000;
export const WEBHOOK_RETRY_POLL_MS = 50;
