/** Limits of the portal: of its sign-in, its pages and its imports. */

/** Concurrent password checks of a signed-in account; one person types one password. */
export const CONCURRENT_PASSWORD_CHECKS_PER_ACCOUNT_LIMIT = 2;
/** Failed sign-ins a minute per client address; more get 429, which slows guessing. */
export const FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE = 30;
/**
 * Failed sign-ins of one account in a window; a browser that the account has used before is
 * counted apart, so that strangers cannot lock its owner out.
 */
export const FAILED_SIGN_INS_LIMIT = 10;
export const SIGN_IN_WINDOW_MS = 15 * 60 * 1000;
/**
 * Wrong one-time passwords in a window; with three valid ones in a million, guessing one within
 * a year has a chance of 1 %.
 */
export const FAILED_TOTP_LIMIT = 10;
export const TOTP_WINDOW_MS = 24 * 60 * 60 * 1000;
/** Time between the password and the code of a sign-in; a person has the device at hand. */
export const TWO_FACTOR_LIFE_MS = 5 * 60 * 1000;
/** Time to confirm a new two-factor secret; an app may have to be installed. */
export const NEW_TOTP_LIFE_MS = 30 * 60 * 1000;
/** Recovery codes of an account; each works once. */
export const RECOVERY_CODES = 10;
/** Life and size of a form draft that outlives its session; signing in again takes minutes. */
export const DRAFT_LIFE_MS = 60 * 60 * 1000;
export const DRAFT_LIMIT_BYTES = 24 * 1024;
/** Failed sign-ins of an account in the audit log; an attack must not fill it. */
export const LOGGED_FAILED_SIGN_INS_PER_MINUTE = 1;
/** How long a browser is known to an account after it signed in; people return within a year. */
export const DEVICE_LIFE_MS = 365 * 24 * 60 * 60 * 1000;
/** Registrations an hour per client address, where they need no invitation. */
export const REGISTRATIONS_PER_ADDRESS_PER_HOUR = 10;
/** Requests of one session, and of one address that is not signed in; people send far fewer. */
export const PORTAL_REQUESTS_PER_MINUTE = 600;
export const PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE = 120;
/** Characters of `User-Agent` and `Accept-Language` that are read; they come from anyone. */
export const USER_AGENT_LIMIT_CHARACTERS = 200;
export const ACCEPT_LANGUAGE_LIMIT_CHARACTERS = 200;
/** Longest cookies that are decrypted; ours are shorter. */
export const DEVICE_COOKIE_LIMIT_CHARACTERS = 400;
export const TWO_FACTOR_COOKIE_LIMIT_CHARACTERS = 4_000;

/** Rows of a list on one page; whatever is in them, it stays below 50 KiB. */
export const PORTAL_PAGE_ROWS = 25;
export const PORTAL_PAGE_PRODUCTS = 50;
export const ACTIVITY_PAGE_SIZE = 50;
/** Bytes of a reason, a source and a key name on a list page; the rest is cut off. */
export const REASON_BYTES = 250;
export const SOURCE_BYTES = 100;
export const KEY_NAME_BYTES = 120;
/** Movements in the plot of a product; more are not told apart. */
export const PLOT_MOVEMENTS_LIMIT = 200;
/** Form without a file, its fields, and the CSRF token before a file; no form of ours has more. */
export const FORM_LIMIT_BYTES = 64 * 1024;
export const FORM_FIELDS_LIMIT = 200;
export const CSRF_TOKEN_LIMIT_BYTES = 100;
/** Cached formats, one per locale, time zone and currency; clients choose their locale. */
export const PORTAL_FORMATS_LIMIT = 100;
/** Overview: days of stock movements, products low in stock, and up to where those are counted. */
export const OVERVIEW_DAYS = 30;
export const LOW_STOCK_SHOWN = 10;
export const LOW_STOCK_COUNT_LIMIT = 10_000;
/** Attempts to save a product whose stock changes at the same time; each reads it again. */
export const EDIT_ATTEMPTS_LIMIT = 10;
/** Changes with which a page catches up; with more it says that it missed some. */
export const LIVE_CATCH_UP_LIMIT = 1_000;

/** Uploaded file; a million rows fit. */
export const UPLOAD_LIMIT_BYTES = 256 * 1024 * 1024;
/** Minimum rate of an upload after a grace period; slower ones hold a slot for hours. */
export const UPLOAD_MIN_RATE_BYTES_PER_SECOND = 16 * 1024;
export const UPLOAD_GRACE_MS = 30_000;
/** Concurrent uploads, in total and per seller; each writes to disk. */
export const CONCURRENT_UPLOADS_LIMIT = 8;
export const CONCURRENT_UPLOADS_PER_SELLER_LIMIT = 2;
/**
 * Imports that are kept with their files, in total and per seller; more than can run, so that one
 * can always be removed for the next.
 */
export const IMPORTS_KEPT_LIMIT = 40;
export const IMPORTS_KEPT_PER_SELLER_LIMIT = 5;
/** Disk space of all kept files; those untouched longest are removed first. */
export const UPLOADS_KEPT_LIMIT_BYTES = 4 * 1024 * 1024 * 1024;
/** How long an import is kept that nobody continues, and how often such ones are looked for. */
export const IMPORT_LIFE_MS = 24 * 60 * 60 * 1000;
export const IMPORT_SWEEP_INTERVAL_MS = 60 * 60 * 1000;
/** File of rejected rows; the rest are counted. */
export const REJECTED_ROWS_LIMIT_BYTES = 64 * 1024 * 1024;
/** Rows that a preview reads; it takes some seconds. */
export const PREVIEW_ROWS_LIMIT = 500_000;
/** Examples in a preview: rows of each kind, and members that change; a page shows them. */
export const PREVIEW_ROWS_SHOWN = 20;
export const DIFFERENCES_SHOWN = 30;
/** Bytes of a text in a preview, and of the reason why a row is rejected. */
export const PREVIEW_TEXT_BYTES = 80;
export const PREVIEW_REASON_BYTES = 300;
/** Example rows of a file, and characters of each text; enough to recognise the columns. */
export const EXAMPLE_ROWS = 3;
export const EXAMPLE_LIMIT_CHARACTERS = 40;
/** Columns of a file that can be assigned, and bytes of the name and examples of each. */
export const IMPORT_COLUMNS_SHOWN = 40;
export const COLUMN_NAME_BYTES = 40;
export const COLUMN_EXAMPLES_BYTES = 100;
/** Characters of a file name that are shown. */
export const FILE_NAME_LIMIT_CHARACTERS = 100;
/** How long a page waits for an import that it started; most files finish within it. */
export const IMPORT_SETTLE_MS = 1_000;

/** How often it is written that a session was used; one small write a minute. */
export const SESSION_SEEN_INTERVAL_MS = 60_000;
