/**
 * `stock sync`: sends a file of stock changes to a running server, as tills and ERPs write them.
 * Exit status 1 means that rows were rejected, and 2 that the run did not reach its end.
 */
import { randomUUID } from 'node:crypto';
import type { StockLine } from '../../client/index.ts';
import { type Command, CommandFailure, type Input } from '../command.ts';
import { explainFailure } from '../remote/api-error.ts';
import { openClient, SERVER_FLAGS } from '../remote/client.ts';
import { explainRejected, type FileOutcome, transferFile } from './file-run.ts';
import { RejectedRowsFile } from './rejected-rows-file.ts';
import { FORMAT_FLAG, nameFile, openSource } from './source-file.ts';
import {
  createStockRun, formatStockOutcome, readStockOptions, STOCK_FLAGS,
} from './stock-file.ts';

/** The run did not reach its end: no server, no such file, or the file as a whole is invalid. */
const INCOMPLETE_STATUS = 2;

export const syncStock: Command = {
  summary: 'Sends a CSV or NDJSON file of stock changes to a running server.',
  operands: ['FILE|-'],
  flags: {
    ...SERVER_FLAGS,
    format: FORMAT_FLAG,
    ...STOCK_FLAGS,
    'dry-run': { help: 'change nothing, but report what would change' },
    rejected: {
      value: 'FILE', help: 'where to write rejected rows (default: NAME.failed.csv beside FILE)',
    },
    'idempotency-key': {
      value: 'KEY', help: 'continue an interrupted run, which printed it: nothing is applied twice',
    },
  },
  isRemote: true,
  async run(input) {
    report(input, await send(input).catch(rejectIncomplete));
  },
};

async function send(input: Input): Promise<FileOutcome> {
  const { flags, operands: [path = ''], note } = input;
  const client = openClient(input, { retries: 0 }); // `transferFile` repeats the whole file
  const source = await openSource(path, flags['format']);
  const rejected = new RejectedRowsFile(source, 'stock', flags['rejected']);
  const { 'idempotency-key': idempotencyKey = randomUUID() } = flags;
  const options = { ...readStockOptions(flags), idempotencyKey };
  const resume = 'What was applied stays. To continue, without applying a change twice, run the'
    + ` command again within 48 hours with --idempotency-key ${idempotencyKey}`;
  const run = createStockRun(client, source, rejected, options);
  return transferFile<StockLine>(
    { ...run, hasProgress: true }, options.dry_run ? undefined : resume, note,
  );
}

/** Gives an expected failure the exit status of a run that did not reach its end. */
function rejectIncomplete(thrown: unknown): never {
  const error = explainFailure(thrown);
  const isExpected = error instanceof CommandFailure
    || (error instanceof Error && 'syscall' in error);
  if (!isExpected) throw error;
  throw new CommandFailure(error.message, { cause: error, exitStatus: INCOMPLETE_STATUS });
}

/** @throws CommandFailure if rows were rejected */
function report(input: Input, outcome: FileOutcome): void {
  const { isJson, out, note, flags, operands: [path = ''] } = input;
  const { counts, ignoredColumns, rejectedFile } = outcome;
  const what = flags['dry-run'] ? 'Dry run, nothing was changed' : nameFile(path);
  const summary = { ...counts, ignored_columns: ignoredColumns };
  if (isJson) out(JSON.stringify({ summary, rejected_file: rejectedFile ?? null }));
  else out(formatStockOutcome(what, outcome));
  if (ignoredColumns.length > 0) note(`Ignored columns: ${ignoredColumns.join(', ')}.`);
  if (counts.failed > 0) throw explainRejected(input, outcome, { verb: 'sync' });
}
