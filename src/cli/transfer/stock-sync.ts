/**
 * `stock sync`: sends a file of stock changes to a running server, as tills and ERPs write them, or
 * each file that is put into a folder. Exit status 1 means that rows were rejected or nothing was
 * applied, and 2 that the run did not reach its end.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { StockLine } from '../../client/index.ts';
import { parseDuration } from '../../domain/time.ts';
import { CommandFailure, type Input, UsageError } from '../command.ts';
import { DEFAULT_SETTLE, REJECTED_ROWS_SHOWN, WATCH_INTERVAL_MS } from '../remote/limits.ts';
import { formatCounted } from '../format.ts';
import { interrupted } from '../progress.ts';
import { explainFailure } from '../remote/api-error.ts';
import { openClient, remoteCommand } from '../remote/client.ts';
import { type FileOutcome, reportOutcome, transferFile } from './file-run.ts';
import { REJECTED_FLAG, RejectedRowsFile } from './rejected-rows-file.ts';
import { findFormat, FORMAT_FLAG, isRowsFile, openSource } from './source-file.ts';
import { createStockRun, readStockOptions, STOCK_FLAGS } from './stock-file.ts';
import { watchStock } from '../watch/stock-watch.ts';
import { WatchedFolder } from '../watch/watched-folder.ts';

/** The run did not reach its end: no server, no such file, or the file as a whole is invalid. */
const INCOMPLETE_STATUS = 2;
/** What was done with several rows of one product that were not rejected. */
const DUPLICATES: Readonly<Record<string, string>> = {
  sum: 'the rows of each product were added up', last: 'the last row of each product was used',
};
const FILE_FLAGS = ['dry-run', 'rejected', 'idempotency-key'];

export const syncStock = remoteCommand({
  summary: 'Sends a CSV, .xlsx or NDJSON file of stock changes to a running server.',
  operands: ['[FILE|-]'],
  flags: {
    format: FORMAT_FLAG,
    ...STOCK_FLAGS,
    'dry-run': { help: 'change nothing, but report what would change' },
    rejected: REJECTED_FLAG,
    'idempotency-key': {
      value: 'KEY',
      help: 'continue the interrupted run that printed this key; nothing is applied twice',
    },
    watch: {
      value: 'DIR', help: 'send each file that is put into this folder, until Ctrl-C',
    },
    settle: {
      value: 'TIME',
      help: 'with --watch: time after which an unchanged file counts as complete '
        + `(default: ${DEFAULT_SETTLE})`,
    },
  },
  async run(input) {
    const { flags, operands: [path] } = input;
    if ((path === undefined) === (flags['watch'] === undefined)) {
      throw new UsageError('Give either FILE, - for standard input, or --watch DIR.');
    }
    if (path === undefined) await watch(input).catch(rejectIncomplete);
    else report(input, await send(input).catch(rejectIncomplete));
  },
});

async function send(input: Input): Promise<FileOutcome> {
  const { flags, operands: [path = ''], io } = input;
  const client = openClient(input, { retries: 0 }); // `transferFile` repeats the whole file
  const source = await openSource(path, flags['format'], io);
  const { 'idempotency-key': idempotencyKey = randomUUID() } = flags;
  const options = { ...readStockOptions(flags), idempotencyKey };
  const rejected = new RejectedRowsFile(source, 'stock', { ...options, path: flags['rejected'] });
  const resume = 'What was applied stays. To continue, without applying a change twice, run the'
    + ` command again within 48 hours with --idempotency-key ${idempotencyKey}`;
  const run = createStockRun(client, source, rejected, options);
  return transferFile<StockLine>(
    { ...run, shownLimit: REJECTED_ROWS_SHOWN, progressStream: io.stderr },
    options.dryRun ? undefined : resume, input,
  );
}

async function watch(input: Input): Promise<void> {
  const { flags, note } = input;
  const { watch: path = '', format, settle = DEFAULT_SETTLE } = flags;
  const other = FILE_FLAGS.find((name) => flags[name] !== undefined);
  if (other !== undefined) throw new UsageError(`--${other} is for a FILE, not for --watch.`);
  const settleMs = parseDuration(settle);
  const signal = interrupted(input.io);
  const client = openClient(input, { retries: 0 }); // the watch repeats the whole file
  const options = readStockOptions(flags);
  findFormat('.csv', format); // throws for a wrong --format
  using folder = new WatchedFolder(path, {
    settleMs, clock: Date.now, timer: () => performance.now(),
    isWanted: (name) => format !== undefined || isRowsFile(name),
    onIgnored: (name, why) => note(`${name} is ignored: ${why}.`),
  });
  note(`Watching ${path}. Ctrl-C stops.`);
  signal.addEventListener('abort', () => note('Stopping after the current file.'));
  await watchStock({
    folder, client, options, format, input, signal, clock: Date.now,
    intervalMs: Math.min(WATCH_INTERVAL_MS, Math.max(settleMs, WATCH_INTERVAL_MS / 10)),
    wait: (ms) => wait(ms, undefined, { signal }).catch(() => {}), // aborted
  });
  note(`Stopped. Files that were not sent stay in ${path}: the same command continues.`);
}

/** Gives an expected failure the exit status of a run that did not reach its end. */
function rejectIncomplete(thrown: unknown): never {
  const error = explainFailure(thrown);
  const isExpected = error instanceof CommandFailure
    || (error instanceof Error && 'syscall' in error);
  if (!isExpected) throw error;
  throw new CommandFailure(error.message, { cause: error, exitStatus: INCOMPLETE_STATUS });
}

/** @throws CommandFailure if rows were rejected, or nothing was applied */
function report(input: Input, outcome: FileOutcome): void {
  const { flags } = input;
  const { summary, counts: { duplicates = 0 }, rejectedFile } = outcome;
  const applied = DUPLICATES[flags['duplicates'] ?? ''];
  const sentences = duplicates === 0 || applied === undefined ? []
    : [`${formatCounted(duplicates, 'row')} of products with an earlier row: ${applied}.`];
  const how = flags['complete'] === undefined ? '' : ', without --complete';
  const document = { summary, rejected_file: rejectedFile ?? null };
  reportOutcome(input, outcome, document, sentences, { verb: 'sync', how });
}
