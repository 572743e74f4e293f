/**
 * The current transaction on the catalogues: its positions, and the rows whose write is deferred
 * until their group is full or the transaction ends. BEGIN IMMEDIATE excludes every other writer.
 */
import type { DatabaseSync } from 'node:sqlite';
import { MINUTE_MS } from '../../../domain/time.ts';
import { timeAfter } from '../../rules/history.ts';
import { PositionAllocator, type SellerState } from '../../rules/mutations/position-allocator.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { InsertQueue } from '../engine/insert-queue.ts';
import { mapSellerState } from '../../sql/access/sellers.ts';
import { encodeChange } from '../../sql/history/changes.ts';
import { prepareChangeQueue, prepareInsertMovements, prepareNoteStockDay } from './change-rows.ts';

/** Rows whose write is deferred: written in groups, each at most once per commit. */
type Deferred = Pick<InsertQueue, 'flush' | 'clear'>;

export type CatalogueTransaction = ReturnType<typeof prepareTransaction>;

export function prepareTransaction(db: DatabaseSync) {
  const changes = prepareChangeQueue(db);
  const deferred: Deferred[] = [changes];
  const positions = new PositionAllocator({
    findSeller: prepareFindSeller(db),
    insertChange: (change) => changes.add(encodeChange(change)),
    insertMovements: prepareInsertMovements(db),
  });
  const update = db.prepare('UPDATE seller SET position = ?, last_product_id = ? WHERE id = ?');
  const noteMinute = db.prepare(`
    INSERT OR REPLACE INTO change_minute (seller_id, minute, position) VALUES (?, ?, ?)`);
  const deleteLater = db.prepare('DELETE FROM change_minute WHERE seller_id = ? AND minute > ?');
  const noteStockDay = prepareNoteStockDay(db);

  /** Writes deferred rows. Call it before anything else reads their tables. */
  function flushDeferred(): void {
    for (const rows of deferred) rows.flush();
  }

  return {
    positions,
    flushDeferred,
    /** Adds deferred rows, which are flushed and cleared together with the positions. */
    defer(rows: Deferred): void {
      deferred.push(rows);
    },
    /** Writes deferred rows and the allocated positions. Call it before the commit. */
    flush(now: number): void {
      flushDeferred();
      for (const [sellerId, seller] of positions.listMoved()) {
        const { position, lastAt, lastProductId } = seller;
        update.run(position, lastProductId, sellerId);
        const at = timeAfter(lastAt, now);
        const minute = Math.floor(at / MINUTE_MS);
        noteMinute.run(sellerId, minute, position);
        deleteLater.run(sellerId, minute);
        noteStockDay(sellerId, at, seller);
      }
      positions.clear();
    },
    /** Discards what was not written. Call it after every rollback. */
    rollback(): void {
      positions.clear();
      for (const rows of deferred) rows.clear();
    },
  };
}

function prepareFindSeller(db: DatabaseSync): (id: SellerId) => SellerState | undefined {
  const find = db.prepare(`
    SELECT s.position, s.last_product_id, s.currency, s.currency_decimals, s.disabled_at,
      coalesce(c.at, 0) AS last_at
    FROM seller AS s LEFT JOIN change AS c ON c.seller_id = s.id AND c.position = s.position
    WHERE s.id = ?`);
  return (id) => {
    const row = find.get(id);
    return row && mapSellerState(row);
  };
}
