/** Limits of the files that are imported. */

/** Record of a CSV file or line of NDJSON; shops put whole HTML descriptions into one. */
export const IMPORT_RECORD_LIMIT_BYTES = 256 * 1024;
/** Consecutive lines with nothing on them; a file of blank lines must end. */
export const IMPORT_BLANK_LINES_LIMIT = 10_000;
/** Columns of a CSV file; the exports of shops have up to a few hundred. */
export const IMPORT_COLUMNS_LIMIT = 1_000;
/** Rows of one batch, or fewer with this much text; other writes wait while it commits. */
export const IMPORT_BATCH_ROWS = 1_000;
export const IMPORT_BATCH_LIMIT_CHARACTERS = 1024 * 1024;
/** Rows of an import that one time slice reads; it takes a few milliseconds. */
export const IMPORT_SLICE_ROWS = 100;
/** Products with variants whose categories an import remembers; the oldest is dropped first. */
export const IMPORT_PARENTS_LIMIT = 10_000;
/** Columns that the summary of an import lists as ignored; it stays readable. */
export const IMPORT_IGNORED_COLUMNS_LIMIT = 100;
/** Line of a report or export that a client reads; records are far shorter. */
export const LINE_LIMIT_BYTES = 1024 * 1024;
