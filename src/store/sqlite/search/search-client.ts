/**
 * The main thread's side of one search thread: a promise per request. If the thread is lost,
 * pending requests are rejected, and the client cannot be used again.
 */
import { extname } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { SEARCH_QUEUE_LIMIT, SEARCH_YOUNG_HEAP_MIB } from './limits.ts';
import { AppError } from '../../../domain/error.ts';
import { startThread } from '../../../runtime/thread.ts';
import {
  queueFull, type SearchFiles, type SearchNotification, type SearchRequest, type SearchResponse,
  type SearchResults, temporarilyUnavailable,
} from './protocol.ts';

interface Pending {
  resolve(value: unknown): void;
  reject(error: AppError): void;
}

export class SearchClient {
  readonly #thread: Worker;
  readonly #ended: Promise<void>;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  /** Why no more requests can be sent. */
  #end: AppError | undefined;

  constructor(files: SearchFiles) {
    const entry = new URL(`search-thread${extname(import.meta.filename)}`, import.meta.url);
    const resourceLimits = { maxYoungGenerationSizeMb: SEARCH_YOUNG_HEAP_MIB };
    this.#thread = startThread(entry, { workerData: files, name: 'search', resourceLimits });
    // search-thread.ts sends nothing else.
    this.#thread.on('message', (response: SearchResponse) => this.#settle(response));
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

  send<Request extends SearchRequest>(request: Request): Promise<SearchResults[Request['kind']]> {
    return new Promise((resolve, reject) => {
      if (this.#end) throw this.#end;
      if (this.#pending.size >= SEARCH_QUEUE_LIMIT) throw queueFull();
      this.#lastId += 1;
      // The cast: search-thread.ts answers each kind of request with its result.
      const settle = resolve as Pending['resolve'];
      this.#pending.set(this.#lastId, { resolve: settle, reject });
      this.#thread.postMessage(JSON.stringify({ id: this.#lastId, ...request }));
    });
  }

  notify(message: SearchNotification): void {
    this.#thread.postMessage(JSON.stringify(message));
  }

  /** Rejects pending requests, and ends the thread. */
  close(): Promise<void> {
    this.notify({ kind: 'close' });
    this.#stop('This server is stopping.');
    return this.#ended;
  }

  #settle(response: SearchResponse): void {
    const pending = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if ('value' in response) pending?.resolve(response.value);
    else pending?.reject(new AppError(...response.failure));
  }

  #stop(reason: string, cause?: unknown): void {
    this.#end ??= temporarilyUnavailable(`${reason} Retry soon.`, cause);
    for (const { reject } of this.#pending.values()) reject(this.#end);
    this.#pending.clear();
  }
}
