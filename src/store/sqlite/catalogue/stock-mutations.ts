/**
 * The unit of work that changes the stock of many products. What becomes of each change is found
 * first, in memory; then all of it is written, or nothing.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import type { StockSync } from '../../../domain/catalogue/stock-sync.ts';
import type { SyncedStock } from '../../catalogue-store.ts';
import type { Actor } from '../../write.ts';
import { HistoryWriter } from './history-writer.ts';
import { StockLevelCache } from './stock-level-cache.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { type StockLevel, StockLevels, ProductsMissingFromStocktake } from './stock-levels.ts';
import { findRejection, StockBatch } from './stock-batch.ts';

interface SyncInput {
  readonly actor: Actor;
  readonly sync: StockSync;
  readonly isDryRun: boolean;
}

export function stockMutations(db: DatabaseSync, positions: PositionAllocator) {
  const levels = new StockLevels(db);
  const kept = new StockLevelCache(positions);
  const rest = new ProductsMissingFromStocktake(db);
  const writer = new StockWriter(db, positions);
  positions.defer(writer);

  function zero({ actor, sync }: SyncInput, named: StockBatch['named'], at: number): void {
    const { sellerId } = actor;
    writer.flush();
    for (const unnamed of rest.list(sellerId, named)) {
      const position = positions.of(sellerId);
      const run = new StockBatch({ actor, origin: sync, position, at });
      for (const level of unnamed) run.apply({ set: 0 }, level);
      writer.write(sellerId, run, undefined);
      positions.takeMany(sellerId, run.changes.length);
      writer.flush();
    }
  }

  return {
    syncStock(input: SyncInput, now: number): SyncedStock {
      const { actor, sync, isDryRun } = input;
      const { sellerId } = actor;
      const at = positions.timeOf(sellerId, now);
      const table = kept.take(sellerId);
      const { changes, faulty = [] } = sync;
      // What is not remembered is read; and what may come to nothing moves levels all the same.
      if (table.size === 0 || isDryRun || sync.isAtomic || sync.completion) writer.flush();
      const named = levels.read(sellerId, [...changes, ...faulty], sync.source, table);
      const run = new StockBatch({ actor, origin: sync, position: positions.of(sellerId), at });
      const results = changes.map((change, index) => run.apply(change, named[index]));
      for (const level of named.slice(changes.length)) run.markNamed(level);
      const unnamed = sync.completion ? rest.count(sellerId, run.named) : 0;
      const rejection = findRejection(sync, results, unnamed, run.named);
      if (!rejection && !isDryRun) {
        writer.write(sellerId, run, sync.source);
        positions.takeMany(sellerId, run.changes.length);
        if (unnamed > 0) zero(input, run.named, at);
        else if (!kept.keep(sellerId, table)) writer.flush();
      }
      const tried = isDryRun && !rejection ? run.changes.length + unnamed : 0;
      const position = positions.of(sellerId) + tried;
      return { results, zeroed: unnamed, rejection, position, isReplay: false };
    },
  };
}

/**
 * Writes what runs have made: the history at once, the products when it is time to settle. Those
 * that are sold the most come in many calls of one transaction.
 */
class StockWriter {
  readonly #update;
  readonly #noteSequence;
  readonly #history: HistoryWriter;
  readonly #moved = new Map<StockLevel, SellerId>();

  constructor(db: DatabaseSync, positions: PositionAllocator) {
    this.#update = db.prepare(`
      UPDATE product SET stock = ?, position = ?, updated_at = ? WHERE seller_id = ? AND id = ?`);
    this.#noteSequence = db.prepare(`
      INSERT OR REPLACE INTO stock_sequence (seller_id, product_id, source, sequence)
      VALUES (?, ?, ?, ?)`);
    this.#history = new HistoryWriter(db, positions);
  }

  write(sellerId: SellerId, { named, changes }: StockBatch, source: string | undefined): void {
    for (const level of named) {
      if (level.isMoved) this.#moved.set(level, sellerId);
      if (source === undefined || !level.isSequenceMoved) continue;
      this.#noteSequence.run(sellerId, level.id, source, level.sequence);
    }
    this.#history.add(changes);
  }

  flush(): void {
    for (const [{ id, stock, position, at }, sellerId] of this.#moved) {
      this.#update.run(stock, position, at, sellerId, id);
    }
    this.#moved.clear();
  }

  rollback(): void {
    this.#moved.clear();
  }
}
