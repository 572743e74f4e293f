/** The import of an uploaded product file with certain settings, and its dry run. */
import type { Currency } from '../../../../domain/catalogue/currency.ts';
import type { ImportCounts } from '../../../../domain/catalogue/import.ts';
import type { AccountId } from '../../../../domain/id.ts';
import type { ImportMode } from '../../../../store/catalogue-store.ts';
import type { Store } from '../../../../store/store.ts';
import type { Actor } from '../../../../store/write.ts';
import { type Columns, matchColumns, type Member } from '../../../../transfer/columns.ts';
import { CsvRows } from '../../../../transfer/csv-rows.ts';
import { NdjsonRows } from '../../../../transfer/ndjson.ts';
import { formatRowErrors } from '../../../../transfer/rejected-rows.ts';
import { createDryRunTarget, createWriteTarget } from '../../../imports/import-target.ts';
import type { MemberValues } from '../column-fields.ts';
import { rememberColumns } from '../column-memory.ts';
import type { FileDescription, UploadedFile } from '../uploaded-file.ts';
import {
  type DryRun, previewRows, readRows, type RowProgress, startProgress,
} from './product-rows.ts';

/** The account that uploads, previews or starts, and the currency of prices. */
export interface Importer extends Actor {
  readonly accountId: AccountId;
  readonly currency: Currency;
}

/** A file to import, and where to. */
export interface FileImport {
  readonly importer: Importer;
  readonly upload: UploadedFile;
  readonly store: Store;
}

/** Import settings, as plain data; columns and defaults apply to CSV only. */
export interface ProductSettings {
  readonly mode: ImportMode;
  readonly map: MemberValues<Member>;
  readonly defaults: MemberValues<Member>;
  /** Whether `map` is what the seller chose for an earlier file with the same column names. */
  readonly hasRememberedColumns?: boolean;
}

export const DEFAULT_SETTINGS: ProductSettings = {
  mode: 'upsert', map: [], defaults: [],
};

/** What the pages show of an import of products: plain data. */
export interface ProductDescription {
  readonly kind: 'products';
  readonly file: FileDescription;
  readonly settings: ProductSettings;
  /** Of the current or latest run. */
  readonly progress: RowProgress;
  /** Undefined until the dry run has reached its end. */
  readonly preview: DryRun | undefined;
}

/** How the columns are matched; undefined unless the file is CSV. */
export function columnsOf(
  { file: { head: { format, header } }, settings: { mode, map, defaults } }:
  Pick<ProductDescription, 'file' | 'settings'>,
): Columns | undefined {
  if (format !== 'csv') return undefined;
  return matchColumns(header, new Map(map), new Map(defaults), mode !== 'create');
}

export class ProductImport {
  readonly kind = 'products';
  readonly file: FileImport;
  readonly settings: ProductSettings;
  /** Of the current or latest run. */
  progress: RowProgress;
  /** Undefined until the dry run has reached its end. */
  preview: DryRun | undefined;

  /** @param latest Of the latest run, if there was one. */
  constructor(
    file: FileImport, settings: ProductSettings,
    latest?: Pick<ProductDescription, 'progress' | 'preview'>,
  ) {
    this.file = file;
    this.settings = settings;
    this.progress = latest?.progress ?? startProgress();
    this.preview = latest?.preview;
  }

  get upload(): UploadedFile {
    return this.file.upload;
  }

  withSettings(settings: ProductSettings): ProductImport {
    return new ProductImport(this.file, settings);
  }

  /** For the next run, by this account: the same task without progress. */
  begin(importer: Importer): ProductImport {
    const { settings, preview } = this;
    const file = { ...this.file, importer };
    return new ProductImport(file, settings, { progress: startProgress(), preview });
  }

  get description(): ProductDescription {
    const { kind, upload: { description: file }, settings, progress, preview } = this;
    return { kind, file, settings, progress, preview };
  }

  /** Whether the settings suit the file, so that a dry run makes sense. */
  get isUsable(): boolean {
    return columnsOf(this.description)?.isUsable !== false;
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

  /** After the node that wrote it has stopped. @param counts Of the import's record, if known. */
  recover(counts: ImportCounts = {}): void {
    const { progress, upload } = this;
    Object.assign(progress.counts, counts);
    progress.rows = Object.values(progress.counts).reduce((sum, count) => sum + count, 0);
    upload.noteIncomplete();
  }

  #read(target: Parameters<typeof readRows>[2]): ReturnType<typeof readRows> {
    const { file: { importer: { currency }, upload: { file, head } }, settings, progress } = this;
    const reader = head.format === 'ndjson' ? new NdjsonRows(currency)
      : new CsvRows(currency, {
        map: new Map(settings.map), defaults: new Map(settings.defaults),
        isPartial: settings.mode !== 'create',
      });
    return readRows(reader, file.read(), target, progress);
  }
}
