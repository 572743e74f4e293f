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

export class CatalogueTransaction {
  readonly positions: PositionAllocator;
  readonly #update;
  readonly #noteMinute;
  readonly #deleteLater;
  readonly #noteStockDay;
  readonly #deferred: Deferred[] = [];

  constructor(db: DatabaseSync) {
    const changes = prepareChangeQueue(db);
    this.defer(changes);
    this.positions = new PositionAllocator({
      findSeller: prepareFindSeller(db),
      insertChange: (change) => changes.add(encodeChange(change)),
      insertMovements: prepareInsertMovements(db),
    });
    this.#update = db.prepare(`
      UPDATE seller SET position = ?, last_product_id = ? WHERE id = ?`);
    this.#noteMinute = db.prepare(`
      INSERT OR REPLACE INTO change_minute (seller_id, minute, position) VALUES (?, ?, ?)`);
    this.#deleteLater = db.prepare(`
      DELETE FROM change_minute WHERE seller_id = ? AND minute > ?`);
    this.#noteStockDay = prepareNoteStockDay(db);
  }

  /** Adds deferred rows, which are flushed and cleared together with the positions. */
  defer(deferred: Deferred): void {
    this.#deferred.push(deferred);
  }

  /** Writes deferred rows. Call it before anything else reads their tables. */
  flushDeferred(): void {
    for (const deferred of this.#deferred) deferred.flush();
  }

  /** Writes deferred rows and the allocated positions. Call it before the commit. */
  flush(now: number): void {
    this.flushDeferred();
    for (const [sellerId, seller] of this.positions.listMoved()) {
      const { position, lastAt, lastProductId } = seller;
      this.#update.run(position, lastProductId, sellerId);
      const at = timeAfter(lastAt, now);
      const minute = Math.floor(at / MINUTE_MS);
      this.#noteMinute.run(sellerId, minute, position);
      this.#deleteLater.run(sellerId, minute);
      this.#noteStockDay(sellerId, at, seller);
    }
    this.positions.clear();
  }

  /** Discards what was not written. Call it after every rollback. */
  rollback(): void {
    this.positions.clear();
    for (const deferred of this.#deferred) deferred.clear();
  }
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
