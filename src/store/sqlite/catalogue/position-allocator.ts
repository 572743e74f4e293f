/**
 * The single ordering point: allocates the positions of the current transaction and appends the
 * change events. Nothing else adds events or alters them, except that `history-pruning.ts` removes
 * old ones and relinks the rest. A seller's row is read at its first change and written once,
 * before the commit; BEGIN IMMEDIATE excludes every other writer.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { AppError } from '../../../domain/error.ts';
import { nextId, type ProductId, type SellerId } from '../../../domain/id.ts';
import { MINUTE_MS } from '../../../domain/time.ts';
import { type NewChange, timeAfter } from '../../rules/history.ts';
import type { StockBatch } from '../../rules/stock-batch.ts';
import type { InsertQueue } from '../engine/insert-queue.ts';
import { readCurrency, readInteger, readOptional } from '../engine/row.ts';
import { encodeChange, prepareChangeQueue, prepareInsertMovements } from './change-rows.ts';
import { type Moved, noteMovement, prepareNoteStockDay } from './stock-days.ts';

interface Counters extends Moved {
  position: number;
  /** Position of the last committed change. */
  readonly written: number;
  /** Its time. */
  readonly lastAt: number;
  lastProductId: number;
  readonly currency: Currency;
}

/** Rows whose write is deferred: written in groups, each at most once per commit. */
type Deferred = Pick<InsertQueue, 'flush' | 'clear'>;

export class PositionAllocator {
  readonly #find;
  readonly #update;
  readonly #noteMinute;
  readonly #deleteLater;
  readonly #noteStockDay;
  readonly #changes;
  readonly #insertMovements;
  readonly #touched = new Map<SellerId, Counters>();
  readonly #deferred: Deferred[] = [];

  constructor(db: DatabaseSync) {
    this.#find = db.prepare(`
      SELECT s.position, s.last_product_id, s.currency, s.currency_decimals, s.disabled_at,
        c.at AS last_at
      FROM seller AS s LEFT JOIN change AS c ON c.seller_id = s.id AND c.position = s.position
      WHERE s.id = ?`);
    this.#update = db.prepare(`
      UPDATE seller SET position = ?, last_product_id = ? WHERE id = ?`);
    this.#noteMinute = db.prepare(`
      INSERT OR REPLACE INTO change_minute (seller_id, minute, position) VALUES (?, ?, ?)`);
    this.#deleteLater = db.prepare(`
      DELETE FROM change_minute WHERE seller_id = ? AND minute > ?`);
    this.#noteStockDay = prepareNoteStockDay(db);
    this.#changes = prepareChangeQueue(db);
    this.defer(this.#changes);
    this.#insertMovements = prepareInsertMovements(db);
  }

  /**
   * The position of the seller's next event, and the time of changes made now.
   * @throws AppError `not_found`; `key_unknown` if the seller is disabled
   */
  next(sellerId: SellerId, now: number) {
    const { position, lastAt, currency } = this.#touch(sellerId);
    return { position: position + 1, at: timeAfter(lastAt, now), currency };
  }

  /** Position of a seller's last change, including this transaction's. */
  of(sellerId: SellerId): number {
    return this.#touch(sellerId).position;
  }

  currencyOf(sellerId: SellerId): Currency {
    return this.#touch(sellerId).currency;
  }

  /** A new product id, above every id that this seller ever had. */
  takeProductId(sellerId: SellerId, at: number): ProductId {
    const counters = this.#touch(sellerId);
    counters.lastProductId = nextId(counters.lastProductId, at);
    // The origin of every ProductId.
    return counters.lastProductId as ProductId;
  }

  /** Allocates a seller's next position for this event, whose write is deferred. */
  addChange(change: NewChange): void {
    const counters = this.#touch(change.sellerId);
    counters.position += 1;
    this.#changes.add(encodeChange(change));
    noteMovement(counters, change.movement);
  }

  /** Allocates the next positions for the movements of a batch, and writes them. */
  addMovements(batch: StockBatch): void {
    const counters = this.#touch(batch.context.actor.sellerId);
    this.#insertMovements(batch, counters.position + 1);
    counters.position += batch.movements.length;
    for (const movement of batch.movements) noteMovement(counters, movement);
  }

  /** Adds deferred rows, which are flushed and cleared together with the positions. */
  defer(deferred: Deferred): void {
    this.#deferred.push(deferred);
  }

  /** Writes deferred rows. Call it before anything else reads their tables. */
  flushDeferred(): void {
    for (const deferred of this.#deferred) deferred.flush();
  }

  /** Writes the allocated positions. Call it before the commit. */
  flush(now: number): void {
    this.flushDeferred();
    for (const [sellerId, counters] of this.#touched) {
      const { position, written, lastAt, lastProductId } = counters;
      if (position === written) continue;
      this.#update.run(position, lastProductId, sellerId);
      const at = timeAfter(lastAt, now);
      const minute = Math.floor(at / MINUTE_MS);
      this.#noteMinute.run(sellerId, minute, position);
      this.#deleteLater.run(sellerId, minute);
      this.#noteStockDay(sellerId, at, counters);
    }
    this.#touched.clear();
  }

  /** Discards allocated positions. Call it after every rollback. */
  rollback(): void {
    this.#touched.clear();
    for (const deferred of this.#deferred) deferred.clear();
  }

  #touch(sellerId: SellerId): Counters {
    const known = this.#touched.get(sellerId);
    if (known) return known;
    const row = this.#find.get(sellerId);
    if (!row) throw new AppError('not_found', 'There is no such seller.');
    // Authentication may have happened before the seller was disabled.
    if (row['disabled_at'] !== null) throw new AppError('key_unknown', 'This shop is disabled.');
    const position = readInteger(row, 'position');
    const counters: Counters = {
      position,
      written: position,
      lastAt: readOptional(row, 'last_at', readInteger) ?? 0,
      lastProductId: readInteger(row, 'last_product_id'),
      currency: readCurrency(row),
      unitsIn: 0,
      unitsOut: 0,
    };
    this.#touched.set(sellerId, counters);
    return counters;
  }
}
