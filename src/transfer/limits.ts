/** Limits of imported files. */

/** CSV record or NDJSON line; shops put whole HTML descriptions into one. */
export const IMPORT_RECORD_LIMIT_BYTES = 256 * 1024;
/** Consecutive blank lines; a file of blank lines must end. */
export const IMPORT_BLANK_LINES_LIMIT = 10_000;
/** Columns of a CSV file; shop exports have up to a few hundred. */
export const IMPORT_COLUMNS_LIMIT = 1_000;
/** Rows of one batch, or fewer with this much text; other writes wait while it commits. */
export const IMPORT_BATCH_ROWS = 1_000;
export const IMPORT_BATCH_LIMIT_CHARACTERS = 1024 * 1024;
/** Rows that one time slice of an import reads; it takes a few milliseconds. */
export const IMPORT_SLICE_ROWS = 100;
/** Products with variants whose categories an import remembers; the oldest is dropped first. */
export const IMPORT_PARENTS_LIMIT = 10_000;
/** Ignored columns that an import summary lists; it stays readable. */
export const IMPORT_IGNORED_COLUMNS_LIMIT = 100;
/** Duplicate rows that an import summary lists; the others are only counted. */
export const IMPORT_DUPLICATES_LISTED_LIMIT = 20;
/** Line of a report or export that a client reads; records are far shorter. */
export const LINE_LIMIT_BYTES = 1024 * 1024;
/** Size of a workbook, which is kept in a temporary file; a million rows fit. */
export const WORKBOOK_LIMIT_BYTES = 256 * 1024 * 1024;
