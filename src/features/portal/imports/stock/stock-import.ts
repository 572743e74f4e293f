/**
 * The import of an uploaded stock file with certain settings, and its dry run. Each change is
 * evaluated, numbered and written as by the API.
 */
import { type DuplicateChoice, DuplicateLevels } from '../../../../api/stock/duplicate-levels.ts';
import {
  createDryRunTarget, createWriteTarget, type StockTarget,
} from '../../../../api/stock/stock-targets.ts';
import { createStocktakeTarget } from '../../../../api/stock/stocktake-stream.ts';
import {
  isOverZeroLimit, type StockOrigin, ZERO_LIMIT_DEFAULT_PERCENT,
} from '../../../../domain/catalogue/stock-sync.ts';
import type { MissingProducts } from '../../../../store/catalogue-store.ts';
import {
  matchStockColumns, STOCK_MEMBERS, type StockColumns, type StockMember,
} from '../../../../transfer/stock-columns.ts';
import {
  makeStockCsvReader, makeStockNdjsonReader, type StockReader,
} from '../../../../transfer/stock-rows.ts';
import { PREVIEW_ROWS_LIMIT } from '../../limits.ts';
import { type MemberValues, recallColumns, rememberColumns } from '../column-fields.ts';
import { type CsvSettings, toFileOptions } from '../csv-fields.ts';
import { type FileRun, readPosition } from '../job-kind.ts';
import type { FileDescription, RejectedRow } from '../uploaded-file.ts';
import { countBytes } from '../products/product-rows.ts';
import {
  previewStock, readStockRows, startStockProgress, type StockPreview, type StockProgress,
} from './stock-rows.ts';

/** Import settings, as plain data; columns apply to CSV only. */
export interface StockSettings extends StockOrigin, CsvSettings {
  readonly map: MemberValues<StockMember>;
  readonly duplicates: DuplicateChoice;
  /** Whether products that the file does not name are set to 0. */
  readonly isComplete: boolean;
  /** The share of the products in stock that may be set to 0, in percent: 0 to 100. */
  readonly zeroLimitPercent: number;
  /** Whether `map` is what the seller chose for an earlier file with the same column names. */
  readonly hasRememberedColumns?: boolean;
}

/** The import of a stock file, as plain data. */
export interface StockImport {
  readonly kind: 'stock';
  readonly file: FileDescription;
  readonly settings: StockSettings;
  readonly progress: StockProgress;
  /** Undefined until the dry run has reached its end. */
  preview: StockPreview | undefined;
  /** What a stocktake sets to 0; known at its end. */
  total: MissingProducts;
}

/** How the columns are matched; undefined unless the file is CSV. */
export function stockColumnsOf(
  { file: { head: { format, header, untrusted } }, settings }:
  Pick<StockImport, 'file' | 'settings'>,
): StockColumns | undefined {
  return format === 'csv' ? matchStockColumns(header, new Map(settings.map), untrusted) : undefined;
}

/** Whether the dry run has a result, and its stocktake does not exceed the limit. */
export function canStartStock({ preview, total, settings }: StockImport): boolean {
  const isOver = isOverZeroLimit(total.missing, total.inStock, settings.zeroLimitPercent);
  return preview !== undefined && preview.rejection === undefined && !isOver;
}

/** The import of a new file, with the columns that were remembered. */
export async function openStock(run: FileRun): Promise<StockImport> {
  const map = await recallColumns(run, 'stock', STOCK_MEMBERS);
  return restartStock({ kind: 'stock', file: run.upload.description, settings: {
    map, hasRememberedColumns: map.length > 0, duplicates: 'reject_all', isComplete: false,
    zeroLimitPercent: ZERO_LIMIT_DEFAULT_PERCENT, source: undefined, reason: undefined,
  } });
}

export function restartStock(
  task: Omit<StockImport, 'progress' | 'preview' | 'total'>,
): StockImport {
  const total = { missing: 0, inStock: 0 };
  return { ...task, progress: startStockProgress(), preview: undefined, total };
}

/** Sets `preview`, unless the file cannot be read. A stocktake is evaluated to its end. */
export async function previewStockFile(
  task: StockImport, run: FileRun, signal: AbortSignal,
): Promise<void> {
  const { importer, store } = run;
  const { settings } = task;
  const position = await readPosition(run);
  const target = createDryRunTarget(store, { ...importer, position }, settings);
  const batches = readFile(task, run, asStocktake(task, run, target, { position, isDryRun: true }));
  const limitRows = settings.isComplete ? Infinity : PREVIEW_ROWS_LIMIT;
  task.preview = await previewStock(batches, signal, limitRows);
}

/** Yields the rejected rows of each batch that was written. */
export async function* writeStock(
  task: StockImport, run: FileRun,
): AsyncGenerator<readonly RejectedRow[], void, void> {
  const { importer, upload: { name: fileName }, store } = run;
  const { kind, settings } = task;
  await rememberColumns(run, kind, settings.map);
  // Products that are created later are not set to 0.
  const position = await readPosition(run);
  const target = createWriteTarget(store, importer, {
    ...settings, fileName, isStocktake: settings.isComplete,
  });
  const stocktake = asStocktake(task, run, target, { position, isDryRun: false });
  for await (const { outcomes } of readFile(task, run, stocktake)) {
    yield outcomes.flatMap(({ line, reason }) => (reason === undefined ? [] : [{ line, reason }]));
  }
}

function readFile(
  { settings, progress }: StockImport,
  { importer: { sellerId }, store, upload }: FileRun,
  target: StockTarget,
): ReturnType<typeof readStockRows> {
  const { file } = upload;
  const reader = openReader(settings, upload);
  const slices = new DuplicateLevels(store, sellerId, settings.duplicates).find(
    reader.read(countBytes(file.read(), progress)),
    settings.duplicates === 'last' ? undefined : openReader(settings, upload).read(file.read()),
  );
  return readStockRows(reader, slices, target, progress, sellerId);
}

function openReader(
  { map, source, duplicates, isComplete: isStocktake, ...settings }: StockSettings,
  { head, name: fileName }: FileRun['upload'],
): StockReader {
  const options = { hasSource: source !== undefined, isStocktake, fileName };
  if (head.format === 'ndjson') return makeStockNdjsonReader(options);
  const isSum = duplicates === 'sum';
  return makeStockCsvReader({
    ...options, map: new Map(map), isSum, ...toFileOptions(settings, head),
  });
}

/** If the file is a stocktake. A dry run ignores the limit, to show what would exceed it. */
function asStocktake(
  task: StockImport, { importer: { sellerId }, store }: FileRun, target: StockTarget,
  { position, isDryRun }: { readonly position: number; readonly isDryRun: boolean },
): StockTarget {
  const { isComplete, zeroLimitPercent } = task.settings;
  if (!isComplete) return target;
  const stocktake = store.openStocktake(sellerId);
  return createStocktakeTarget({
    target, position, isDryRun, zeroLimitPercent: isDryRun ? 100 : zeroLimitPercent,
    override: 'upload the file again and raise the limit',
    stocktake: {
      ...stocktake,
      findMissing: async (at) => task.total = await stocktake.findMissing(at),
    },
  });
}
