/**
 * One portal import: a dry run of the uploaded file, repeated whenever the seller changes the
 * settings, then the import itself. Both run in the background, one after the other. Written rows
 * are kept, however the import ends.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { describeProblem } from '../../../http/response/problem.ts';
import type { ImportMode } from '../../../store/catalogue-store.ts';
import type { Actor } from '../../../store/write.ts';
import {
  type ColumnMap, type Columns, type Defaults, matchColumns,
} from '../../../transfer/columns.ts';
import { CsvRows } from '../../../transfer/csv-rows.ts';
import { NdjsonRows } from '../../../transfer/ndjson.ts';
import { formatRowErrors, RejectedRows } from '../../../transfer/rejected-rows.ts';
import { createDryRunTarget, createWriteTarget } from '../../imports/import-target.ts';
import { REJECTED_ROWS_LIMIT_BYTES } from '../limits.ts';
import type { Portal } from '../route.ts';
import {
  type DryRun, previewRows, readRows, type RowProgress, startProgress,
} from './import-rows.ts';
import { TemporaryFile } from './temporary-file.ts';
import type { FileHead } from './uploaded-file.ts';

/** The importing seller, and the currency of prices. */
export interface Importer extends Actor {
  readonly currency: Currency;
}

/** Services that all import jobs share; portal and API imports share the limiter `imports`. */
export type ImportContext =
  Pick<Portal, 'store' | 'imports' | 'uploadFolder' | 'report' | 'clock'>;

interface UploadedFile {
  /** File name to display. */
  readonly name: string;
  readonly file: TemporaryFile;
  readonly head: FileHead;
}

/** Import settings; columns and defaults apply to CSV only. */
export interface ImportSettings {
  readonly mode: ImportMode;
  readonly map: ColumnMap;
  readonly defaults: Defaults;
}

interface ImportState {
  /** `checking` and `importing` are running, `ready` waits for the seller, the rest are final. */
  readonly phase: 'checking' | 'ready' | 'importing' | 'done' | 'cancelled' | 'failed';
  readonly settings: ImportSettings;
  /** Incremented when the settings change, so the seller imports only what the preview showed. */
  readonly revision: number;
  /** Progress of the current or latest run. */
  readonly progress: Readonly<RowProgress>;
  /** The dry run with these settings; undefined until it ends. */
  readonly preview?: DryRun | undefined;
  /** Why the latest run failed. */
  readonly problem?: string | undefined;
  /** When the phase changed, in milliseconds since 1970. */
  readonly updatedAt: number;
}

export class ImportJob {
  readonly id = randomUUID();
  readonly importer: Importer;
  readonly upload: UploadedFile;
  readonly rejected: RejectedRows<TemporaryFile>;
  readonly #context: ImportContext;
  #state: ImportState;
  #abort = new AbortController();
  #task = Promise.resolve();

