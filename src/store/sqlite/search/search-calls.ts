/**
 * The main thread's side of one thread of the search: a promise for each call. Where the thread is
 * lost, what waits is refused, and this object is of no more use.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { SEARCH_QUEUE_LIMIT, SEARCH_YOUNG_HEAP_MIB } from './limits.ts';
import { AppError } from '../../../domain/error.ts';
import type { CatalogueTotals } from '../../store.ts';
import type {
  CountedProducts, ExportRequest, FoundPage, FoundRows, LowStockRequest, PageRequest,
  PositionRequest, SearchAnswer, SearchFiles, SearchNote, SearchRequest, StartedExport,
  TotalsRequest,
} from './messages.ts';
import { temporarilyUnavailable, queueFull } from './search-errors.ts';

interface Pending {
  resolve(value: unknown): void;
  reject(error: AppError): void;
}

export class SearchCalls {
  readonly #thread: Worker;
  readonly #ended: Promise<void>;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  /** Why nothing more can be asked. */
  #end: AppError | undefined;

  constructor(files: SearchFiles) {
    const entry = new URL(`search-thread${extname(import.meta.filename)}`, import.meta.url);
    const resourceLimits = { maxYoungGenerationSizeMb: SEARCH_YOUNG_HEAP_MIB };
    this.#thread = new Worker(entry, { workerData: files, name: 'search', resourceLimits });
    // search-thread.ts sends nothing else.
    this.#thread.on('message', (answer: SearchAnswer) => this.#settle(answer));
    this.#thread.on('error', (cause) => this.#stop('The search was interrupted.', cause));
    this.#ended = new Promise((resolve) => {
      this.#thread.on('exit', () => {
        this.#stop('The search was interrupted.');
        resolve();
      });
    });
  }

  get isLost(): boolean {
    return this.#end !== undefined;
  }

  call(request: SearchRequest): Promise<FoundPage>;
  call(request: ExportRequest): Promise<StartedExport>;
  call(request: TotalsRequest): Promise<CatalogueTotals>;
  call(request: LowStockRequest): Promise<CountedProducts>;
  call(request: PageRequest): Promise<FoundRows>;
  call(request: PositionRequest | PageRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#end) throw this.#end;
      if (this.#pending.size >= SEARCH_QUEUE_LIMIT) throw queueFull();
      this.#lastId += 1;
      this.#pending.set(this.#lastId, { resolve, reject });
      this.#thread.postMessage(JSON.stringify({ id: this.#lastId, ...request }));
    });
  }

  tell(note: SearchNote): void {
    this.#thread.postMessage(JSON.stringify(note));
  }

  /** Refuses what waits, and ends the thread. */
  close(): Promise<void> {
    this.tell({ kind: 'close' });
    this.#stop('This server is stopping.');
    return this.#ended;
  }

  #settle(answer: SearchAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if ('value' in answer) {
      pending?.resolve(answer.value);
      return;
    }
    const { code, detail, retryAfterSeconds, cause } = answer.failure;
    const details = retryAfterSeconds === undefined ? { cause } : { cause, retryAfterSeconds };
    pending?.reject(new AppError(code, detail, details));
  }

  #stop(what: string, cause?: unknown): void {
    this.#end ??= temporarilyUnavailable(`${what} Try again.`, cause);
    for (const { reject } of this.#pending.values()) reject(this.#end);
    this.#pending.clear();
  }
}
