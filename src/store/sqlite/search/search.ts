/**
 * Search as the store offers it: filters, sorts, exports and totals, answered from the projection
 * by its own thread. Writes have priority: without a request, the projection catches up only while
 * nothing is written.
 */
import { setImmediate } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import {
  SEARCH_IDLE_COMMITS, SEARCH_IDLE_MS, SEARCH_QUEUE_LIMIT, SEARCH_YOUNG_HEAP_MIB,
} from './limits.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { searchQueueFull, temporarilyUnavailable } from '../../rules/search-rejections.ts';
import type { SearchStore } from '../../search-store.ts';
import { decodeProduct } from '../../sql/product-rows.ts';
import { readInteger } from '../../sql/sql.ts';
import { openReader } from '../engine/connection.ts';
import type {
  SearchFiles, SearchNotification, SearchRequest, SearchResponse, SearchResults,
} from './protocol.ts';
import { startThread } from '../../../runtime/thread.ts';

export class Search {
  readonly #files: SearchFiles;
  #client: SearchClient | undefined;
  #isClosed = false;
  /** Commits since the projection last caught up while idle. */
  #commits = 0;
  #timer: NodeJS.Timeout | undefined;

  /** The thread starts with the first request, or after enough commits. */
  constructor(files: SearchFiles) {
    this.#files = files;
  }

  readonly store: SearchStore = {
    searchProducts: async (sellerId, query, position) => {
      const page = await this.#send({ kind: 'search', sellerId, query, position });
      const owner = { sellerId, currency: page.currency };
      const products = page.rows.map((row) => decodeProduct(owner, row));
      return { products, hasMore: page.hasMore, position: page.position };
    },
    lookUpProducts: async (sellerId, filters, position) => {
      const found = await this.#send({ kind: 'lookup', sellerId, filters, position });
      const owner = { sellerId, currency: found.currency };
      const results = found.results.map((rows) => rows.map((row) => decodeProduct(owner, row)));
      return { results, position: found.position };
    },
    readTotals: (sellerId, position, archived) =>
      this.#send({ kind: 'totals', sellerId, position, archived }),
    countProducts: async (sellerId, filter, position) =>
      await this.#send({ kind: 'count', sellerId, filter, position }) ?? undefined,
    countLowStock: (sellerId, query, position) =>
      this.#send({ kind: 'lowStock', sellerId, ...query, position }),
    listCategories: (sellerId, query, position) =>
      this.#send({ kind: 'categories', sellerId, ...query, position }),
    exportProducts: async (sellerId, query, position) => {
      const client = this.#start();
      const started = await this.#send({ kind: 'export', sellerId, ...query, position });
      const pages = readPages(client, started.export, { sellerId, currency: started.currency });
      // Advance to the first yield: before it, `return` would skip the generator's finally block.
      await pages.next();
      return { position: started.position, pages };
    },
  };

  /** Deletes the products of a seller that is marked as deleted from the projection. */
  async forget(sellerId: SellerId): Promise<void> {
    await this.#send({ kind: 'forget', sellerId });
  }

  /** Call it after each commit: schedules catching up for when the store is idle. */
  noteCommit(): void {
    this.#commits += 1;
    if (!this.#timer) this.#client?.notify({ kind: 'pause' });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#catchUpWhenIdle(), SEARCH_IDLE_MS).unref();
  }

  /**
   * How many changes of all sellers the projection does not have; undefined if there is none.
   * @param countChanges Counts those of the catalogue.
   */
  readLag(countChanges: () => number): number | undefined {
    try {
      using projection = openReader(this.#files.search);
      const row = projection.prepare(`
        SELECT coalesce(sum(position), 0) AS n FROM seller WHERE built_to IS NULL`).get() ?? {};
      return Math.max(0, countChanges() - readInteger(row, 'n'));
    } catch {
      return undefined; // such as before the first search, or while a damaged file is replaced
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client?.close();
  }

  #start(): SearchClient {
    if (this.#isClosed) throw new AppError('unavailable', 'This server is stopping. Retry soon.');
    if (!this.#client || this.#client.isLost) this.#client = new SearchClient(this.#files);
    return this.#client;
  }

  /** After an error, such as a timeout, catching up continues when the store is idle. */
  async #send<Request extends SearchRequest>(
    request: Request,
  ): Promise<SearchResults[Request['kind']]> {
    try {
      return await this.#start().send(request);
    } catch (error) {
      this.#commits += SEARCH_IDLE_COMMITS;
      this.noteCommit();
      throw error;
    }
  }

  #catchUpWhenIdle(): void {
    this.#timer = undefined;
    const isRunning = this.#client && !this.#client.isLost;
    if (this.#isClosed || (!isRunning && this.#commits < SEARCH_IDLE_COMMITS)) return;
    this.#commits = 0;
    this.#start().notify({ kind: 'catchUp' });
  }
}

async function* readPages(
  client: SearchClient, id: number, owner: Pick<Product, 'sellerId' | 'currency'>,
): AsyncGenerator<readonly Product[], void, void> {
  try {
    yield [];
    for (;;) {
      const { rows, hasMore } = await client.send({ kind: 'page', export: id });
      await setImmediate(); // Node delivers messages in batches: lets other work run between pages
      if (rows.length > 0) yield rows.map((row) => decodeProduct(owner, row));
      if (!hasMore) return;
    }
  } finally {
    client.notify({ kind: 'endExport', export: id });
  }
}

/**
 * The main thread's side of one search thread: a promise per request. If the thread is lost,
 * pending requests are rejected, and the client cannot be used again.
 */
class SearchClient {
  readonly #thread: Worker;
  readonly #ended = Promise.withResolvers<void>();
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  /** Why no more requests can be sent. */
  #end: AppError | undefined;

  constructor(files: SearchFiles) {
    this.#thread = startThread(new URL('search-thread.ts', import.meta.url), {
      workerData: files, name: 'search',
      resourceLimits: { maxYoungGenerationSizeMb: SEARCH_YOUNG_HEAP_MIB },
    });
    // search-thread.ts sends nothing else.
    this.#thread.on('message', (response: SearchResponse) => this.#settle(response));
    this.#thread.on('error', (cause) => this.#stop('The search was interrupted.', cause));
    this.#thread.on('exit', () => {
      this.#stop('The search was interrupted.');
      this.#ended.resolve();
    });
  }

  get isLost(): boolean {
    return this.#end !== undefined;
  }

  async send<Request extends SearchRequest>(
    request: Request,
  ): Promise<SearchResults[Request['kind']]> {
    if (this.#end) throw this.#end;
    if (this.#pending.size >= SEARCH_QUEUE_LIMIT) throw searchQueueFull();
    this.#lastId += 1;
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(this.#lastId, pending);
    this.#thread.postMessage(JSON.stringify({ id: this.#lastId, ...request }));
    // The cast: search-thread.ts answers each kind of request with its result.
    return await pending.promise as SearchResults[Request['kind']];
  }

  notify(message: SearchNotification): void {
    this.#thread.postMessage(JSON.stringify(message));
  }

  /** Rejects pending requests, and ends the thread. */
  close(): Promise<void> {
    this.notify({ kind: 'close' });
    this.#stop('This server is stopping.');
    return this.#ended.promise;
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
