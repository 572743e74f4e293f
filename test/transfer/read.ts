/** Feeds chunks to file readers, and collects the records or rows that they read. */
import assert from 'node:assert/strict';
import { IMPORT_SLICE_ROWS } from '../../src/transfer/limits.ts';
import type { Currency } from '../../src/domain/catalogue/currency.ts';
import { CsvReader, type CsvRecord } from '../../src/transfer/csv-reader.ts';
import type { ImportRow, RowReader } from '../../src/transfer/import-row.ts';

/** The bytes in chunks of that size. */
export async function* chunksOf(
  content: string | Uint8Array, sizeBytes = 64 * 1024,
): AsyncGenerator<Uint8Array, void, void> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  for (let at = 0; at < bytes.length; at += sizeBytes) yield bytes.subarray(at, at + sizeBytes);
}

export async function readRecords(
  content: string | Uint8Array, sizeBytes?: number,
): Promise<CsvRecord[]> {
  const records: CsvRecord[] = [];
  const chunks = chunksOf(content, sizeBytes);
  for await (const batch of new CsvReader().read(chunks)) records.push(...batch);
  return records;
}

export async function readRows(reader: RowReader, content: string | Uint8Array) {
  const rows: ImportRow[] = [];
  for await (const batch of reader.read(chunksOf(content))) rows.push(...batch);
  return rows;
}

/** Asserts that the 250 rows before an error arrive in slices, each parsed when it is read. */
export async function assertSliced(
  makeReader: (currency: Currency) => RowReader, chunks: AsyncIterable<Uint8Array>, fault: RegExp,
): Promise<void> {
  let parsed = 0;
  const counting = {
    code: 'EUR',
    get decimals() {
      parsed += 1;
      return 2;
    },
  };
  const sizes: number[] = [];
  await assert.rejects(async () => {
    for await (const rows of makeReader(counting).read(chunks)) {
      if (sizes.length === 0) assert.equal(parsed, IMPORT_SLICE_ROWS);
      sizes.push(rows.length);
    }
  }, fault);
  assert.deepEqual(sizes, [100, 100, 50]);
}
