/** A list of products page by page: what it is called, where a page begins, and what is on it. */
import type { Caller } from '../../domain/access/caller.ts';
import type { SellerId } from '../../domain/id.ts';
import { anchorOf, type KeysetAnchor } from '../../domain/catalogue/product-query.ts';
import type { Cursors } from '../../http/cursor.ts';
import type { CatalogueStore, ProductPage } from '../../store/catalogue-store.ts';
import type { SearchStore } from '../../store/search-store.ts';
import type { ListQuery } from './product-query.ts';

/** All that a cursor is bound to: the same conditions in the same order. */
export function cursorScope(sellerId: SellerId, { isPlain, filter, sort }: ListQuery): string {
  return `products ${sellerId} ${isPlain ? 'by id' : JSON.stringify([filter, sort])}`;
}

/**
 * The plain list comes from the catalogue itself, everything that filters or sorts from its
 * projection.
 */
export function readProductPage(
  store: CatalogueStore & SearchStore,
  { sellerId, position }: Pick<Caller, 'sellerId' | 'position'>, list: ListQuery,
  after: KeysetAnchor | undefined,
): Promise<ProductPage> {
  const { filter, sort, limit } = list;
  if (list.isPlain) return store.listProducts(sellerId, { after: after?.id, limit });
  return store.searchProducts(sellerId, { filter, sort, after, limit }, position);
}

/** The cursor of the page after this one, where there is one. */
export function formatNextCursor(
  cursors: Cursors, scope: string, { sort }: ListQuery, { hasMore, products }: ProductPage,
): string | undefined {
  const last = hasMore ? products.at(-1) : undefined;
  return cursors.format(scope, last && anchorOf(last, sort));
}
