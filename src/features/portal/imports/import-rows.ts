/**
 * The rows of an uploaded file: reads them into the catalogue or into a dry run, and counts them
 * on the way. A dry run keeps the first rows of each kind for the preview, within limits.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { completeProduct } from '../../../domain/catalogue/product.ts';
import type { NewProduct } from '../../../domain/catalogue/product-fields.ts';
import type { SellerId } from '../../../domain/id.ts';
import { SKU_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import { copyText } from '../../../domain/text.ts';
import type { ImportedProducts, ImportMode } from '../../../store/catalogue-store.ts';
import type { Store } from '../../../store/store.ts';
import { type BatchTarget, writeBatches } from '../../../transfer/batches.ts';
import type { ColumnMap, Defaults } from '../../../transfer/columns.ts';
import { CsvRows, type CsvSettings } from '../../../transfer/csv-rows.ts';
import { RejectionCauses } from '../../../transfer/import-advice.ts';
import type { ImportRow, RowReader } from '../../../transfer/import-row.ts';
import { NdjsonRows } from '../../../transfer/ndjson.ts';
import { formatRowErrors } from '../../../transfer/rejected-rows.ts';
import { createDryRunTarget, readOutcomes, startCounts } from '../../imports/import-target.ts';
import { PREVIEW_ROWS_LIMIT, PREVIEW_ROWS_SHOWN } from '../limits.ts';
import type { FileHead } from './uploaded-file.ts';
import type { TemporaryFile } from './temporary-file.ts';

/** How a seller wants a file to be imported. */
export interface ImportSettings {
  readonly mode: ImportMode;
  /** For CSV only, as are the defaults. */
  readonly map: ColumnMap;
  readonly defaults: Defaults;
}

export function toCsvSettings({ mode, map, defaults }: ImportSettings): CsvSettings {
  return { map, defaults, isPartial: mode === 'upsert' };
}

/** An uploaded file and how to read it. */
export interface RowFile {
  readonly file: TemporaryFile;
  readonly format: FileHead['format'];
  readonly settings: ImportSettings;
  readonly currency: Currency;
}

export type RowCounts = ReturnType<typeof startCounts>;

/** Progress of one run; `readRows` updates it. */
export interface RowProgress {
  readBytes: number;
  /** Rows without a product count too. */
  rows: number;
  readonly counts: RowCounts;
  readonly causes: RejectionCauses;
  /** Known once the first rows are read. */
  ignoredColumns: readonly string[];
}

export function startProgress(): RowProgress {
  return {
    readBytes: 0, rows: 0, counts: startCounts(), causes: new RejectionCauses(), ignoredColumns: [],
  };
}

/**
 * Writes the rows to a target, and yields what became of them, batch by batch.
 * @throws AppError `invalid_data` if the file as a whole is invalid
 */
export async function* readRows(
  { file, format, settings, currency }: RowFile, target: BatchTarget<ImportRow, ImportedProducts>,
  progress: RowProgress,
): AsyncGenerator<ReturnType<typeof readOutcomes>, void, void> {
  const reader: RowReader = format === 'ndjson'
    ? new NdjsonRows(currency) : new CsvRows(currency, toCsvSettings(settings));
  const slices = reader.read(countBytes(file.read(), progress));
  for await (const batch of writeBatches({ slices, target })) {
    const outcomes = readOutcomes(batch);
    progress.ignoredColumns = reader.ignoredColumns;
    for (const { status, errors } of outcomes) {
      progress.counts[status] += 1;
      if (errors) progress.causes.add(errors);
    }
    progress.rows += outcomes.length;
    yield outcomes;
  }
}

/** Counts a chunk once its reader asks for the next one. */
async function* countBytes(
  chunks: AsyncIterable<Buffer>, progress: RowProgress,
): AsyncGenerator<Buffer, void, void> {
  for await (const chunk of chunks) {
    yield chunk;
    progress.readBytes += chunk.length;
  }
}

/** A product that would be updated. */
interface Difference {
  readonly line: number;
  readonly before: NewProduct;
  readonly after: NewProduct;
}

/** The first rows of each kind in a dry run. */
export interface DryRun {
  readonly differences: readonly Difference[];
  readonly rejected: readonly {
    readonly line: number; readonly sku: string | undefined; readonly reason: string;
  }[];
  /** Whether all rows were evaluated. */
  readonly isComplete: boolean;
}

/**
 * Evaluates rows without writing them, up to the limit of a preview or until it is aborted.
 * @throws AppError `invalid_data` if the file as a whole is invalid
 */
export async function dryRunRows(
  { store, sellerId }: { readonly store: Store; readonly sellerId: SellerId }, rows: RowFile,
  progress: RowProgress, signal: AbortSignal,
): Promise<DryRun> {
  const differences = new Map<string, Difference>();
  const rejected: DryRun['rejected'][number][] = [];
  const target = createDryRunTarget(store, { sellerId, position: 0 }, rows.settings.mode);
  let isComplete = true;
  for await (const outcomes of readRows(rows, target, progress)) {
    for (const { line, sku, status, errors, content } of outcomes) {
      if (errors && rejected.length < PREVIEW_ROWS_SHOWN) {
        const shortSku = sku?.slice(0, SKU_LIMIT_CODE_POINTS);
        const reason = formatRowErrors(errors);
        rejected.push({ line, sku: shortSku && copyText(shortSku), reason });
      }
      const row = status === 'updated' ? content?.product : undefined;
      // A second row for a product changes what the first row made of it, which is not stored.
      if (!row || differences.has(row.sku) || differences.size === PREVIEW_ROWS_SHOWN) continue;
      const before = await store.findProduct(sellerId, { sku: row.sku });
      const after = before && completeProduct(row, before);
      if (after) differences.set(copyText(row.sku), { line, before, after: copyTexts(after) });
    }
    isComplete = progress.rows < PREVIEW_ROWS_LIMIT && !signal.aborted;
    if (!isComplete) break;
  }
  return { differences: [...differences.values()], rejected, isComplete };
}

/** The texts of a row are slices that would keep its whole chunk in memory. */
function copyTexts(product: NewProduct): NewProduct {
  const copies = Object.entries(product).map(([member, value]: [string, unknown]) =>
    [member, typeof value === 'string' ? copyText(value) : value]);
  return Object.fromEntries(copies) as NewProduct; // the same values
}
