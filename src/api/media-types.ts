/** The media types of requests and responses. */

export const JSON_TYPE = 'application/json';
export const MERGE_PATCH_TYPE = 'application/merge-patch+json';
export const NDJSON_TYPE = 'application/x-ndjson';
export const CSV_TYPE = 'text/csv';
/** The parameter of an export's media type with which it ends with a record of its rows. */
export const END_RECORD = 'end=record';
export const WORKBOOK_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
export const EVENT_STREAM_TYPE = 'text/event-stream';