  constructor(importer: Importer, upload: UploadedFile, context: ImportContext) {
    const { file, head: { format } } = upload;
    this.importer = importer;
    this.upload = upload;
    this.rejected = new RejectedRows({
      source: { format, content: 'products', open: () => file.read() },
      create: () => TemporaryFile.create(context.uploadFolder),
      limitBytes: REJECTED_ROWS_LIMIT_BYTES,
    });
    this.#context = context;
    this.#state = {
      phase: 'ready', settings: { mode: 'upsert', map: new Map(), defaults: new Map() },
      revision: 0, progress: startProgress(context.store), updatedAt: context.clock(),
    };
  }

  get state(): ImportState {
    return this.#state;
  }

  get isRunning(): boolean {
    return this.#state.phase === 'checking' || this.#state.phase === 'importing';
  }

  /** Disk space of the uploaded file; 0 once the import has ended. */
  get diskBytes(): number {
    return this.isRunning || this.#state.phase === 'ready' ? this.upload.file.sizeBytes : 0;
  }

  /** How the columns are matched; undefined unless the file is CSV. */
  get columns(): Columns | undefined {
    const { format, header } = this.upload.head;
    const { mode, map, defaults } = this.#state.settings;
    return format === 'csv' ? matchColumns(header, map, defaults, mode !== 'create') : undefined;
  }

  /** Restarts the dry run with other settings. Does nothing once the import has started. */
  dryRun(settings: ImportSettings): void {
    const { phase, revision } = this.#state;
    if (phase !== 'checking' && phase !== 'ready') return;
    const signal = this.#start({
      phase: 'checking', settings, revision: revision + 1, preview: undefined, problem: undefined,
    });
    this.#task = this.#task.then(async () => {
      const isReadable = !signal.aborted && this.columns?.isUsable !== false;
      const result = isReadable ? await this.#evaluate(signal) : {};
      if (!signal.aborted) this.#update({ phase: 'ready', ...result });
    });
  }

  /**
   * Starts the import. Returns false and does nothing if the dry run has no result or the settings
   * have changed since `revision`.
   * @throws AppError `unavailable` if too many imports are running
   */
  commit(revision: number | undefined): boolean {
    const { phase, preview, revision: current } = this.#state;
    if (phase !== 'ready' || !preview || revision !== current) return false;
    const release = this.#context.imports.acquire(this.importer.sellerId);
    const signal = this.#start({ phase: 'importing' });
    this.#task = this.#import(signal).finally(release).then((end) => this.#update(end));
    return true;
  }

  /** Stops the current run after the current batch. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Resolves when nothing is running or the timeout has passed. */
  async waitUntilIdle(timeoutMs: number): Promise<void> {
    await Promise.race([this.#task, wait(timeoutMs, undefined, { ref: false })]);
  }

  /** Stops the current run and deletes the files. */
  async close(): Promise<void> {
    this.cancel();
    await this.#task;
    await this.upload.file.close();
    await this.rejected.close();
  }

  #start(change: Partial<ImportState>): AbortSignal {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#update({ ...change, progress: startProgress(this.#context.store) });
    return this.#abort.signal;
  }

  #update(change: Partial<ImportState>): void {
    this.#state = { ...this.#state, ...change, updatedAt: this.#context.clock() };
  }

  async #evaluate(signal: AbortSignal): Promise<Partial<ImportState>> {
    const { store, imports } = this.#context;
    const { importer: { sellerId }, state: { settings } } = this;
    let release: (() => void) | undefined;
    try {
      release = imports.acquire(sellerId);
      const target = createDryRunTarget(store, { sellerId, position: 0 }, settings.mode);
      return { preview: await previewRows(this.#read(target), store, sellerId, signal) };
    } catch (error) {
      return { problem: this.#explain(error) };
    } finally {
      release?.();
    }
  }

  async #import(signal: AbortSignal): Promise<Partial<ImportState>> {
    try {
      return { phase: await this.#write(signal) ? 'done' : 'cancelled' };
    } catch (error) {
      return { phase: 'failed', problem: this.#explain(error) };
    }
  }

  /** Returns whether it reached the end of the file. */
  async #write(signal: AbortSignal): Promise<boolean> {
    const { mode } = this.#state.settings;
    const target = createWriteTarget(this.#context.store, this.importer, mode, {
      fileName: this.upload.name,
    });
    try {
      for await (const outcomes of this.#read(target)) {
        for (const { line, errors } of outcomes) {
          if (errors) await this.rejected.add(line, formatRowErrors(errors));
        }
        if (signal.aborted) return false;
      }
      return true;
    } finally {
      await this.rejected.end();
      await this.upload.file.close();
    }
  }

  #read(target: Parameters<typeof readRows>[2]): ReturnType<typeof readRows> {
    const { importer: { currency }, upload: { file, head } } = this;
    const { settings, progress } = this.#state;
    const reader = head.format === 'ndjson' ? new NdjsonRows(currency)
      : new CsvRows(currency, { ...settings, isPartial: settings.mode !== 'create' });
    return readRows(reader, file.read(), target, progress);
  }

  #explain(error: unknown): string {
    const { detail, instance } = describeProblem(error, this.#context.report);
    return instance === undefined ? detail : `${detail} (${instance})`;
  }
}
