/**
 * The main thread's side of searching: products by what they are, in any order, answered by a
 * thread of its own from the projection. Writes come first: unasked, the projection is caught up
 * only in times without any, and a commit costs no more here than to be counted.
 */
import { setImmediate } from 'node:timers/promises';
import { SEARCH_IDLE_COMMITS, SEARCH_IDLE_MS } from './limits.ts';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { ProductQuery } from '../../../domain/catalogue/product-query.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { ProductPage } from '../../catalogue-store.ts';
import type {
  CatalogueTotals, ExportQuery, LowStockQuery, ProductExport,
} from '../../search-store.ts';
import { decodeProduct } from '../catalogue/products.ts';
import type { SearchFiles } from './messages.ts';
import { SearchClient } from './search-client.ts';

export class Search {
  readonly #files: SearchFiles;
  #calls: SearchClient | undefined;
  #isClosed = false;
  /** Commits since the projection was last caught up unasked. */
  #commits = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Starts nothing: the thread begins with the first query, or with work to do unasked. */
  constructor(files: SearchFiles) {
    this.#files = files;
  }

  /** @throws AppError `unavailable` where the projection does not come to `position` in time */
  async search(sellerId: SellerId, query: ProductQuery, position: number): Promise<ProductPage> {
    const calls = this.#start();
    const request = { kind: 'search', sellerId, query, position } as const;
    const found = await this.#scheduleCatchUp(calls.send(request));
    const owner = { sellerId, currency: found.currency };
    const products = found.rows.map((row) => decodeProduct(owner, row));
    return { products, hasMore: found.hasMore, position: found.position };
  }

  /** @throws AppError `unavailable`, as above, and where too many exports are under way */
  async export(
    sellerId: SellerId, { filter, sort }: ExportQuery, position: number,
  ): Promise<ProductExport> {
    const calls = this.#start();
    const request = { kind: 'export', sellerId, filter, sort, position } as const;
    const started = await this.#scheduleCatchUp(calls.send(request));
    const pages = readPages(calls, started.export, sellerId, started.currency);
    // To its first yield: only from there on does a generator that is returned come to its end.
    await pages.next();
    return { position: started.position, pages };
  }

  /** @throws AppError `unavailable`, as above */
  readTotals(sellerId: SellerId, position: number): Promise<CatalogueTotals> {
    const calls = this.#start();
    return this.#scheduleCatchUp(calls.send({ kind: 'totals', sellerId, position }));
  }

  /** @throws AppError `unavailable`, as above */
  async countLowStock(
    sellerId: SellerId, { stockMax, limit }: LowStockQuery, position: number,
  ): Promise<number> {
    const calls = this.#start();
    const request = { kind: 'lowStock', sellerId, stockMax, limit, position } as const;
    return (await this.#scheduleCatchUp(calls.send(request))).products;
  }

  /** Call it after each commit. */
  noteCommit(): void {
    this.#commits += 1;
    this.#watch();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#calls?.close();
  }

  #start(): SearchClient {
    if (this.#isClosed) throw new AppError('unavailable', 'This server is stopping. Try again.');
    if (!this.#calls || this.#calls.isLost) this.#calls = new SearchClient(this.#files);
    return this.#calls;
  }

  /** What waited in vain is worth going on with, once there is time. */
  async #scheduleCatchUp<Value>(answer: Promise<Value>): Promise<Value> {
    try {
      return await answer;
    } catch (error) {
      this.#commits += SEARCH_IDLE_COMMITS;
      this.#watch();
      throw error;
    }
  }

  /** Looks for a time without commits; meanwhile nothing is done unasked. */
  #watch(): void {
    if (this.#timer || this.#isClosed) return;
    this.#calls?.notify({ kind: 'pause' });
    let seen = this.#commits;
    this.#timer = setInterval(() => {
      if (seen === this.#commits) this.#catchUpWhenIdle();
      seen = this.#commits;
    }, SEARCH_IDLE_MS).unref();
  }

  #catchUpWhenIdle(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const isRunning = this.#calls && !this.#calls.isLost;
    if (!isRunning && this.#commits < SEARCH_IDLE_COMMITS) return;
    this.#commits = 0;
    this.#start().notify({ kind: 'catchUp' });
  }
}

async function* readPages(
  calls: SearchClient, id: number, sellerId: SellerId, currency: Currency,
): AsyncGenerator<readonly Product[], void, void> {
  try {
    yield [];
    for (;;) {
      const { rows, hasMore } = await calls.send({ kind: 'page', export: id });
      await setImmediate(); // Node hands over many messages at once, and pages might never let go
      if (rows.length > 0) yield rows.map((row) => decodeProduct({ sellerId, currency }, row));
      if (!hasMore) return;
    }
  } finally {
    calls.notify({ kind: 'endExport', export: id });
  }
}
