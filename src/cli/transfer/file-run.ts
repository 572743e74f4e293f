/**
 * Sends a file to a running server, and reads the report while sending: NDJSON with a line per
 * rejected row, then a summary or the problem that stopped it. If the connection breaks, sends the
 * file again under the same Idempotency-Key: no batch is applied twice, and each is reported again.
 */
import { basename } from 'node:path';
import { FILE_NAME_LIMIT_CODE_POINTS } from '../../domain/limits.ts';
import type { ImportOptions, ImportRecord, Report, SellerClient } from '../../client/index.ts';
import { isRejectedRowsFile } from '../../transfer/header.ts';
import { RejectionCauses, type RowError } from '../../transfer/import-advice.ts';
import { explainNothing } from '../../transfer/import-notes.ts';
import { formatRowErrors } from '../../transfer/rejected-rows.ts';
import { CommandFailure, type CommandIo, type Input } from '../command.ts';
import { followImport } from '../remote/imports.ts';
import { RETRY_POLICY } from '../remote/limits.ts';
import { formatCounted, formatCounts } from '../format.ts';
import { printable } from '../printable.ts';
import { Progress, withInterrupt } from '../progress.ts';
import {
  asMembers, type Members, TemporaryFailure, toFlags, withRetries,
} from '../remote/api-error.ts';
import type { RejectedRowsFile } from './rejected-rows-file.ts';
import { nameFile, readSource, type SourceFile } from './source-file.ts';

export interface FileRun<Line> {
  readonly client: SellerClient;
  /** Whether an import record can be that of this run. */
  readonly isOwn: (record: ImportRecord) => boolean;
  readonly source: SourceFile;
  readonly rejected: RejectedRowsFile;
  /** Counts that the summary must have, in addition to `failed` and `position`. */
  readonly counts: readonly string[];
  /** How many rejected rows the outcome has. */
  readonly shownLimit: number;
  /** Where it shows its progress, if anywhere. */
  readonly progressStream: CommandIo['stderr'] | undefined;
  /** Sends the bytes once. */
  send(
    body: AsyncIterable<Uint8Array>,
    file: Pick<ImportOptions, 'type' | 'isGzip' | 'fileName' | 'signal'>,
  ): Promise<Report<Line, unknown>>;
  /** Undefined for a line about a row that was not rejected. */
  readRejected(line: Line): RejectedRow | undefined;
}

interface RejectedRow {
  /** The line of the file that the row begins on, from 1. */
  readonly line: number;
  /** Safe to print; empty if unknown. */
  readonly sku: string;
  /** Why it was rejected, in one line that is safe to print. */
  readonly reason: string;
  /** The validation errors, safe to print. */
  readonly errors: readonly RowError[];
}

export type FileOutcome = Awaited<ReturnType<typeof sendFile>>;

type FileCounts = Readonly<Record<string, number>> & {
  readonly failed: number;
  readonly position: number;
};

const MEDIA_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/**
 * Sends the file, and again after temporary failures if it can be read again. `resume` says how to
 * continue what was interrupted; undefined for a dry run.
 * @throws CommandFailure
 */
export async function transferFile<Line>(
  run: FileRun<Line>, resume: string | undefined, { io, note }: Input,
): Promise<FileOutcome> {
  const { source, rejected } = run;
  const isRepeatable = source.sizeBytes !== undefined; // a pipe is not
  const policy = isRepeatable ? RETRY_POLICY : { ...RETRY_POLICY, retries: 0 };
  const describeWritten = resume === undefined ? undefined
    : followImport(run.client, (record) =>
      record.file_name === (nameSource(source) ?? null) && run.isOwn(record));
  const attempts = (signal: AbortSignal) =>
    withRetries(() => sendFile(run, signal), policy, note);
  const interrupt = async (): Promise<string> => {
    rejected.remove();
    return `Interrupted. ${await describeWritten?.() ?? ''}${resume ?? 'Nothing was changed.'}`;
  };
  try {
    return await withInterrupt(io, attempts, interrupt);
  } catch (error) {
    await rejected.discard();
    if (!(error instanceof TemporaryFailure) || resume === undefined) throw error;
    throw new CommandFailure(`${error.message} ${resume}`, { cause: error });
  } finally {
    if (source.path === '-') io.stdin.destroy(); // an open pipe would keep the process alive
  }
}

/**
 * Sends the file once. Discards the rejected rows of earlier attempts.
 * @throws CommandFailure if the file cannot be read; the client's errors
 */
export async function sendFile<Line>(
  run: FileRun<Line>, signal?: AbortSignal,
) {
  const { source, rejected } = run;
  await rejected.discard();
  using progress = run.progressStream && new Progress(run.progressStream);
  const shownRows: RejectedRow[] = [];
  const causes = new RejectionCauses();
  let state = {
    rows: source.hasLines ? 0 : undefined, bytes: 0, sizeBytes: source.sizeBytes, rejected: 0,
  };
  const onSent = (rows: number | undefined, bytes: number): void => {
    state = { ...state, rows, bytes };
    progress?.show(state);
  };
  const report = await run.send(readSource(source, onSent), {
    type: MEDIA_TYPES[source.format], isGzip: source.isCompressed,
    fileName: nameSource(source), signal,
  });
  for await (const line of report) {
    const row = run.readRejected(line);
    if (!row) continue;
    state = { ...state, rejected: state.rejected + 1 };
    if (shownRows.length < run.shownLimit) shownRows.push(row);
    causes.add(row.errors);
    await rejected.add(row.line, row.reason);
  }
  const summary = readSummary(await report.summary(), run.counts);
  progress?.end(state);
  return {
    ...summary, shownRows, causes,
    /** All rejected rows, if there is a file of them. */
    rejectedFile: await rejected.end(),
    /** Whether rejected rows are only right in the whole file. */
    hasParts: rejected.hasParts,
  };
}

