/**
 * What the projection reads from the catalogue: sellers and their positions, the products for the
 * first build, and the history after it. Every statement is short and outside a transaction, so
 * reading never keeps the catalogue's write-ahead log from being truncated.
 */
import type { SellerId } from '../../../domain/id.ts';
import { prepareListProducts } from '../catalogue/products.ts';
import { sellerQueries } from '../catalogue/sellers.ts';
import { openReader } from '../engine/connection.ts';
import { readText } from '../engine/row.ts';
import { prepareListChanges } from '../history/history-queries.ts';

export type CatalogueReader = ReturnType<typeof openCatalogue>;

export function openCatalogue(file: string) {
  const db = openReader(file);
  const { findSeller, listSellers } = sellerQueries(db);
  const findMark = db.prepare(`
    SELECT product_id || '@' || at AS mark FROM change WHERE seller_id = ? AND position = ?`);

  return {
    findSeller,
    /** The first seller after this id. */
    findNextSeller: (after: SellerId | undefined) => listSellers({ after, limit: 1 })[0],
    listProducts: prepareListProducts(db),
    listChanges: prepareListChanges(db),
    /**
     * Identifies the change at a position: a catalogue that was restored from a backup reaches each
     * position again, with another change. Position 0 is the same in all.
     */
    findMark(sellerId: SellerId, position: number): string | undefined {
      if (position === 0) return '';
      const row = findMark.get(sellerId, position);
      return row && readText(row, 'mark');
    },
    close: () => db.close(),
  };
}
