/**
 * Exports that are copied into a temporary database first, so that a slow consumer holds nothing in
 * the store. It reads pages as soon as they are there, as slowly as it likes.
 */
import type { Product } from '../../domain/catalogue/product-fields.ts';
import type { SellerId } from '../../domain/id.ts';
import type { ProductPage } from '../catalogue-store.ts';
import { limitExports } from '../rules/export-limits.ts';
import type { ExportQuery, SearchStore } from '../search-store.ts';
import { AppError } from '../../domain/error.ts';
import { readText } from '../sql/sql.ts';
import { openTables } from './temporary-database.ts';

/** Adds all matching products, in pages. */
type CopyPages = (
  sellerId: SellerId, query: ExportQuery, position: number, add: (page: ProductPage) => void,
) => Promise<void>;

export function prepareSpooledExports(copyPages: CopyPages): SearchStore['exportProducts'] {
  const limiter = limitExports();
  return async (sellerId, query, position) => {
    using opened = new DisposableStack();
    opened.defer(limiter.acquire(sellerId));
    const spool = openSpool<Product>();
    opened.defer(spool.close);
    const first = Promise.withResolvers<ProductPage>();
    const copy = copyPages(sellerId, query, position, (page) => {
      spool.add(page.products);
      first.resolve(page);
    });
    copy.then(() => spool.end(), (error: unknown) => {
      first.reject(error);
      spool.fail(error);
    });
    const { position: reached } = await first.promise;
    const resources = opened.move();
    const pages = spool.read(() => resources.dispose());
    await pages.next(); // to the first yield: before it, `return` would not close the spool
    return { position: reached, pages };
  };
}

/** Pages that are written as they come, and read once, in order, as slowly as the reader likes. */
function openSpool<Item>() {
  const db = openTables('CREATE TABLE page (n INTEGER PRIMARY KEY, items TEXT NOT NULL) STRICT');
  const insert = db.prepare('INSERT INTO page (items) VALUES (?)');
  const take = db.prepare('SELECT items FROM page WHERE n = ?');
  let failure: unknown;
  let isComplete = false;
  let wake = (): void => {};

  return {
    /** @throws AppError `unavailable` once it is closed */
    add(items: readonly Item[]): void {
      if (!db.isOpen) throw new AppError('unavailable', 'The export was ended.');
      if (items.length > 0) insert.run(JSON.stringify(items));
      wake();
    },
    end(): void {
      isComplete = true;
      wake();
    },
    /** Its reader gets the error after the pages. */
    fail(error: unknown): void {
      failure = error;
      wake();
    },
    /** Begins with an empty page: only after the first one does `return` end a generator's work. */
    async *read(onEnd: () => void): AsyncGenerator<readonly Item[], void, void> {
      try {
        yield [];
        for (let n = 1; ; n += 1) {
          let row = take.get(n);
          while (!row && !isComplete && failure === undefined) {
            await new Promise<void>((resolve) => { wake = resolve; });
            row = take.get(n);
          }
          if (!row && failure !== undefined) throw failure;
          if (!row) return;
          // The cast: the page holds what `add` wrote.
          yield JSON.parse(readText(row, 'items')) as readonly Item[];
        }
      } finally {
        onEnd();
      }
    },
    close: () => db[Symbol.dispose](),
  };
}
