/**
 * Exports that are copied into a temporary database first, so that a slow consumer holds nothing in
 * the store. It reads pages as soon as they are there, as slowly as it likes.
 */
import type { Product } from '../../domain/catalogue/product-fields.ts';
import type { SellerId } from '../../domain/id.ts';
import type { ProductPage } from '../catalogue-store.ts';
import { assertExportRoom } from '../rules/export-limits.ts';
import type { ExportQuery, SearchStore } from '../search-store.ts';
import { AppError } from '../../domain/error.ts';
import { readText } from '../sql/sql.ts';
import { openTemporary } from './temporary-database.ts';

/** Adds all matching products, in pages. */
type CopyPages = (
  sellerId: SellerId, query: ExportQuery, position: number, add: (page: ProductPage) => void,
) => Promise<void>;

export function prepareSpooledExports(copyPages: CopyPages): SearchStore['exportProducts'] {
  const open = new Set<{ readonly sellerId: SellerId }>();
  return async (sellerId, query, position) => {
    assertExportRoom(sellerId, [...open].map((openSlot) => openSlot.sellerId));
    const slot = { sellerId };
    open.add(slot);
    const spool = new Spool<Product>();
    const first = Promise.withResolvers<ProductPage>();
    const copy = copyPages(sellerId, query, position, (page) => {
      spool.add(page.products);
      first.resolve(page);
    });
    copy.then(() => spool.end(), (error: unknown) => {
      first.reject(error);
      spool.fail(error);
    });
    const close = (): void => {
      open.delete(slot);
      spool.close();
    };
    try {
      const { position: reached } = await first.promise;
      const pages = spool.read(close);
      await pages.next(); // to the first yield: before it, `return` would not close the spool
      return { position: reached, pages };
    } catch (error) {
      close();
      throw error;
    }
  };
}

/** Pages that are written as they come, and read once, in order, as slowly as the reader likes. */
class Spool<Item> {
  readonly #db = openTemporary();
  readonly #insert;
  readonly #take;
  #error: unknown;
  #isComplete = false;
  #wake: () => void = () => {};

  constructor() {
    this.#db.exec('CREATE TABLE page (n INTEGER PRIMARY KEY, items TEXT NOT NULL) STRICT');
    this.#db.exec('BEGIN');
    this.#insert = this.#db.prepare('INSERT INTO page (items) VALUES (?)');
    this.#take = this.#db.prepare('SELECT items FROM page WHERE n = ?');
  }

  /** @throws AppError `unavailable` once it is closed */
  add(items: readonly Item[]): void {
    if (!this.#db.isOpen) throw new AppError('unavailable', 'The export was ended.');
    if (items.length > 0) this.#insert.run(JSON.stringify(items));
    this.#wake();
  }

  end(): void {
    this.#isComplete = true;
    this.#wake();
  }

  /** Its reader gets the error after the pages. */
  fail(error: unknown): void {
    this.#error = error;
    this.#wake();
  }

  /** Begins with an empty page: only after the first one does `return` end a generator's work. */
  async *read(onEnd: () => void): AsyncGenerator<readonly Item[], void, void> {
    try {
      yield [];
      for (let n = 1; ; n += 1) {
        let row = this.#take.get(n);
        while (!row && !this.#isComplete && this.#error === undefined) {
          await new Promise<void>((resolve) => { this.#wake = resolve; });
          row = this.#take.get(n);
        }
        if (!row && this.#error !== undefined) throw this.#error;
        if (!row) return;
        // The cast: the page holds what `add` wrote.
        yield JSON.parse(readText(row, 'items')) as readonly Item[];
      }
    } finally {
      onEnd();
    }
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close();
  }
}
