/**
 * Sends a source to the import of a server, once, and reads the report while it is sent: NDJSON, a
 * line for each failed row, and at the end a summary, or the problem that ended it before.
 */
import type { RowError } from '../../transfer/import-advice.ts';
import { readLines } from '../../transfer/ndjson.ts';
import { type ApiServer, ask, PRODUCTS_PATH, readAnswer } from './api-client.ts';
import { CommandFailure } from '../command.ts';
import { type ImportSource, readSource } from './import-source.ts';
import { formatCount } from '../format.ts';
import { asMembers, explainProblem, formatIssues, parseObject, printable } from './api-error.ts';
import { TemporaryFailure } from './retry.ts';

export interface ImportRun {
  readonly server: ApiServer;
  readonly source: ImportSource;
  /** The parameters of the import. */
  readonly query: URLSearchParams;
  /** Sent again with the same, what was committed is not done again, and is reported as it was. */
  readonly idempotencyKey: string;
  onSent(rows: number, bytes: number): void;
  onFailure(row: RejectedRow): Promise<void>;
}

export interface RejectedRow {
  /** The line of the file that the row begins on, from 1. */
  readonly line: number;
  /** Printable; empty where there is none. */
  readonly sku: string;
  /** Why it failed, in one printable line. */
  readonly reason: string;
  /** The validation errors, safe to print. */
  readonly faults: readonly RowError[];
}

export interface ImportSummary {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly failed: number;
  readonly skipped: number;
  readonly position: number;
  /** Columns that nothing was read from. */
  readonly ignoredColumns: readonly string[];
}

/** What is counted, in the order in which it is said. */
const COUNTS = ['created', 'updated', 'unchanged', 'failed', 'skipped'];

const MEDIA_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/** @throws CommandFailure, UsageError; TemporaryFailure where it broke off and may be sent again */
export async function sendImport(run: ImportRun): Promise<ImportSummary> {
  const { server, source, query, idempotencyKey } = run;
  const answer = await ask(server, {
    method: 'POST',
    path: `${PRODUCTS_PATH}/import?${query}`,
    headers: {
      'content-type': MEDIA_TYPES[source.format],
      ...(source.isCompressed && { 'content-encoding': 'gzip' }),
      'idempotency-key': `"${idempotencyKey}"`,
    },
    body: readSource(source, run.onSent),
  });
  for await (const line of readLines(readAnswer(server, answer))) {
    const { summary, problem, ...row } = parseObject(line.toString());
    if (summary !== undefined) return readSummary(summary);
    if (problem !== undefined) throw explainEnd(asMembers(problem));
    if (row['status'] === 'failed') await run.onFailure(readFailedRow(row));
  }
  throw new TemporaryFailure('The report of the server broke off.');
}

/** The counts of a summary: `3 created, 1 updated, ...`. */
export function formatCounts(summary: Readonly<Record<string, unknown>>): string {
  return COUNTS.flatMap((name) => {
    const count = summary[name];
    return typeof count === 'number' ? [`${formatCount(count)} ${name}`] : [];
  }).join(', ');
}

/** A problem amid a report comes with what was done before it. */
function explainEnd(problem: Readonly<Record<string, unknown>>): Error {
  const counts = formatCounts(asMembers(problem['summary']));
  return explainProblem(problem, { ending: counts && `Until then: ${counts}.` });
}

function readSummary(value: unknown): ImportSummary {
  const members = asMembers(value);
  const count = (name: string): number => {
    const number = members[name];
    if (typeof number === 'number') return number;
    throw new CommandFailure(`The summary of the server lacks "${name}". Is --url right?`);
  };
  const ignored = members['ignored_columns'];
  return {
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    failed: count('failed'),
    skipped: count('skipped'),
    position: count('position'),
    ignoredColumns: Array.isArray(ignored) ? ignored.map(printable) : [],
  };
}

function readFailedRow({ line, sku, errors }: Readonly<Record<string, unknown>>): RejectedRow {
  const faults = (Array.isArray(errors) ? errors : []).map((error: unknown) => {
    const { pointer, code, detail } = asMembers(error);
    return { pointer: printable(pointer), code: printable(code), detail: printable(detail) };
  });
  return { line: Number(line), sku: printable(sku), reason: formatIssues(errors), faults };
}
