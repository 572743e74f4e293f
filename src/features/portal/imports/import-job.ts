/**
 * One import in the portal: a dry run of the uploaded file, repeated whenever the seller changes
 * the settings, then the import itself. Both run in the background, one after the other. Rows that
 * were written are kept, however the import ends.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { ConcurrencyLimiter } from '../../../http/concurrency-limiter.ts';
import { describeProblem, type ErrorReporter } from '../../../http/response/problem.ts';
import type { Store } from '../../../store/store.ts';
import type { Actor } from '../../../store/write.ts';
import { type ColumnMatch, matchColumns } from '../../../transfer/columns.ts';
import { formatRowErrors, RejectedRows } from '../../../transfer/rejected-rows.ts';
import { createWriteTarget } from '../../imports/import-target.ts';
import { REJECTED_ROWS_LIMIT_BYTES } from '../limits.ts';
import type { FileHead } from './uploaded-file.ts';
import {
  type DryRun, dryRunRows, type ImportSettings, readRows, type RowFile, type RowProgress,
  startProgress, toCsvSettings,
} from './import-rows.ts';
import { TemporaryFile } from './temporary-file.ts';

/** Who imports, and the currency of the prices. */
export interface Importer extends Actor {
  readonly currency: Currency;
}

/** What all import jobs of a server share. */
export interface ImportContext {
  readonly store: Store;
  /** Limits running imports, including those of the API. */
  readonly limiter: ConcurrencyLimiter<SellerId>;
  /** Folder of the temporary files, and the limit on their total size. */
  readonly folder: string;
  readonly keptLimitBytes: number;
  readonly report: ErrorReporter;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

interface UploadedFile {
  /** File name for people; it may be empty. */
  readonly name: string;
  readonly file: TemporaryFile;
  readonly head: FileHead;
}

interface ImportState {
  /** `checking` and `importing` run, `ready` waits for the seller, the others are final. */
  readonly phase: 'checking' | 'ready' | 'importing' | 'done' | 'cancelled' | 'failed';
  readonly settings: ImportSettings;
  /** Counts changes of the settings: only what the seller has seen may be imported. */
  readonly revision: number;
  /** Of the current run or the last one. */
  readonly progress: Readonly<RowProgress>;
  /** The dry run with these settings; undefined until it ends. */
  readonly preview: DryRun | undefined;
  /** Why the last run failed. */
  readonly problem: string | undefined;
  /** When the phase changed, in milliseconds since 1970. */
  readonly updatedAt: number;
}

export class ImportJob {
  readonly id: string;
  readonly importer: Importer;
  readonly upload: UploadedFile;
  readonly #context: ImportContext;
  readonly #rejected: RejectedRows<TemporaryFile>;
  #state: ImportState;
  #abort = new AbortController();
  #task = Promise.resolve();

