/** Every limit of the imports of the portal. */

/** A file that is uploaded to the portal; uploads under way, in all and of one seller. */
export const UPLOAD_LIMIT_BYTES = 256 * 1024 * 1024;
export const UPLOADS_AT_ONCE_LIMIT = 8;
export const UPLOADS_PER_SELLER_LIMIT = 2;
/**
 * Imports of the portal that are remembered, and whose files are kept, in all and of one seller:
 * more than may be under way, so that there is always one to forget for the next.
 */
export const IMPORTS_KEPT_LIMIT = 40;
export const IMPORTS_KEPT_PER_SELLER_LIMIT = 5;
/** How long one is kept that nobody goes on with, and how often such ones are looked for. */
export const IMPORT_LIFE_MS = 24 * 60 * 60 * 1000;
export const IMPORT_SWEEP_INTERVAL_MS = 60 * 60 * 1000;
/** Of its refused rows, in the file for the seller. */
export const REFUSED_ROWS_LIMIT_BYTES = 64 * 1024 * 1024;
/** Rows that a preview looks at; and those that it shows, of each kind. */
export const PREVIEW_ROWS_LIMIT = 500_000;
export const PREVIEW_ROWS_SHOWN = 20;
/** Rows at the beginning of a file that are shown as examples, and how much of a text. */
export const EXAMPLE_ROWS = 3;
export const EXAMPLE_LIMIT_CHARACTERS = 40;
/** Columns of a file that are shown, and that can be chosen for a member. */
export const IMPORT_COLUMNS_SHOWN = 50;
/** How long a page waits for what it began to end: most files take less, and are shown at once. */
export const IMPORT_SETTLE_MS = 1_000;
