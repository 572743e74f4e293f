/**
 * The import of an uploaded stock file with certain settings, and its dry run. Each change is
 * evaluated, numbered and written as by the API.
 */
import {
  createDryRunTarget, createWriteTarget, type StockTarget,
} from '../../../../api/stock/stock-targets.ts';
import { createStocktakeTarget } from '../../../../api/stock/stocktake-stream.ts';
import {
  isOverZeroLimit, type StockOrigin, ZERO_LIMIT_DEFAULT_PERCENT,
} from '../../../../domain/catalogue/stock-sync.ts';
import type { MissingProducts } from '../../../../store/catalogue-store.ts';
import {
  type MatchedStockColumns, matchStockColumns, type StockColumnMap,
} from '../../../../transfer/stock-columns.ts';
import { StockCsvRows, StockNdjsonRows } from '../../../../transfer/stock-rows.ts';
import { PREVIEW_ROWS_LIMIT } from '../../limits.ts';
import { rememberColumns } from '../column-memory.ts';
import type { FileImport } from '../products/product-import.ts';
import {
  previewStock, readStockRows, startStockProgress, type StockPreview,
} from './stock-rows.ts';
import type { UploadedFile } from '../uploaded-file.ts';

/** Import settings; columns apply to CSV only. */
export interface StockSettings extends StockOrigin {
  readonly map: StockColumnMap;
  /** Whether products that the file does not name are set to 0. */
  readonly isComplete: boolean;
  /** The share of the products in stock that may be set to 0, in percent: 0 to 100. */
  readonly zeroLimitPercent: number;
  /** Whether `map` is what the seller chose for an earlier file with the same column names. */
  readonly hasRememberedColumns?: boolean;
}

export const DEFAULT_STOCK_SETTINGS: StockSettings = {
  map: new Map(), isComplete: false, zeroLimitPercent: ZERO_LIMIT_DEFAULT_PERCENT,
  source: undefined, reason: undefined,
};

export class StockImport {
  readonly kind = 'stock';
  readonly file: FileImport;
  readonly settings: StockSettings;
  /** Of the current or latest run. */
  progress = startStockProgress();
  /** Undefined until the dry run has reached its end. */
  preview: StockPreview | undefined;
  /** What a stocktake sets to 0; known at its end. */
  total: MissingProducts = { missing: 0, inStock: 0 };

  constructor(file: FileImport, settings: StockSettings) {
    this.file = file;
    this.settings = settings;
  }

  get upload(): UploadedFile {
    return this.file.upload;
  }

  withSettings(settings: StockSettings): StockImport {
    return new StockImport(this.file, settings);
  }

  /** How the columns are matched; undefined unless the file is CSV. */
  get columns(): MatchedStockColumns | undefined {
    const { format, header } = this.upload.head;
    return format === 'csv' ? matchStockColumns(header, this.settings.map) : undefined;
  }

  /** Whether the columns are clear, so that a dry run makes sense. */
  get isUsable(): boolean {
    return this.columns?.isUsable !== false;
  }

  /** Whether the dry run has a result that may be written. */
  get canStart(): boolean {
    const { preview, isOverZeroLimit: isOver } = this;
    return preview !== undefined && preview.refusal === undefined && !isOver;
  }

  get diskBytes(): number {
    return this.upload.file.sizeBytes;
  }

  /** Whether a stocktake would set more products to 0 than its limit allows. */
  get isOverZeroLimit(): boolean {
    const { missing, inStock } = this.total;
    return isOverZeroLimit(missing, inStock, this.settings.zeroLimitPercent);
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
    this.progress = startStockProgress();
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

  async close(): Promise<void> {
    await this.upload.close();
  }

  #read(target: Parameters<typeof readStockRows>[2]): ReturnType<typeof readStockRows> {
    const { upload: { file, head }, settings: { map, source }, progress } = this;
    const hasSource = source !== undefined;
    const reader = head.format === 'ndjson' ? new StockNdjsonRows(hasSource)
      : new StockCsvRows({ map, hasSource });
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
