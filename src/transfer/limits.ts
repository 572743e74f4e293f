/** Limits of the files that are imported. */

/** A record of a CSV file, or a line of NDJSON: shops put whole descriptions, in HTML, into one. */
export const IMPORT_RECORD_LIMIT_BYTES = 256 * 1024;
/** Lines in a row without anything on them. */
export const IMPORT_BLANK_LINES_LIMIT = 10_000;
export const IMPORT_COLUMNS_LIMIT = 1_000;
/** What one transaction of an import holds: this many rows, or fewer that make so much text. */
export const IMPORT_BATCH_ROWS = 1_000;
export const IMPORT_BATCH_LIMIT_CHARACTERS = 1024 * 1024;
/** Rows of an import that are read before other requests get a turn of the event loop. */
export const IMPORT_SLICE_ROWS = 100;
/** Products with variants whose categories an import remembers; the oldest is forgotten first. */
export const IMPORT_PARENTS_LIMIT = 10_000;
/** Columns that the summary of an import names as ignored. */
export const IMPORT_IGNORED_COLUMNS_LIMIT = 100;

export const LINE_LIMIT_BYTES = 1024 * 1024;
