/**
 * Recognises files that are neither CSV nor NDJSON by their first bytes, so that an error can call
 * them what they are.
 */
import { AppError } from '../domain/error.ts';

/** More than the white space and marks that precede a JSON array in practice. */
const HEAD_BYTES = 64;
/** Of zip files, also empty ones, and of the compound files of MS-CFB, such as .xls. */
const WORKBOOKS = [
  Buffer.from('PK\x03\x04'), Buffer.from('PK\x05\x06'), Buffer.from('d0cf11e0a1b11ae1', 'hex'),
];
const WORKBOOK_DETAIL = {
  csv: 'This is a workbook or a zip file. Save it as "CSV UTF-8" and send that.',
  ndjson: 'This is a workbook or a zip file, not NDJSON. Send a workbook as CSV: as text/csv.',
};
const STARTS: readonly (readonly [start: Buffer, detail: string])[] = [
  [Buffer.from([0x1f, 0x8b]),
    'This file is compressed with gzip. Decompress it, or send "content-encoding: gzip".'],
  [Buffer.from('%PDF-'), 'This is a PDF. Send a CSV or NDJSON file.'],
];
const MARKUP = /^\s*<(?:!doctype|!--|\?xml|\?mso|html|head|body|table|meta|style|[a-z]+:)/i;
const MARKUP_DETAIL = 'This is HTML or XML, which some programs call Excel. Open it in a '
  + 'spreadsheet, save it as "CSV UTF-8", and send that.';
const JSON_ARRAY = /^\s*\[\s*(?:[{["\]]|$)/;
const JSON_OBJECT = /^\s*\{\s*(?:"|$)/;
const ARRAY_DETAIL = 'This is a JSON array. Send NDJSON: a line for each object, without the '
  + 'brackets and commas around them.';
/** A first line of texts with a delimiter. */
const CSV_START = /^\s*["\p{L}][^\r\n{]*[,;\t|]/u;
const CSV_DETAIL = 'This is CSV, not NDJSON. Send it as text/csv.';
const OBJECT_DETAIL = 'This is JSON, not CSV. Send it as NDJSON: a line for each object.';

type TextFormat = 'csv' | 'ndjson';

/** @throws AppError `invalid_data` for a file that is not a text of rows */
function assertRows(head: Buffer, format: TextFormat): void {
  const [, detail] = STARTS.find(([start]) => head.indexOf(start) === 0) ?? [];
  if (detail !== undefined) throw new AppError('invalid_data', detail);
  if (isWorkbookStart(head)) throw new AppError('invalid_data', WORKBOOK_DETAIL[format]);
  const text = head.toString().replace(/^\uFEFF/, '');
  if (MARKUP.test(text)) throw new AppError('invalid_data', MARKUP_DETAIL);
  if (JSON_ARRAY.test(text)) throw new AppError('invalid_data', ARRAY_DETAIL);
  const other = format === 'csv' ? JSON_OBJECT : CSV_START;
  if (!other.test(text)) return;
  throw new AppError('invalid_data', format === 'csv' ? OBJECT_DETAIL : CSV_DETAIL);
}

/** Whether a file that begins like this may be a workbook. */
export function isWorkbookStart(start: Uint8Array): boolean {
  return WORKBOOKS.some((bytes) => bytes.equals(start.subarray(0, bytes.length)));
}

/** Passes the chunks on, of which the first one has what a file is recognised by. */
export async function* gatherStart(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (!head) yield chunk;
    else {
      head = Buffer.concat([head, chunk]);
      if (head.length < HEAD_BYTES) continue;
      yield head;
      head = undefined;
    }
  }
  if (head) yield head;
}

/** Passes the chunks on, once the first of them are known to be a text of rows. */
export async function* checkRows(
  chunks: AsyncIterable<Uint8Array>, format: TextFormat,
): AsyncGenerator<Uint8Array, void, void> {
  let isChecked = false;
  for await (const chunk of gatherStart(chunks)) {
    if (!isChecked) assertRows(Buffer.from(chunk.subarray(0, HEAD_BYTES)), format);
    isChecked = true;
    yield chunk;
  }
}
