/**
 * Sends a file to a server's import endpoint once, and reads the report while sending: NDJSON with
 * a line per rejected row, then a summary or the problem that ended the import.
 */
import type { RowError } from '../../transfer/import-advice.ts';
import { formatRowErrors } from '../../transfer/rejected-rows.ts';
import type { ImportOptions, ImportRow, SellerClient } from '../../client/index.ts';
import { CommandFailure } from '../command.ts';
import { COUNTS } from '../format.ts';
import { printable } from '../printable.ts';
import { asMembers } from '../remote/api-error.ts';
import { type ImportSource, readSource } from './product-file.ts';

export interface ImportRun {
  readonly client: SellerClient;
  readonly source: ImportSource;
  /** A retry with the same `idempotencyKey` repeats no committed batch, but reports it again. */
  readonly options: ImportOptions;
  onSent(rows: number, bytes: number): void;
  onRejected(row: RejectedRow): Promise<void>;
}

export interface RejectedRow {
  /** The line of the file that the row begins on, from 1. */
  readonly line: number;
  /** Safe to print; empty if unknown. */
  readonly sku: string;
  /** Why it was rejected, in one line that is safe to print. */
  readonly reason: string;
  /** The validation errors, safe to print. */
  readonly errors: readonly RowError[];
}

export interface ImportSummary extends Readonly<Record<keyof typeof COUNTS, number>> {
  readonly position: number;
  /** Columns that the import ignored. */
  readonly ignoredColumns: readonly string[];
}

const MEDIA_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/** @throws CommandFailure if the file cannot be read; the client's errors */
export async function sendImport(run: ImportRun): Promise<ImportSummary> {
  const { client, source, options, onSent, onRejected } = run;
  const report = await client.products.import(readSource(source, onSent), {
    ...options, type: MEDIA_TYPES[source.format], isGzip: source.isCompressed,
  });
  for await (const row of report) {
    if (row.status === 'failed') await onRejected(readRejectedRow(row));
  }
  return readSummary(await report.summary());
}

function readSummary(value: unknown): ImportSummary {
  const members = asMembers(value);
  const counts = [...Object.keys(COUNTS), 'position'].map((name) => {
    if (typeof members[name] === 'number') return [name, members[name]];
    throw new CommandFailure(`The summary from the server has no "${name}". Is --url right?`);
  });
  const ignored = members['ignored_columns'];
  const ignoredColumns = Array.isArray(ignored) ? ignored.map(printable) : [];
  // The cast: each count has its entry.
  return { ...Object.fromEntries(counts), ignoredColumns } as ImportSummary;
}

/** The row, safe to print whatever the server sent. */
function readRejectedRow({ line, sku, errors }: ImportRow): RejectedRow {
  const printed = (Array.isArray(errors) ? errors : []).map((error: unknown) => {
    const { pointer, code, detail } = asMembers(error);
    return { pointer: printable(pointer), code: printable(code), detail: printable(detail) };
  });
  const reason = formatRowErrors(printed);
  return { line: Number(line), sku: printable(sku), reason, errors: printed };
}
