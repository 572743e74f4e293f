/** Chunks for readers of files, and what they read of them. */
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
