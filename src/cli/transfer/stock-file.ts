/**
 * Files of stock changes: how they are sent, and what a report on one says. The options of a run
 * are plain data, so that an interrupted run can be continued with the same ones.
 */
import type { SellerClient, StockLine } from '../../client/index.ts';
import type { CsvOptions } from '../../client/lines.ts';
import type { StockStreamOptions } from '../../client/stock.ts';
import { isFailure } from '../../domain/catalogue/stock-change.ts';
import { isRejectedRowsFile } from '../../transfer/header.ts';
import { type Flags, type Input, UsageError } from '../command.ts';
import { explainStockResult } from '../remote/stock.ts';
import { readNumber } from '../settings.ts';
import { type FileRun, readRejectedRow } from './file-run.ts';
import type { RejectedRowsFile } from './rejected-rows-file.ts';
import { CSV_FLAGS, readCsvOptions, type SourceFile } from './source-file.ts';

/** Parameters of `POST /api/v1/stock`. */
export interface StockOptions extends CsvOptions, Pick<
  StockStreamOptions,
  'source' | 'reason' | 'duplicates' | 'complete' | 'zeroLimit' | 'force' | 'dryRun'
> {
  readonly map?: string | undefined;
}

const COUNTS = ['applied', 'unchanged'];

export const STOCK_FLAGS: Flags = {
  source: { value: 'NAME', help: 'the system that the numbers come from, for the stock ledger' },
  reason: { value: 'TEXT', help: 'why, for the stock ledger, where a row has no reason' },
  map: { value: 'stock:Count,...', help: 'columns of members that are not recognized by name' },
  duplicates: {
    choices: ['reject', 'sum', 'last'],
    help: 'several rows with the stock of one product: reject them (default), add them up, or use '
      + 'the last one',
  },
  ...CSV_FLAGS,
  complete: { help: 'a stocktake: products that the file does not name are set to 0' },
  'zero-limit': {
    value: 'N', range: [0, 100],
    help: 'the most products that --complete may set to 0, in percent (default: 50)',
  },
  force: { help: 'with --complete: ignore --zero-limit' },
};

/** @throws UsageError */
export function readStockOptions(flags: Input['flags']): StockOptions {
  const { source, reason, map, complete, force, 'zero-limit': zeroLimit } = flags;
  const { duplicates = 'reject' } = flags;
  if (complete === undefined && (zeroLimit ?? force) !== undefined) {
    throw new UsageError('--zero-limit and --force are for stocktakes: add --complete.');
  }
  return {
    source, reason, map,
    // The whole file is at hand. The cast: these are its choices.
    duplicates: duplicates.replace(/^(?:reject|sum)$/, '$&_all') as StockOptions['duplicates'],
    ...readCsvOptions(flags),
    ...(complete !== undefined && { complete: true }),
    ...(zeroLimit !== undefined && { zeroLimit: readNumber(flags, 'zero-limit', 0) }),
    ...(force !== undefined && { force: true }),
    ...(flags['dry-run'] !== undefined && { dryRun: true }),
  };
}

/** Options for a file of this name: rejected rows are only a part of a stocktake. */
export function adaptOptions(name: string, options: StockOptions): StockOptions {
  const { complete, zeroLimit, force, ...others } = options;
  return isRejectedRowsFile(name) ? others : options;
}

/** A run whose retries, also those of a later process, share the Idempotency-Key. */
export function createStockRun(
  client: SellerClient, source: SourceFile, rejected: RejectedRowsFile,
  options: StockOptions & { readonly idempotencyKey: string },
): Omit<FileRun<StockLine>, 'progressStream' | 'shownLimit'> {
  return {
    client, source, rejected, isOwn: ({ kind }) => /^stock/.test(kind),
    counts: options.complete ? [...COUNTS, 'zeroed'] : COUNTS,
    send: (body, file) => client.stock.sync(body, { ...options, ...file, report: 'failed' }),
    readRejected: ({ status, ...line }) => (status !== 'zeroed' && isFailure(status)
      ? readRejectedRow(line, explainStockResult({ ...line, status })) : undefined),
  };
}
