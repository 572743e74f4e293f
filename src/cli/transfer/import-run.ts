/**
 * Sends a file to a server's import endpoint once, and reads the report while sending: NDJSON with
 * a line per rejected row, then a summary or the problem that ended the import.
 */
import type { RowError } from '../../transfer/import-advice.ts';
import { readLines } from '../../transfer/ndjson.ts';
import { formatRowErrors } from '../../transfer/rejected-rows.ts';
import { type ApiServer, PRODUCTS_PATH, readBody, sendRequest } from './api-client.ts';
import { CommandFailure } from '../command.ts';
import { type ImportSource, readSource } from './product-file.ts';
import { formatCount } from '../format.ts';
import {
  asMembers, explainProblem, parseObject, printable, TemporaryFailure,
} from './api-error.ts';

export interface ImportRun {
  readonly server: ApiServer;
  readonly source: ImportSource;
  /** The parameters of the import. */
  readonly query: URLSearchParams;
  /** A retry with the same key repeats no committed batch, and reports it as before. */
  readonly idempotencyKey: string;
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

/** The counts of a summary in display order, with their labels. */
const COUNTS = {
  created: 'created', updated: 'updated', unchanged: 'unchanged', failed: 'rejected',
  skipped: 'skipped',
};

export interface ImportSummary extends Readonly<Record<keyof typeof COUNTS, number>> {
  readonly position: number;
  /** Columns that the import ignored. */
  readonly ignoredColumns: readonly string[];
}

const MEDIA_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/** @throws CommandFailure, UsageError; TemporaryFailure if a retry may succeed */
export async function sendImport(run: ImportRun): Promise<ImportSummary> {
  const { server, source, query, idempotencyKey } = run;
  const response = await sendRequest(server, {
    method: 'POST',
    path: `${PRODUCTS_PATH}/import?${query}`,
    headers: {
      'content-type': MEDIA_TYPES[source.format],
      ...(source.isCompressed && { 'content-encoding': 'gzip' }),
      'idempotency-key': `"${idempotencyKey}"`,
    },
    body: readSource(source, run.onSent),
  });
  for await (const line of readLines(readBody(server, response))) {
    const { summary, problem, ...row } = parseObject(line.toString());
    if (summary !== undefined) return readSummary(summary);
    if (problem !== undefined) {
      const members = asMembers(problem);
      const counts = formatCounts(asMembers(members['summary']));
      throw explainProblem(members, { ending: counts && `Before that: ${counts}.` });
    }
    if (row['status'] === 'failed') await run.onRejected(readRejectedRow(row));
  }
  throw new TemporaryFailure('The report from the server ended early.');
}

/** The counts of a summary: `3 created, 1 updated, ...`. */
export function formatCounts(summary: Readonly<Record<string, unknown>>): string {
  return Object.entries(COUNTS).flatMap(([name, label]) => {
    const count = summary[name];
    return typeof count === 'number' ? [`${formatCount(count)} ${label}`] : [];
  }).join(', ');
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

function readRejectedRow({ line, sku, errors }: Readonly<Record<string, unknown>>): RejectedRow {
  const printed = (Array.isArray(errors) ? errors : []).map((error: unknown) => {
    const { pointer, code, detail } = asMembers(error);
    return { pointer: printable(pointer), code: printable(code), detail: printable(detail) };
  });
  const reason = formatRowErrors(printed);
  return { line: Number(line), sku: printable(sku), reason, errors: printed };
}
