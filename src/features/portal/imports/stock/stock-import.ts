/**
 * The import of an uploaded stock file with certain settings, and its dry run. Each change is
 * evaluated, numbered and written as by the API.
 */
import {
  createDryRunTarget, createWriteTarget, type StockTarget,
} from '../../../../api/stock/stock-targets.ts';
import { createStocktakeTarget } from '../../../../api/stock/stocktake-stream.ts';
import type { ImportCounts } from '../../../../domain/catalogue/import.ts';
import {
  isOverZeroLimit, type StockOrigin, ZERO_LIMIT_DEFAULT_PERCENT,
} from '../../../../domain/catalogue/stock-sync.ts';
import type { MissingProducts } from '../../../../store/catalogue-store.ts';
import {
  type MatchedStockColumns, matchStockColumns, type StockMember,
} from '../../../../transfer/stock-columns.ts';
import { StockCsvRows, StockNdjsonRows } from '../../../../transfer/stock-rows.ts';
import { PREVIEW_ROWS_LIMIT } from '../../limits.ts';
import type { MemberValues } from '../column-fields.ts';
import { rememberColumns } from '../column-memory.ts';
import type { FileImport, Importer } from '../products/product-import.ts';
import {
  previewStock, readStockRows, startStockProgress, type StockPreview, type StockProgress,
} from './stock-rows.ts';
import type { FileDescription, UploadedFile } from '../uploaded-file.ts';

/** Import settings, as plain data; columns apply to CSV only. */
export interface StockSettings extends StockOrigin {
  readonly map: MemberValues<StockMember>;
  /** Whether products that the file does not name are set to 0. */
  readonly isComplete: boolean;
  /** The share of the products in stock that may be set to 0, in percent: 0 to 100. */
  readonly zeroLimitPercent: number;
  /** Whether `map` is what the seller chose for an earlier file with the same column names. */
  readonly hasRememberedColumns?: boolean;
}

export const DEFAULT_STOCK_SETTINGS: StockSettings = {
  map: [], isComplete: false, zeroLimitPercent: ZERO_LIMIT_DEFAULT_PERCENT,
  source: undefined, reason: undefined,
};

/** What the pages show of an import of stock: plain data. */
export interface StockDescription {
  readonly kind: 'stock';
  readonly file: FileDescription;
  readonly settings: StockSettings;
  /** Of the current or latest run. */
  readonly progress: StockProgress;
  /** Undefined until the dry run has reached its end. */
  readonly preview: StockPreview | undefined;
  /** What a stocktake sets to 0; known at its end. */
  readonly total: MissingProducts;
}

/** How the columns are matched; undefined unless the file is CSV. */
export function stockColumnsOf(
  { file: { head: { format, header } }, settings }: Pick<StockDescription, 'file' | 'settings'>,
): MatchedStockColumns | undefined {
  return format === 'csv' ? matchStockColumns(header, new Map(settings.map)) : undefined;
}

/** Whether the columns are clear, so that a dry run makes sense. */
export function isStockUsable(task: StockDescription): boolean {
  return stockColumnsOf(task)?.isUsable !== false;
}

/** Whether the dry run has a result, and its stocktake does not exceed the limit. */
export function canStartStock({ preview, total, settings }: StockDescription): boolean {
  const isOver = isOverZeroLimit(total.missing, total.inStock, settings.zeroLimitPercent);
  return preview !== undefined && preview.rejection === undefined && !isOver;
}

export class StockImport {
  readonly kind = 'stock';
  readonly file: FileImport;
  readonly settings: StockSettings;
  /** Of the current or latest run. */
  progress: StockProgress;
  /** Undefined until the dry run has reached its end. */
  preview: StockPreview | undefined;
  /** What a stocktake sets to 0; known at its end. */
  total: MissingProducts;

  /** @param latest Of the latest run, if there was one. */
  constructor(
    file: FileImport, settings: StockSettings,
    latest?: Pick<StockDescription, 'progress' | 'preview' | 'total'>,
  ) {
    this.file = file;
    this.settings = settings;
    this.progress = latest?.progress ?? startStockProgress();
    this.preview = latest?.preview;
    this.total = latest?.total ?? { missing: 0, inStock: 0 };
  }

