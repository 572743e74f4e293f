/** The media types of requests and responses. */

export const JSON_TYPE = 'application/json';
export const MERGE_PATCH_TYPE = 'application/merge-patch+json';
export const NDJSON_TYPE = 'application/x-ndjson';
export const CSV_TYPE = 'text/csv';
export const EVENT_STREAM_TYPE = 'text/event-stream';

/** The formats of a list, as the parameter `format` names them. */
export const LIST_FORMATS = ['json', 'ndjson', 'csv'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];

export const MEDIA_TYPE_OF: Readonly<Record<ListFormat, string>> = {
  json: JSON_TYPE, ndjson: NDJSON_TYPE, csv: CSV_TYPE,
};
