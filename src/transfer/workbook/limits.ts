/** Limits of workbooks. Rows, columns and records have those of imported files. */


/** Files in the zip file of a workbook, and the size of its directory; real ones have dozens. */
export const WORKBOOK_ENTRIES_LIMIT = 10_000;
export const WORKBOOK_DIRECTORY_LIMIT_BYTES = 4 * 1024 * 1024;
/** Decompressed size of a sheet, or of the shared texts; a million rows of 40 cells fit. */
export const WORKBOOK_INFLATED_LIMIT_BYTES = 2 * 1024 ** 3;
/** Ratio by which a part above the exempt size may expand; real sheets reach 20. */
export const WORKBOOK_RATIO_LIMIT = 500;
export const WORKBOOK_RATIO_EXEMPT_BYTES = 16 * 1024 * 1024;
/** Decompressed size of every other part, such as cell formats; most have less than 1 MiB. */
export const WORKBOOK_PART_LIMIT_BYTES = 16 * 1024 * 1024;
/** Shared texts, which are kept in memory, and their size; a million rows with two each fit. */
export const WORKBOOK_STRINGS_LIMIT = 5_000_000;
export const WORKBOOK_STRINGS_LIMIT_BYTES = 128 * 1024 * 1024;
/** Nested elements of XML, and text between two marks; a cell has at most 32,767 characters. */
export const WORKBOOK_NESTING_LIMIT = 64;
export const WORKBOOK_TOKEN_LIMIT_CHARACTERS = 1024 * 1024;
/** Rows of all merged cells of a sheet, added up; they are kept in memory. */
export const WORKBOOK_MERGED_ROWS_LIMIT = 200_000;
/** Rows of a sheet, and characters of a shared text, which many cells may have, by Excel. */
export const SHEET_ROWS_LIMIT = 1_048_576;
export const SHARED_STRING_LIMIT_CHARACTERS = 32_767;
/** Names of sheets in an error, and the length of each and of other texts of the file in errors. */
export const WORKBOOK_SHEETS_LISTED_LIMIT = 20;
export const WORKBOOK_REASON_LIMIT_CHARACTERS = 100;
