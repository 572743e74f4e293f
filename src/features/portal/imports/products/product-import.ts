/** The import of an uploaded product file with certain settings, and its dry run. */
import type { Currency } from '../../../../domain/catalogue/currency.ts';
import type { ImportMode } from '../../../../store/catalogue-store.ts';
import type { Store } from '../../../../store/store.ts';
import type { Actor } from '../../../../store/write.ts';
import {
  type ColumnMap, type Columns, type Defaults, matchColumns,
} from '../../../../transfer/columns.ts';
import { CsvRows } from '../../../../transfer/csv-rows.ts';
import { NdjsonRows } from '../../../../transfer/ndjson.ts';
import { formatRowErrors } from '../../../../transfer/rejected-rows.ts';
import { createDryRunTarget, createWriteTarget } from '../../../imports/import-target.ts';
import { rememberColumns } from '../column-memory.ts';
import type { UploadedFile } from '../uploaded-file.ts';
import {
  type DryRun, previewRows, readRows, type RowProgress, startProgress,
} from './product-rows.ts';

/** The importing seller, and the currency of prices. */
export interface Importer extends Actor {
  readonly currency: Currency;
}

/** A file to import, and where to. */
export interface FileImport {
  readonly importer: Importer;
  readonly upload: UploadedFile;
  readonly store: Store;
}

/** Import settings; columns and defaults apply to CSV only. */
export interface ProductSettings {
  readonly mode: ImportMode;
  readonly map: ColumnMap;
  readonly defaults: Defaults;
  /** Whether `map` is what the seller chose for an earlier file with the same column names. */
  readonly hasRememberedColumns?: boolean;
}

export const DEFAULT_SETTINGS: ProductSettings = {
  mode: 'upsert', map: new Map(), defaults: new Map(),
};

export class ProductImport {
  readonly kind = 'products';
  readonly file: FileImport;
  readonly settings: ProductSettings;
  /** Of the current or latest run. */
  progress: RowProgress;
  /** Undefined until the dry run has reached its end. */
  preview: DryRun | undefined;

  constructor(file: FileImport, settings: ProductSettings) {
    this.file = file;
    this.settings = settings;
    this.progress = startProgress();
  }

  get upload(): UploadedFile {
    return this.file.upload;
  }

  withSettings(settings: ProductSettings): ProductImport {
    return new ProductImport(this.file, settings);
  }

  /** How the columns are matched; undefined unless the file is CSV. */
  get columns(): Columns | undefined {
    const { format, header } = this.upload.head;
    const { mode, map, defaults } = this.settings;
    return format === 'csv' ? matchColumns(header, map, defaults, mode !== 'create') : undefined;
  }

  /** Whether the settings suit the file, so that a dry run makes sense. */
  get isUsable(): boolean {
    return this.columns?.isUsable !== false;
  }

  /** Whether the dry run has a result that may be written. */
  get canStart(): boolean {
    return this.preview !== undefined;
  }

  get diskBytes(): number {
    return this.upload.file.sizeBytes;
  }

  /** Sets `preview`, unless the file cannot be read. */
  async dryRun(signal: AbortSignal): Promise<void> {
    const { importer: { sellerId }, store } = this.file;
    const target = createDryRunTarget(store, { sellerId, position: 0 }, this.settings.mode);
    this.preview = await previewRows(this.#read(target), store, sellerId, signal);
  }

  /** Returns whether it reached the end of the file. */
  async write(signal: AbortSignal): Promise<boolean> {
    const { file: { importer, upload, store }, settings: { mode, map } } = this;
    this.progress = startProgress();
    const rejected = upload.collectRejected(this.kind);
    const target = createWriteTarget(store, importer, mode, { fileName: upload.name });
    try {
      await rememberColumns(store, importer.sellerId, { kind: this.kind, head: upload.head }, map);
      for await (const outcomes of this.#read(target)) {
        for (const { line, errors } of outcomes) {
          if (errors) await rejected.add(line, formatRowErrors(errors));
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

  #read(target: Parameters<typeof readRows>[2]): ReturnType<typeof readRows> {
    const { file: { importer: { currency }, upload: { file, head } }, settings, progress } = this;
    const reader = head.format === 'ndjson' ? new NdjsonRows(currency)
      : new CsvRows(currency, { ...settings, isPartial: settings.mode !== 'create' });
    return readRows(reader, file.read(), target, progress);
  }
}