  constructor(id: string, importer: Importer, upload: UploadedFile, context: ImportContext) {
    const { file, head: { format } } = upload;
    this.id = id;
    this.importer = importer;
    this.upload = upload;
    this.#context = context;
    this.#rejected = new RejectedRows({
      source: { format, open: () => file.read() },
      create: () => TemporaryFile.create(context.folder),
      limitBytes: REJECTED_ROWS_LIMIT_BYTES,
    });
    this.#state = {
      phase: 'ready', settings: { mode: 'upsert', map: new Map(), defaults: new Map() },
      revision: 0, progress: startProgress(), preview: undefined, problem: undefined,
      updatedAt: context.clock(),
    };
  }

  get state(): ImportState {
    return this.#state;
  }

  get isRunning(): boolean {
    return this.#state.phase === 'checking' || this.#state.phase === 'importing';
  }

  /** Size of its file on disk, which is released when the import ends. */
  get diskBytes(): number {
    return this.isRunning || this.#state.phase === 'ready' ? this.upload.file.sizeBytes : 0;
  }

  /** How the columns are matched; undefined unless the file is CSV. */
  get columns(): ColumnMatch | undefined {
    const { head } = this.upload;
    if (head.format !== 'csv') return undefined;
    const { map, defaults, isPartial } = toCsvSettings(this.#state.settings);
    return matchColumns(head.header, map, defaults, isPartial);
  }

  get rejected(): Pick<RejectedRows<TemporaryFile>, 'file' | 'isComplete'> {
    return this.#rejected;
  }

  /** Restarts the dry run with other settings. Does nothing once the import has started. */
  dryRun(settings: ImportSettings): void {
    const { phase, revision } = this.#state;
    if (phase !== 'checking' && phase !== 'ready') return;
    const signal = this.#start({
      phase: 'checking', settings, revision: revision + 1, preview: undefined, problem: undefined,
    });
    const isUsable = this.columns?.isUsable ?? true;
    this.#task = this.#task.then(async () => {
      if (signal.aborted) return;
      const result = isUsable ? await this.#evaluate(signal) : {};
      if (!signal.aborted) this.#update({ phase: 'ready', ...result });
    });
  }

  /**
   * Starts the import. False, without effect, if the dry run has no result or the settings have
   * changed since `revision`.
   * @throws AppError `unavailable` if too many imports are running
   */
  commit(revision: number | undefined): boolean {
    const { phase, preview, revision: current } = this.#state;
    if (phase !== 'ready' || !preview || revision !== current) return false;
    const release = this.#context.limiter.acquire(this.importer.sellerId);
    const signal = this.#start({ phase: 'importing' });
    this.#task = this.#import(release, signal);
    return true;
  }

  /** Stops the current run after the batch that is being written. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Resolves when nothing is running, or after the timeout. */
  async waitUntilIdle(timeoutMs: number): Promise<void> {
    const idle = new AbortController();
    const timer = wait(timeoutMs, undefined, { signal: idle.signal, ref: false });
    await Promise.race([this.#task, timer]);
    idle.abort();
    await timer.catch(() => {});
  }

  /** Stops the current run and deletes the files. */
  async close(): Promise<void> {
    this.cancel();
    await this.#task;
    await this.upload.file.close();
    await this.#rejected.close();
  }

  #start(change: Partial<ImportState>): AbortSignal {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#update({ ...change, progress: startProgress() });
    return this.#abort.signal;
  }

  #update(change: Partial<ImportState>): void {
    this.#state = { ...this.#state, ...change, updatedAt: this.#context.clock() };
  }

  async #evaluate(signal: AbortSignal): Promise<Partial<ImportState>> {
    const { store, limiter } = this.#context;
    const { sellerId } = this.importer;
    const { progress } = this.#state;
    let release: (() => void) | undefined;
    try {
      release = limiter.acquire(sellerId);
      return { preview: await dryRunRows({ store, sellerId }, this.#rowFile(), progress, signal) };
    } catch (error) {
      return { problem: this.#explain(error) };
    } finally {
      release?.();
    }
  }

  async #import(release: () => void, signal: AbortSignal): Promise<void> {
    let end: Partial<ImportState>;
    try {
      end = { phase: await this.#write(signal) ? 'done' : 'cancelled' };
    } catch (error) {
      end = { phase: 'failed', problem: this.#explain(error) };
    } finally {
      release();
    }
    this.#update(end);
  }

  /** Whether it reached the end of the file. */
  async #write(signal: AbortSignal): Promise<boolean> {
    const { settings: { mode }, progress } = this.#state;
    const target = createWriteTarget(this.#context.store, this.importer, mode, undefined);
    try {
      for await (const outcomes of readRows(this.#rowFile(), target, progress)) {
        for (const { line, errors } of outcomes) {
          if (errors) await this.#rejected.add(line, formatRowErrors(errors));
        }
        if (signal.aborted) return false;
      }
      return true;
    } finally {
      await this.#rejected.end();
      await this.upload.file.close();
    }
  }

  #rowFile(): RowFile {
    const { file, head: { format } } = this.upload;
    return { file, format, settings: this.#state.settings, currency: this.importer.currency };
  }

  #explain(error: unknown): string {
    const { detail, instance } = describeProblem(error, this.#context.report);
    return instance === undefined ? detail : `${detail} (${instance})`;
  }
}
