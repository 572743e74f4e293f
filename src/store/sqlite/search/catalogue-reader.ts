/**
 * Reads the catalogue for the projection: sellers and their positions, products for the first
 * build, and the history after it. Every statement is short and outside a transaction, so reading
 * never keeps the catalogue's write-ahead log from being truncated.
 */
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { prepareListProducts } from '../catalogue/products.ts';
import { openReader } from '../engine/connection.ts';
import type { Seller } from '../../../domain/access/seller.ts';
import { mapSeller, SELLER_COLUMNS } from '../../sql/access/sellers.ts';
import { readId, readText, type Row } from '../../sql/sql.ts';
import { prepareListChanges } from '../history/history-queries.ts';

/** The projection belongs to another catalogue, or the catalogue was restored from a backup. */
export class ForeignProjectionError extends Error {}

/** Sellers that are being deleted count as deleted. */
const IS_KEPT = 'NOT EXISTS (SELECT 1 FROM deleted_seller AS d WHERE d.id = seller.id)';

export type CatalogueReader = ReturnType<typeof openCatalogue>;

export function openCatalogue(file: string) {
  const db = openReader(file);
  const findSeller = db.prepare(`SELECT ${SELLER_COLUMNS} FROM seller WHERE id = ? AND ${IS_KEPT}`);
  const findNextSeller = db.prepare(`
    SELECT ${SELLER_COLUMNS} FROM seller WHERE id > ? AND ${IS_KEPT} ORDER BY id LIMIT 1`);
  const find = db.prepare(`
    SELECT product_id || '@' || at AS mark FROM change WHERE seller_id = ? AND position = ?`);
  // INDEXED BY: SQLite would read the history in the order of positions instead.
  const listDeleted = db.prepare(`
    SELECT DISTINCT product_id FROM change INDEXED BY change_deleted
    WHERE seller_id = ? AND product_id > ? AND type = 'deleted' ORDER BY product_id LIMIT ?`);

  return {
    findSeller: (id: SellerId) => mapSellerIfFound(findSeller.get(id)),
    /** The first seller after this id. */
    findNextSeller: (after: SellerId | undefined) =>
      mapSellerIfFound(findNextSeller.get(after ?? 0)),
    listProducts: prepareListProducts(db),
    listChanges: prepareListChanges(db),
    /** The products that the history has a deletion of, by id; they may exist again. */
    listDeleted: (sellerId: SellerId, after: number, limit: number): ProductId[] =>
      listDeleted.all(sellerId, after, limit).map((row) => readId<ProductId>(row, 'product_id')),
    /**
     * Identifies the change at a position: a restored catalogue reaches each position again, with
     * another change. Position 0 is the same in every catalogue.
     * @throws ForeignProjectionError if the history does not have the position
     */
    getMark(sellerId: SellerId, position: number): string {
      if (position === 0) return '';
      const row = find.get(sellerId, position);
      if (row) return readText(row, 'mark');
      throw new ForeignProjectionError(`There is no change ${position}.`);
    },
    close: () => db.close(),
    [Symbol.dispose]: () => db.close(),
  };
}

function mapSellerIfFound(row: Row | undefined): Seller | undefined {
  return row && mapSeller(row);
}
