/**
 * Exports that are copied into a temporary database first, so that a slow consumer holds nothing in
 * the store. It reads pages as soon as they are there, as slowly as it likes.
 */
import type { Product } from '../../domain/catalogue/product-fields.ts';
import type { SellerId } from '../../domain/id.ts';
import type { ProductPage } from '../catalogue-store.ts';
import { assertExportRoom } from '../rules/export-limits.ts';
import type { ExportQuery, SearchStore } from '../search-store.ts';
import { Spool } from './spool.ts';

/** Adds all matching products, in pages. */
type CopyPages = (
  sellerId: SellerId, query: ExportQuery, position: number, add: (page: ProductPage) => void,
) => Promise<void>;

export function prepareSpooledExports(copyPages: CopyPages): SearchStore['exportProducts'] {
  const open = new Set<{ readonly sellerId: SellerId }>();
  return async (sellerId, query, position) => {
    assertExportRoom(sellerId, [...open].map((one) => one.sellerId));
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
