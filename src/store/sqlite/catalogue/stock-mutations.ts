/**
 * The mutations that change the stock of many products. A batch is evaluated in memory, and then
 * written completely or not at all.
 */
import type { DatabaseSync } from 'node:sqlite';
import { formatProductId, type SellerId } from '../../../domain/id.ts';
import {
  isOverZeroLimit, type StockOrigin, type StockSync,
} from '../../../domain/catalogue/stock-sync.ts';
import type { SyncedStock, ZeroingBatch } from '../../catalogue-store.ts';
import { findRejection, StockBatch } from '../../rules/stock-batch.ts';
import { encodeResults } from '../../rules/stock-outcome.ts';
import { type StockLevel, StockLevelCache } from '../../rules/stock-levels.ts';
import type { ChangeActor } from '../../rules/history.ts';
import { countResults } from '../../rules/import-counts.ts';
import { prepareImportRecords, type WriteActor } from './import-records.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { prepareProductsMissingFromStocktake, prepareReadLevels } from './stock-levels.ts';

/** Names and order of the members are hashed (rules/idempotency.ts). */
interface SyncInput {
  readonly actor: WriteActor;
  readonly sync: StockSync;
  readonly isDryRun: boolean;
}

/** As above, except that `generated` is not hashed. */
interface ZeroInput extends StockOrigin, Pick<ZeroingBatch, 'zeroLimitPercent'> {
  readonly actor: WriteActor;
  readonly generated: Pick<ZeroingBatch, 'products' | 'total'>;
}

export function stockMutations(db: DatabaseSync, positions: PositionAllocator) {
  const readLevels = prepareReadLevels(db);
  const cache = new StockLevelCache();
  const openRecord = prepareImportRecords(db, positions);
  const stocktake = prepareProductsMissingFromStocktake(db);
  const writer = prepareStockWriter(db, positions);
  positions.defer({
    flush: writer.flush,
    clear() {
      writer.clear();
      cache.clear();
    },
  });

  function zeroMissing(
    actor: ChangeActor, sync: StockSync, named: StockBatch['named'], at: number,
  ): void {
    const { sellerId } = actor;
    writer.flush();
    for (const missing of stocktake.list(sellerId, named)) {
      const position = positions.of(sellerId);
      const batch = new StockBatch({ actor, origin: sync, position, at });
      for (const level of missing) batch.apply({ set: 0 }, level);
      writer.write(sellerId, batch, undefined);
      writer.flush();
    }
  }

  return {
    zeroStock: prepareZeroStock(positions, readLevels, openRecord, writer),
    syncStock(input: SyncInput, now: number) {
      const { sync, isDryRun } = input;
      const { actor, close } = openRecord(input.actor, now);
      const { sellerId } = actor;
      const { at } = positions.next(sellerId, now);
      const before = positions.of(sellerId);
      const table = cache.take(sellerId, before);
      const { changes, faulty = [] } = sync;
      // Levels come from the table, and evaluation changes them even if the batch is not written.
      if (table.size === 0 || isDryRun || sync.isAtomic || sync.completion) writer.flush();
      const named = readLevels(sellerId, [...changes, ...faulty], sync.source, table);
      const batch = new StockBatch({ actor, origin: sync, position: before, at });
      const results = changes.map((change, index) => batch.apply(change, named[index]));
      for (const level of named.slice(changes.length)) batch.markNamed(level);
      const missing = sync.completion ? stocktake.count(sellerId, batch.named) : 0;
      const rejection = findRejection(sync, { results, named: batch.named, missing });
      if (!rejection && !isDryRun) {
        writer.write(sellerId, batch, sync.source);
        if (missing > 0) zeroMissing(actor, sync, batch.named, at);
        else if (!cache.keep(sellerId, table, positions.of(sellerId))) writer.flush();
      }
      const tried = isDryRun && !rejection ? batch.movements.length + missing : 0;
      const position = positions.of(sellerId) + tried;
      const importId = rejection || isDryRun ? undefined : close(countResults(results, missing));
      const encoded = encodeResults(results, changes);
      return { results: encoded, zeroed: missing, rejection, position, isReplay: false, importId };
    },
  };
}

/** Returns the mutation that sets the products to 0 that a streamed stocktake did not name. */
function prepareZeroStock(
  positions: PositionAllocator, readLevels: ReturnType<typeof prepareReadLevels>,
  openRecord: ReturnType<typeof prepareImportRecords>,
  writer: ReturnType<typeof prepareStockWriter>,
) {
  return (input: ZeroInput, now: number): SyncedStock => {
    const { source, reason, zeroLimitPercent, generated: { products, total } } = input;
    const { actor, close } = openRecord(input.actor, now);
    const { sellerId } = actor;
    const { at } = positions.next(sellerId, now);
    const position = positions.of(sellerId);
    if (total && isOverZeroLimit(total.missing, total.inStock, zeroLimitPercent)) {
      const zeroed = total.missing;
      return { results: [], zeroed, rejection: 'zero_limit', position, isReplay: false };
    }
    const changes = products.map((id) => ({ id: formatProductId(sellerId, id), set: 0 }));
    const levels = readLevels(sellerId, changes, undefined);
    const batch = new StockBatch({ actor, origin: { source, reason }, position, at });
    const results = products.map((id, index) =>
      ({ ...batch.apply({ set: 0 }, levels[index]), id }));
    writer.write(sellerId, batch, undefined);
    const zeroed = batch.movements.length;
    return {
      results, zeroed, rejection: undefined, position: positions.of(sellerId), isReplay: false,
      importId: close(countResults([], zeroed)),
    };
  };
}

/**
 * Writes evaluated batches: the history immediately, the products when flushed. Best-selling
 * products are in many batches of one transaction, and are written once.
 */
function prepareStockWriter(db: DatabaseSync, positions: PositionAllocator) {
  const update = db.prepare(`
    UPDATE product SET stock = ?, position = ?, updated_at = ? WHERE seller_id = ? AND id = ?`);
  const noteSequence = db.prepare(`
    INSERT OR REPLACE INTO stock_sequence (seller_id, product_id, source, sequence)
    VALUES (?, ?, ?, ?)`);
  const moved = new Map<StockLevel, SellerId>();
  return {
    write(sellerId: SellerId, batch: StockBatch, source: string | undefined): void {
      for (const level of batch.named) {
        if (level.isMoved) moved.set(level, sellerId);
        if (source === undefined || !level.isSequenceMoved) continue;
        noteSequence.run(sellerId, level.id, source, level.sequence);
      }
      positions.addMovements(batch);
    },
    flush(): void {
      for (const [{ id, stock, position, at }, sellerId] of moved) {
        update.run(stock, position, at, sellerId, id);
      }
      moved.clear();
    },
    clear: () => moved.clear(),
  };
}
