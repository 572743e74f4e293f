/**
 * One import of the portal, from the upload of its file to the last row: tried as often as its
 * seller changes how it is to be read, then made once. Both go on without anybody watching, and one
 * after the other. What was written stays, whatever ends it.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createWriteTarget } from '../../imports/import-target.ts';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { ConcurrencyLimiter } from '../../../http/concurrency-limiter.ts';
import { describeProblem, type ErrorReporter } from '../../../http/response/problem.ts';
import type { Store } from '../../../store/store.ts';
import type { Actor } from '../../../store/write.ts';
import { type ColumnMatch, matchColumns } from '../../../transfer/columns.ts';
import { formatRowErrors, RejectedRows } from '../../../transfer/rejected-rows.ts';
import { REJECTED_ROWS_LIMIT_BYTES } from '../limits.ts';
import type { FileHead } from './file-head.ts';
import { type Preview, previewRows } from './preview.ts';
import { type ImportSettings, RowProgress, toCsvSettings } from './row-reading.ts';
import { TemporaryFile } from './temporary-file.ts';

/** Who imports, and in what their prices are. */
export interface Importer extends Actor {
  readonly currency: Currency;
}

/** What all imports of a process share. */
export interface ImportMeans {
  readonly store: Store;
  /** Imports under way, those of the API among them. */
  readonly slots: ConcurrencyLimiter<SellerId>;
  /** Where files are made, and how much they may take of it. */
  readonly folder: string;
  readonly keptLimitBytes: number;
  readonly report: ErrorReporter;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** An upload that was received. */
interface UploadedFile {
  /** As people know it; it may be empty. */
  readonly name: string;
  readonly file: TemporaryFile;
  readonly head: FileHead;
}

/** `trying` and `importing` go on, `ready` waits for its seller, the others are ends. */
type ImportPhase = 'trying' | 'ready' | 'importing' | 'done' | 'cancelled' | 'broken';

const BEGINNING: ImportSettings = { mode: 'upsert', map: new Map(), defaults: new Map() };

export class ProductImport {
  readonly id: string;
  readonly importer: Importer;
  readonly upload: UploadedFile;
  readonly #means: ImportMeans;
  readonly #refused: RejectedRows<TemporaryFile>;
  #phase: ImportPhase = 'ready';
  #settings = BEGINNING;
  #revision = 0;
  #progress: RowProgress;
  #preview: Preview | undefined;
  #problem: string | undefined;
  #touchedAt: number;
  #abort = new AbortController();
  #task = Promise.resolve();

