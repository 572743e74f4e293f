/** The limits of the portal alone: of its sign-in, its pages and its imports. */

/** Those of one account whose owner is signed in, and is asked again. */
export const CONCURRENT_PASSWORD_CHECKS_PER_ACCOUNT_LIMIT = 2;
/** Refused sign-ins a minute from one address, and of one account from wherever, ... */
export const FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE = 30;
/** ... or from a browser that the account has used before, which has a count of its own. */
export const FAILED_SIGN_INS_LIMIT = 10;
export const SIGN_IN_WINDOW_MS = 15 * 60 * 1000;
/** Wrong one-time passwords: with three good ones in a million, a hundredth to guess in a year. */
export const FAILED_TOTP_LIMIT = 10;
export const TOTP_WINDOW_MS = 24 * 60 * 60 * 1000;
/** From the password of a sign-in to its code; from a new secret to the code that confirms it. */
export const TWO_FACTOR_LIFE_MS = 5 * 60 * 1000;
export const NEW_TOTP_LIFE_MS = 30 * 60 * 1000;
export const RECOVERY_CODES = 10;
/** Drafts of forms whose session has ended: how long they are valid, and their maximum size. */
export const DRAFT_LIFE_MS = 60 * 60 * 1000;
export const DRAFT_LIMIT_BYTES = 24 * 1024;
/** How often the log takes down that a sign-in to an account was refused. */
export const LOGGED_FAILED_SIGN_INS_PER_MINUTE = 1;
/** How long a browser is known to an account after it signed in. */
export const DEVICE_LIFE_MS = 365 * 24 * 60 * 60 * 1000;
/** Shops opened from one address without an invitation, where anybody may open one. */
export const REGISTRATIONS_PER_ADDRESS_PER_HOUR = 10;
/** Requests a minute: of one session, and of one address that is not signed in. */
export const PORTAL_REQUESTS_PER_MINUTE = 600;
export const PORTAL_ANONYMOUS_REQUESTS_PER_MINUTE = 120;
/** What is kept of the name of a browser, and heeded of the languages that it asks for. */
export const USER_AGENT_LIMIT_CHARACTERS = 200;
export const ACCEPT_LANGUAGE_LIMIT_CHARACTERS = 200;
/** Longer ones are not opened. */
export const DEVICE_COOKIE_LIMIT_CHARACTERS = 400;
export const TWO_FACTOR_COOKIE_LIMIT_CHARACTERS = 4_000;

/** Rows of a list on one page of the portal, which stays below 50 KiB whatever is in them. */
export const PORTAL_PAGE_ROWS = 25;
export const PORTAL_PAGE_PRODUCTS = 50;
export const ACTIVITY_PAGE_SIZE = 50;
/** What texts take of it at most: why stock moved, where that was said, and by which key. */
export const REASON_BYTES = 250;
export const SOURCE_BYTES = 100;
export const KEY_NAME_BYTES = 120;
/** Movements in the plot of a product. */
export const PLOT_MOVEMENTS_LIMIT = 200;
/** A form, but for a file, and the token that stands before a file. */
export const FORM_LIMIT_BYTES = 64 * 1024;
export const FORM_FIELDS_LIMIT = 200;
export const CSRF_TOKEN_LIMIT_BYTES = 100;
/** Ways to write numbers and times that are kept: one for each locale, time zone and currency. */
export const PORTAL_FORMATS_LIMIT = 100;
/** Of the overview: days of stock that moved, products that are low, how far those are counted. */
export const OVERVIEW_DAYS = 30;
export const LOW_STOCK_SHOWN = 10;
export const LOW_STOCK_COUNT_LIMIT = 10_000;
/** Tries to save a product whose stock moves at the same time. */
export const EDIT_ATTEMPTS_LIMIT = 10;
/** Changes that a page catches up with; with more it is told that it missed some. */
export const LIVE_CATCH_UP_LIMIT = 1_000;

/** A file that is uploaded to the portal, and how fast it has to come, after a time of grace. */
export const UPLOAD_LIMIT_BYTES = 256 * 1024 * 1024;
export const UPLOAD_MIN_RATE_BYTES_PER_SECOND = 16 * 1024;
export const UPLOAD_GRACE_MS = 30_000;
/** Uploads under way, in all and of one seller. */
export const CONCURRENT_UPLOADS_LIMIT = 8;
export const CONCURRENT_UPLOADS_PER_SELLER_LIMIT = 2;
/**
 * Imports of the portal that are remembered, and whose files are kept, in all and of one seller:
 * more than may be under way, so that there is always one to forget for the next.
 */
export const IMPORTS_KEPT_LIMIT = 40;
export const IMPORTS_KEPT_PER_SELLER_LIMIT = 5;
/** Of all their files together; those that are longest untouched are forgotten first. */
export const UPLOADS_KEPT_LIMIT_BYTES = 4 * 1024 * 1024 * 1024;
/** How long one is kept that nobody goes on with, and how often such ones are looked for. */
export const IMPORT_LIFE_MS = 24 * 60 * 60 * 1000;
export const IMPORT_SWEEP_INTERVAL_MS = 60 * 60 * 1000;
/** Of its refused rows, in the file for the seller. */
export const REJECTED_ROWS_LIMIT_BYTES = 64 * 1024 * 1024;
/** Rows that a preview looks at. */
export const PREVIEW_ROWS_LIMIT = 500_000;
/** Of a preview: products that would be changed, their members, and rows that would be refused. */
export const PREVIEW_ROWS_SHOWN = 20;
export const DIFFERENCES_SHOWN = 30;
/** What a text takes there at most, and what a reason why a row is refused does. */
export const PREVIEW_TEXT_BYTES = 80;
export const PREVIEW_REASON_BYTES = 300;
/** Rows at the beginning of a file that are shown as examples, and how much is kept of a text. */
export const EXAMPLE_ROWS = 3;
export const EXAMPLE_LIMIT_CHARACTERS = 40;
/** Columns of a file that are shown, and that can be chosen for a member; what each takes. */
export const IMPORT_COLUMNS_SHOWN = 40;
export const COLUMN_NAME_BYTES = 40;
export const COLUMN_EXAMPLES_BYTES = 100;
/** The name of a file; the rest of a longer one is not shown. */
export const FILE_NAME_LIMIT_CHARACTERS = 100;
/** How long a page waits for what it began to end: most files take less, and are shown at once. */
export const IMPORT_SETTLE_MS = 1_000;

/** How often it is written that a session was used. */
export const SESSION_SEEN_INTERVAL_MS = 60_000;
