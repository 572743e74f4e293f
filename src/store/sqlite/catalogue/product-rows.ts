/**
 * Products, stock levels and import records in SQLite as mutations write them. New products are
 * inserted in groups.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { RevertRows } from '../../rules/mutations/revert-mutations.ts';
import { skuTaken } from '../../rules/product-changes.ts';
import { InsertQueue } from '../engine/insert-queue.ts';
import { prepareFindLastDeletion } from '../history/history-queries.ts';
import { prepareFindByBarcode, prepareFindProduct, prepareListBarcodeOwners } from './products.ts';
import {
  encodeMember, encodeProduct, PRODUCT_COLUMNS, SENT_COLUMNS,
} from '../../sql/product-rows.ts';
import type { CatalogueTransaction } from './transaction.ts';
import type { ImportRows } from '../../rules/mutations/import-records.ts';
import { encodeImport, IMPORT_ROW, readCounts } from '../../sql/history/import-queries.ts';
import { readInteger, readOptional } from '../../sql/sql.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { StockRows } from '../../rules/mutations/stock-mutations.ts';
import type { StockLevel, StockLevelCache } from '../../rules/stock-levels.ts';
import { prepareProductsMissingFromStocktake, prepareReadLevels } from './stock-levels.ts';

const ROW_COLUMNS = ['seller_id', 'snapshot_position', ...PRODUCT_COLUMNS];

export function prepareProductRows(
  db: DatabaseSync, transaction: CatalogueTransaction,
): RevertRows {
  const { positions } = transaction;
  const findProduct = prepareFindProduct(db);
  const findByBarcode = prepareFindByBarcode(db);
  const { created, updateRow, deleteRow, deleteSequences } = prepareStatements(db);
  transaction.defer(created);

  return {
    find(sellerId, target) {
      created.flushIfWaiting('id' in target ? target.id : target.sku);
      const product = findProduct(sellerId, positions.currencyOf(sellerId), target);
      if (product) created.flushIfWaiting(product.sku); // which it may be about to lose
      return product;
    },
    findByBarcode(sellerId, gtin) {
      created.flush();
      return findByBarcode(sellerId, positions.currencyOf(sellerId), gtin);
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

export function prepareImportRows(db: DatabaseSync): ImportRows {
  const findLast = db.prepare('SELECT max(id) AS id FROM import WHERE seller_id = ?');
  const columns = Object.keys(IMPORT_ROW);
  const insert = db.prepare(`
    INSERT INTO import (seller_id, ${columns.join(', ')})
    VALUES (?${', ?'.repeat(columns.length)})`);
  const findCounts = db.prepare('SELECT counts FROM import WHERE seller_id = ? AND id = ?');
  const update = db.prepare(`
    UPDATE import SET finished_at = :finishedAt, counts = :counts,
      first_position = coalesce(first_position, :first),
      last_position = coalesce(:last, last_position)
    WHERE seller_id = :sellerId AND id = :id`);
  return {
    findLastId: (sellerId) =>
      readOptional(findLast.get(sellerId) ?? { id: null }, 'id', readInteger) ?? 0,
    insert(record) {
      insert.run(...encodeImport(record));
    },
    findCounts(sellerId, id) {
      const row = findCounts.get(sellerId, id);
      return row && readCounts(row);
    },
    update(sellerId, id, { finishedAt, counts, firstPosition, lastPosition }) {
      update.run({
        sellerId, id, finishedAt: finishedAt ?? null, counts: JSON.stringify(counts),
        first: firstPosition ?? null, last: lastPosition ?? null,
      });
    },
  };
}

export function prepareStockRows(
  db: DatabaseSync, transaction: CatalogueTransaction, cache: StockLevelCache,
): StockRows {
  const updateRow = db.prepare(`
    UPDATE product SET stock = ?, position = ?, updated_at = ? WHERE seller_id = ? AND id = ?`);
  const noteSequence = db.prepare(`
    INSERT OR REPLACE INTO stock_sequence (seller_id, product_id, source, sequence)
    VALUES (?, ?, ?, ?)`);
  const moved = new Map<StockLevel, SellerId>();

  function flush(): void {
    for (const [{ id, stock, position, at }, sellerId] of moved) {
      updateRow.run(stock, position, at, sellerId, id);
    }
    moved.clear();
  }

  transaction.defer({
    flush,
    clear() {
      moved.clear();
      cache.clear();
    },
  });
  return {
    flush,
    readLevels: prepareReadLevels(db),
    listBarcodeOwners: prepareListBarcodeOwners(db),
    update(sellerId, levels, source) {
      for (const level of levels) {
        if (level.isMoved) moved.set(level, sellerId);
        if (source === undefined || !level.isSequenceMoved) continue;
        noteSequence.run(sellerId, level.id, source, level.sequence);
      }
    },
    ...prepareProductsMissingFromStocktake(db),
  };
}
