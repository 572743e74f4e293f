/** Products in SQLite as mutations write them. New rows are inserted in groups. */
import type { DatabaseSync } from 'node:sqlite';
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { RevertRows } from '../../rules/mutations/revert-mutations.ts';
import { skuTaken } from '../../rules/product-changes.ts';
import { InsertQueue } from '../engine/insert-queue.ts';
import { prepareFindLastDeletion } from '../history/history-queries.ts';
import { prepareFindProduct } from './products.ts';
import {
  encodeMember, encodeProduct, PRODUCT_COLUMNS, SENT_COLUMNS,
} from '../../sql/product-rows.ts';
import type { CatalogueTransaction } from './transaction.ts';

const ROW_COLUMNS = ['seller_id', 'snapshot_position', ...PRODUCT_COLUMNS];

export function prepareProductRows(
  db: DatabaseSync, transaction: CatalogueTransaction,
): RevertRows {
  const { positions } = transaction;
  const findProduct = prepareFindProduct(db);
  const { created, updateRow, deleteRow, deleteSequences } = prepareStatements(db);
  transaction.defer(created);

  return {
    find(sellerId, target) {
      created.flushIfWaiting('id' in target ? target.id : target.sku);
      const found = findProduct(sellerId, positions.currencyOf(sellerId), target);
      if (found) created.flushIfWaiting(found.sku); // which it may be about to lose
      return found;
    },
    findLastDeletion: prepareFindLastDeletion(db),
    insert: (product) =>
      created.add([product.sellerId, product.position, ...encodeProduct(product)]),
    update(product, isMovement) {
      const { sellerId, id, position, updatedAt } = product;
      const values = SENT_COLUMNS.map((field) => encodeMember(product, field));
      updateRow.run(...values, position, updatedAt, isMovement ? null : position, sellerId, id);
    },
    remove({ sellerId, id }) {
      deleteRow.run(sellerId, id);
      deleteSequences.run(sellerId, id);
    },
  };
}

function prepareStatements(db: DatabaseSync) {
  return {
    created: new InsertQueue(db, {
      insert: `INSERT INTO product (${ROW_COLUMNS.join(', ')})`,
      width: ROW_COLUMNS.length,
      onConflict: 'ON CONFLICT (seller_id, sku) DO NOTHING',
      // Only `createProduct`, which adds one row, may conflict. The cast: it is a product's SKU.
      explain: (row) => skuTaken(row[ROW_COLUMNS.indexOf('sku')] as Sku),
    }),
    updateRow: db.prepare(`
      UPDATE product
      SET ${SENT_COLUMNS.map(({ column }) => `${column} = ?`).join(', ')}, position = ?,
        updated_at = ?, snapshot_position = coalesce(?, snapshot_position)
      WHERE seller_id = ? AND id = ?`),
    deleteRow: db.prepare('DELETE FROM product WHERE seller_id = ? AND id = ?'),
    deleteSequences: db.prepare(
      'DELETE FROM stock_sequence WHERE seller_id = ? AND product_id = ?'),
  };
}
