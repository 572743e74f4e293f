/**
 * Stock levels in SQLite as mutations write them. Best-selling products are in many batches of one
 * transaction, and their rows are updated once.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import type { StockRows } from '../../rules/mutations/stock-mutations.ts';
import type { StockLevel, StockLevelCache } from '../../rules/stock-levels.ts';
import { prepareProductsMissingFromStocktake, prepareReadLevels } from './stock-levels.ts';
import type { CatalogueTransaction } from './transaction.ts';

export function prepareStockRows(
  db: DatabaseSync, transaction: CatalogueTransaction, cache: StockLevelCache,
): StockRows {
  const updateRow = db.prepare(`
    UPDATE product SET stock = ?, position = ?, updated_at = ? WHERE seller_id = ? AND id = ?`);
  const noteSequence = db.prepare(`
    INSERT OR REPLACE INTO stock_sequence (seller_id, product_id, source, sequence)
    VALUES (?, ?, ?, ?)`);
  const missing = prepareProductsMissingFromStocktake(db);
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
    update(sellerId, levels, source) {
      for (const level of levels) {
        if (level.isMoved) moved.set(level, sellerId);
        if (source === undefined || !level.isSequenceMoved) continue;
        noteSequence.run(sellerId, level.id, source, level.sequence);
      }
    },
    countMissing: missing.count,
    listMissing: missing.list,
  };
}