  constructor(id: string, importer: Importer, upload: UploadedFile, means: ImportMeans) {
    const { file, head: { format } } = upload;
    this.id = id;
    this.importer = importer;
    this.upload = upload;
    this.#means = means;
    this.#refused = new RejectedRows({
      source: { format, open: () => file.read() },
      create: () => TemporaryFile.create(means.folder),
      limitBytes: REJECTED_ROWS_LIMIT_BYTES,
    });
    this.#progress = new RowProgress(file.sizeBytes);
    this.#touchedAt = means.clock();
  }

  get phase(): ImportPhase {
    return this.#phase;
  }

  get isBusy(): boolean {
    return this.#phase === 'trying' || this.#phase === 'importing';
  }

  /** What its file takes of the disk: it is given back once the import has come to an end. */
  get heldBytes(): number {
    return this.isBusy || this.#phase === 'ready' ? this.upload.file.sizeBytes : 0;
  }

  get settings(): ImportSettings {
    return this.#settings;
  }

  /** Counts the changes of the settings: what a seller saw is what is made. */
  get revision(): number {
    return this.#revision;
  }

  /** How the columns are read; undefined where the file has none. */
  get columns(): ColumnMatch | undefined {
    const { head } = this.upload;
    if (head.format !== 'csv') return undefined;
    const { map, defaults, isPartial } = toCsvSettings(this.#settings);
    return matchColumns(head.header, map, defaults, isPartial);
  }

  /** Of what is going on, or went on last. */
  get progress(): RowProgress {
    return this.#progress;
  }

  /** Undefined until the file was tried to its end, or to the limit, as it is to be read now. */
  get preview(): Preview | undefined {
    return this.#preview;
  }

  /** Why it did not come to its end; undefined where it did, or was not told to. */
  get problem(): string | undefined {
    return this.#problem;
  }

  get refused(): Pick<RejectedRows<TemporaryFile>, 'file' | 'isComplete'> {
    return this.#refused;
  }

  /** When it last changed, in milliseconds since 1970. */
  get touchedAt(): number {
    return this.#touchedAt;
  }

  /** Tries the file in another way. Does nothing once it was told to import. */
  try(settings: ImportSettings): void {
    if (this.#phase !== 'trying' && this.#phase !== 'ready') return;
    this.#settings = settings;
    this.#revision += 1;
    this.#preview = undefined;
    this.#problem = undefined;
    this.#begin('trying');
    const isUsable = this.columns?.isUsable ?? true;
    const { signal } = this.#abort;
    this.#task = this.#task.then(async () => {
      if (signal.aborted) return;
      if (isUsable) await this.#try(signal);
      if (!signal.aborted) this.#touch('ready');
    });
  }

  /**
   * Begins to import what was tried. Whether it did: not where the settings have changed since
   * `revision`, nor where nothing could come of it.
   * @throws AppError `unavailable` where too many imports are under way
   */
  commit(revision: number | undefined): boolean {
    if (this.#phase !== 'ready' || !this.#preview || revision !== this.#revision) return false;
    const end = this.#means.slots.acquire(this.importer.sellerId);
    this.#begin('importing');
    this.#task = this.#import(end, this.#abort.signal);
    return true;
  }

  /** Ends what goes on, after the rows that are being written. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Resolves once nothing goes on, or after a time. */
  async settle(timeoutMs: number): Promise<void> {
    const isOver = new AbortController();
    const timer = wait(timeoutMs, undefined, { signal: isOver.signal, ref: false });
    await Promise.race([this.#task, timer]);
    isOver.abort();
    await timer.catch(() => {});
  }

  /** Ends what goes on, and gives the room of the files back. */
  async close(): Promise<void> {
    this.cancel();
    await this.#task;
    await this.upload.file.close();
    await this.#refused.close();
  }

  #begin(phase: ImportPhase): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#progress = new RowProgress(this.upload.file.sizeBytes);
    this.#touch(phase);
  }

  #touch(phase: ImportPhase): void {
    this.#phase = phase;
    this.#touchedAt = this.#means.clock();
  }

  async #try(signal: AbortSignal): Promise<void> {
    const { store, slots } = this.#means;
    const { sellerId } = this.importer;
    const progress = this.#progress;
    let end: (() => void) | undefined;
    try {
      end = slots.acquire(sellerId);
      const preview = await previewRows({ store, sellerId }, this.#rowFile(), progress, signal);
      if (!signal.aborted) this.#preview = preview;
    } catch (error) {
      const problem = this.#explain(error);
      if (!signal.aborted) this.#problem = problem;
    } finally {
      end?.();
    }
  }

  async #import(end: () => void, signal: AbortSignal): Promise<void> {
    let phase: ImportPhase;
    try {
      phase = await this.#write(signal) ? 'done' : 'cancelled';
    } catch (error) {
      this.#problem = this.#explain(error);
      phase = 'broken';
    } finally {
      end();
    }
    this.#touch(phase);
  }

  /** Whether it came to the end of the file. */
  async #write(signal: AbortSignal): Promise<boolean> {
    const { mode } = this.#settings;
    const target = createWriteTarget(this.#means.store, this.importer, mode, undefined);
    try {
      for await (const outcomes of this.#progress.take(this.#rowFile(), target)) {
        for (const { line, errors } of outcomes) {
          if (errors) await this.#refused.add(line, formatRowErrors(errors));
        }
        if (signal.aborted) return false;
      }
      return true;
    } finally {
      await this.#refused.end();
      await this.upload.file.close();
    }
  }

  #rowFile() {
    const { file, head: { format } } = this.upload;
    return { file, format, settings: this.#settings, currency: this.importer.currency };
  }

  #explain(error: unknown): string {
    const { detail, instance } = describeProblem(error, this.#means.report);
    return instance === undefined ? detail : `${detail} (${instance})`;
  }
}