  get upload(): UploadedFile {
    return this.file.upload;
  }

  withSettings(settings: StockSettings): StockImport {
    return new StockImport(this.file, settings);
  }

  /** For the next run, by this account: the same task without progress. */
  begin(importer: Importer): StockImport {
    const { settings, preview, total } = this;
    const file = { ...this.file, importer };
    return new StockImport(file, settings, { progress: startStockProgress(), preview, total });
  }

  get description(): StockDescription {
    const { kind, upload: { description: file }, settings, progress, preview, total } = this;
    return { kind, file, settings, progress, preview, total };
  }

  get isUsable(): boolean {
    return isStockUsable(this.description);
  }

  get canStart(): boolean {
    return canStartStock(this.description);
  }

  get diskBytes(): number {
    return this.upload.file.sizeBytes;
  }

  /** Sets `preview`, unless the file cannot be read. A stocktake is evaluated to its end. */
  async dryRun(signal: AbortSignal): Promise<void> {
    const { file: { importer, store }, settings } = this;
    const position = await this.#readPosition();
    const target = createDryRunTarget(store, { ...importer, position }, settings);
    const batches = this.#read(this.#asStocktake(target, { position, isDryRun: true }));
    const limitRows = settings.isComplete ? Infinity : PREVIEW_ROWS_LIMIT;
    this.preview = await previewStock(batches, signal, limitRows);
  }

  /** Returns whether it reached the end of the file. */
  async write(signal: AbortSignal): Promise<boolean> {
    const { file: { importer, upload, store }, settings } = this;
    const rejected = upload.collectRejected(this.kind);
    try {
      const file = { kind: this.kind, head: upload.head } as const;
      await rememberColumns(store, importer.sellerId, file, settings.map);
      const position = await this.#readPosition();
      const target = createWriteTarget(store, importer, {
        ...settings, fileName: upload.name, isStocktake: settings.isComplete,
      });
      const batches = this.#read(this.#asStocktake(target, { position, isDryRun: false }));
      for await (const { outcomes } of batches) {
        for (const { line, reason } of outcomes) {
          if (reason !== undefined) await rejected.add(line, reason);
        }
        if (signal.aborted) return false;
      }
      return true;
    } finally {
      await upload.end();
    }
  }

  /** After the node that wrote it has stopped. @param counts Of the import's record, if known. */
  recover(counts: ImportCounts = {}): void {
    const { progress, upload } = this;
    Object.assign(progress.counts, counts);
    const { applied, unchanged, failed } = progress.counts;
    progress.rows = applied + unchanged + failed;
    upload.noteIncomplete();
  }

  #read(target: Parameters<typeof readStockRows>[2]): ReturnType<typeof readStockRows> {
    const { upload: { file, head }, settings: { map, source }, progress } = this;
    const hasSource = source !== undefined;
    const reader = head.format === 'ndjson' ? new StockNdjsonRows(hasSource)
      : new StockCsvRows({ map: new Map(map), hasSource });
    return readStockRows(reader, file.read(), target, progress);
  }

  /** If the file is a stocktake. A dry run ignores the limit, to show what would exceed it. */
  #asStocktake(
    target: StockTarget,
    { position, isDryRun }: { readonly position: number; readonly isDryRun: boolean },
  ): StockTarget {
    const { isComplete, zeroLimitPercent } = this.settings;
    if (!isComplete) return target;
    const { importer: { sellerId }, store } = this.file;
    const stocktake = store.openStocktake(sellerId);
    return createStocktakeTarget({
      target, position, isDryRun, zeroLimitPercent: isDryRun ? 100 : zeroLimitPercent,
      override: 'upload the file again and raise the limit',
      stocktake: {
        ...stocktake,
        findMissing: async (at) => this.total = await stocktake.findMissing(at),
      },
    });
  }

  /** Of the catalogue: products that are created later are not set to 0. */
  async #readPosition(): Promise<number> {
    const { importer: { sellerId }, store } = this.file;
    return (await store.listProducts(sellerId, { after: undefined, limit: 1 })).position;
  }
}
