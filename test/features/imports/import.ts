/** Sends files to be imported, and reads the lines of the responses. */
import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Answer } from '../../support/http.ts';
import { parseLastLine } from '../../support/import-id.ts';
import type { TestSeller } from '../../support/server.ts';

export const IMPORT = '/api/v1/products/import';
export const CSV_HEADER = 'name,category,sku,price,stock\n';

interface File {
  readonly body: string | Uint8Array;
  /** The query string, without `?`. */
  readonly query?: string;
  readonly type?: string;
  readonly headers?: OutgoingHttpHeaders;
}

export function sendFile(
  seller: TestSeller, { body, query = '', type = 'text/csv', headers }: File,
): Promise<Answer> {
  const path = query === '' ? IMPORT : `${IMPORT}?${query}`;
  return seller.send({ method: 'POST', path, headers: { 'content-type': type, ...headers }, body });
}

/** The lines of a response: the rows, and the last line without the import id. */
export function readLines(answer: Answer) {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['content-type'], 'application/x-ndjson');
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.ok(answer.text.endsWith('\n'));
  const lines = answer.text.trimEnd().split('\n');
  return {
    rows: lines.slice(0, -1).map((line) => JSON.parse(line)),
    last: parseLastLine(lines.at(-1) ?? ''),
  };
}

/** Imports a valid file, and returns its summary and the rows. */
export async function importFile(seller: TestSeller, file: File) {
  const { rows, last } = readLines(await sendFile(seller, file));
  assert.ok(last.summary, JSON.stringify(last));
  return { rows, summary: last.summary };
}

/** CSV rows of `count` products, numbered from `from`. */
export function makeRows(count: number, from = 1): string {
  return Array.from({ length: count }, (_, n) =>
    `Product ${from + n},Kitchen,SKU-${from + n},19.99,7\n`).join('');
}

/** What a summary says of a blank row. */
export const ONE_BLANK_ROW = {
  skipped: 1, skip_reasons: { blank: 1 }, notes: ['Skipped rows: 1 without any text.'],
};

/** A summary with these counts, and 0 for all others. */
export function counts(given: Readonly<Record<string, unknown>>) {
  return { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0, ...given };
}
