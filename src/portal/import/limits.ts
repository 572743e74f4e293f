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
