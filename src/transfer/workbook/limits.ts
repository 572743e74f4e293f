/** Limits of workbooks. Rows, columns and records have those of imported files. */

/** Size of the directory of the zip file, which has about 100 bytes for each of its parts. */
export const WORKBOOK_DIRECTORY_LIMIT_BYTES = 4 * 1024 * 1024;
/**
 * Decompressed size of a sheet, or of the shared texts; a million rows of 40 cells fit. It also
 * limits what a small file expands to, since deflate expands by up to 1,032 times.
 */
export const WORKBOOK_INFLATED_LIMIT_BYTES = 2 * 1024 ** 3;
/** Decompressed size of every other part, such as cell formats; most have less than 1 MiB. */
export const WORKBOOK_PART_LIMIT_BYTES = 16 * 1024 * 1024;
/** Shared texts, which are kept in memory, with 8 bytes for each; a million rows with two fit. */
export const WORKBOOK_STRINGS_LIMIT_BYTES = 128 * 1024 * 1024;
/** Nested elements of XML, and text between two marks; a cell has at most 32,767 characters. */
export const WORKBOOK_NESTING_LIMIT = 64;
export const WORKBOOK_TOKEN_LIMIT_CHARACTERS = 1024 * 1024;
/** Rows of all merged cells of a sheet, added up; they are kept in memory. */
export const WORKBOOK_MERGED_ROWS_LIMIT = 200_000;
/** Rows of a sheet, and characters of a shared text, which many cells may have, by Excel. */
export const SHEET_ROWS_LIMIT = 1_048_576;
export const SHARED_STRING_LIMIT_CHARACTERS = 32_767;
/** Names of sheets in an error. */
export const WORKBOOK_SHEETS_LISTED_LIMIT = 20;
