/**
 * Recognises files that are neither CSV nor NDJSON by their first bytes, so that an error can call
 * them what they are.
 */
import { AppError } from '../domain/error.ts';

/** More than the white space and marks that precede a JSON array in practice. */
const HEAD_BYTES = 64;
const SAVE_AS = 'Save it as "CSV UTF-8" and send that file.';
const STARTS: readonly (readonly [start: Buffer, detail: string])[] = [
  [Buffer.from('PK\x03\x04'), `This is a workbook (.xlsx, .ods) or a .zip file. ${SAVE_AS}`],
  [Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), `This is an Excel workbook (.xls). ${SAVE_AS}`],
  [Buffer.from([0x1f, 0x8b]),
    'This file is compressed with gzip. Decompress it, or send "content-encoding: gzip".'],
  [Buffer.from('%PDF-'), 'This is a PDF. Send a CSV or NDJSON file.'],
];
const JSON_ARRAY = /^\s*\[\s*(?:[{["\]]|$)/;
const JSON_OBJECT = /^\s*\{\s*(?:"|$)/;
const ARRAY_DETAIL = 'This is a JSON array. Send NDJSON: a line for each object, without the '
  + 'brackets and commas around them.';
const OBJECT_DETAIL = 'This is JSON, not CSV. Send it as NDJSON: a line for each object.';

type TextFormat = 'csv' | 'ndjson';

/** @throws AppError `invalid_data` for a file that is not a text of rows */
function assertRows(head: Buffer, format: TextFormat): void {
  const [, detail] = STARTS.find(([start]) => head.indexOf(start) === 0) ?? [];
  if (detail !== undefined) throw new AppError('invalid_data', detail);
  const text = head.toString().replace(/^\uFEFF/, '');
  if (JSON_ARRAY.test(text)) throw new AppError('invalid_data', ARRAY_DETAIL);
  if (format === 'csv' && JSON_OBJECT.test(text)) throw new AppError('invalid_data', OBJECT_DETAIL);
}

/** Passes the chunks on, once the first of them are known to be a text of rows. */
export async function* checkRows(
  chunks: AsyncIterable<Uint8Array>, format: TextFormat,
): AsyncGenerator<Uint8Array, void, void> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (!head) yield chunk;
    else if (head.length + chunk.length < HEAD_BYTES) head = Buffer.concat([head, chunk]);
    else {
      const start = Buffer.concat([head, chunk]);
      assertRows(start.subarray(0, HEAD_BYTES), format);
      head = undefined;
      yield start;
    }
  }
  if (!head) return;
  assertRows(head, format);
  yield head;
}
