/**
 * Search as the store offers it: filters, sorts, exports and totals, answered from the projection
 * by its own thread. Writes have priority: without a request, the projection catches up only while
 * nothing is written.
 */
import { setImmediate } from 'node:timers/promises';
import { SEARCH_IDLE_COMMITS, SEARCH_IDLE_MS } from './limits.ts';
import { AppError } from '../../../domain/error.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { SearchStore } from '../../search-store.ts';
import { decodeProduct } from '../../sql/product-rows.ts';
import type { SearchFiles, SearchRequest, SearchResults } from './protocol.ts';
import { SearchClient } from './search-client.ts';

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
      const found = await this.#send({ kind: 'search', sellerId, query, position });
      const owner = { sellerId, currency: found.currency };
      const products = found.rows.map((row) => decodeProduct(owner, row));
      return { products, hasMore: found.hasMore, position: found.position };
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

  /** Call it after each commit: schedules catching up for when the store is idle. */
  noteCommit(): void {
    this.#commits += 1;
    if (!this.#timer) this.#client?.notify({ kind: 'pause' });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#catchUpWhenIdle(), SEARCH_IDLE_MS).unref();
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