/** The name of the file as the server accepts it, for the record of the import. */
function nameSource({ path }: SourceFile): string | undefined {
  if (path === '-') return undefined;
  const name = printable(basename(path).toWellFormed());
  return [...name].slice(0, FILE_NAME_LIMIT_CODE_POINTS).join('');
}

/** What the server counted and says; its texts are safe to print. */
function readSummary(value: unknown, names: readonly string[]) {
  const members = asMembers(value);
  const lacking = [...names, 'failed', 'position'].find((name) =>
    typeof members[name] !== 'number');
  if (lacking !== undefined) {
    throw new CommandFailure(`The summary from the server has no "${lacking}". Is --url right?`);
  }
  const numbers = Object.entries(members).filter(([, member]) => typeof member === 'number');
  const ignoredColumns = readTexts(members['ignored_columns']);
  const notes = readTexts(members['notes']).map(toFlags);
  const summary: Members = {
    ...members, ignored_columns: ignoredColumns,
    notes: notes.length > 0 ? notes : undefined,
  };
  // The cast: these members are numbers, and have all names.
  const counts = Object.fromEntries(numbers) as FileCounts;
  return { summary, counts, ignoredColumns, notes };
}

/** Safe to print. */
export function readTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(printable) : [];
}

/** What to do about rejected rows: `verb` is what the command does with a file. */
interface Remedy {
  readonly verb: string;
  readonly how?: string;
  readonly advice?: string | undefined;
}

/**
 * Prints the outcome of a file that the server has taken. Ends the command with exit status 1 if
 * rows were rejected, or it had no effect.
 * @param document What `--json` prints.
 * @param duplicates Sentences about several rows of one product.
 * @throws CommandFailure
 */
export function reportOutcome(
  input: Input, outcome: FileOutcome, document: object, duplicates: readonly string[],
  remedy: Remedy,
): void {
  const { isJson, out, note, flags, operands: [path = ''] } = input;
  const { counts, ignoredColumns, notes } = outcome;
  const prefix = flags['dry-run'] ? 'Dry run, nothing was changed' : nameFile(path);
  if (isJson) out(JSON.stringify(document));
  else out(`${prefix}: ${formatCounts(counts)}. The catalogue is at position ${counts.position}.`);
  if (ignoredColumns.length > 0) note(`Ignored columns: ${ignoredColumns.join(', ')}.`);
  const nothing = explainNothing(counts);
  const sentences = notes.filter((sentence) => sentence !== nothing);
  for (const sentence of [...duplicates, ...sentences]) note(sentence);
  if (counts.failed > 0) throw explainRejected(input, outcome, remedy);
  if (nothing !== undefined) throw new CommandFailure(nothing);
}

/** Prints the first rejected rows, and returns the failure that says where all of them are. */
function explainRejected(
  { flags, operands: [source = '-'], note }: Input,
  { counts: { failed }, hasParts, shownRows, rejectedFile }: FileOutcome,
  { verb, how = '', advice }: Remedy,
): CommandFailure {
  for (const { line, sku, reason } of shownRows) {
    note(`  Line ${line}${sku && `, SKU ${sku}`}: ${reason}`);
  }
  const [rows, them] = failed === 1 ? ['It is', 'it'] : ['They are', 'them'];
  const whole = isRejectedRowsFile(source) ? 'the original file' : source;
  const again = hasParts
    ? `Where an error asks for the whole file, ${verb} all of ${whole} again, corrected or with `
      + '--duplicates.'
    : flags['dry-run'] === undefined ? `Correct ${them} there and ${verb} that file${how}.`
    : `Correct ${them} in ${source}, or ${verb} it and correct the rejected rows.`;
  const where = rejectedFile === undefined ? '' : ` The rejected rows are in ${rejectedFile}.`;
  const hint = advice !== undefined ? `${advice}${where}`
    : rejectedFile !== undefined ? `${rows} in ${rejectedFile}. ${again}`
    : `To get ${them} in a file that you can correct, `
      + (source === '-' ? `${verb} a file instead of a pipe.` : 'run it with --rejected FILE.');
  return new CommandFailure(`${formatCounted(failed, 'row')} rejected. ${hint}`);
}

/** A rejected row, safe to print whatever the server sent. The default reason is its errors. */
export function readRejectedRow(
  row: { readonly line: unknown; readonly sku: unknown; readonly errors?: unknown },
  reason?: string,
): RejectedRow {
  const errors = (Array.isArray(row.errors) ? row.errors : []).map((error: unknown) => {
    const { pointer, code, detail } = asMembers(error);
    const text = toFlags(printable(detail));
    return { pointer: printable(pointer), code: printable(code), detail: text };
  });
  return {
    line: Number(row.line), sku: printable(row.sku),
    reason: printable(reason) || formatRowErrors(errors), errors,
  };
}
