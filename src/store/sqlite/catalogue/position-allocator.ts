/**
 * The one point of order: the position of each seller that the transaction under way changes. A
 * seller's row is read at its first change and written once, at the end, however many changes the
 * transaction holds; BEGIN IMMEDIATE keeps every other writer out meanwhile.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Change } from '../../../domain/catalogue/change.ts';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { AppError } from '../../../domain/error.ts';
import { nextId, type ProductId, type SellerId } from '../../../domain/id.ts';
import { MINUTE_MS } from '../../../domain/time.ts';
import { timeAfter } from '../../rules/history.ts';
import { readCurrency, readInteger, readOptional } from '../engine/row.ts';
import { type Moved, prepareNoteStockDay } from './stock-days.ts';

interface Counters extends Moved {
  position: number;
  /** Of the last change that is on the disk. */
  readonly written: number;
  /** Its time. */
  readonly lastAt: number;
  lastProductId: number;
  readonly currency: Currency;
}

/** Rows that are written late, so that one which changes several times is written once. */
interface Deferred {
  flush(): void;
  rollback(): void;
}

export class PositionAllocator {
  readonly #find;
  readonly #update;
  readonly #noteMinute;
  readonly #forgetLater;
  readonly #noteStockDay;
  readonly #touched = new Map<SellerId, Counters>();
  readonly #deferred: Deferred[] = [];
  #rollbackCount = 0;

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
    this.#forgetLater = db.prepare(`
      DELETE FROM change_minute WHERE seller_id = ? AND minute > ?`);
    this.#noteStockDay = prepareNoteStockDay(db);
  }

  /**
   * The next position of a seller, for a change that is made now.
   * @throws AppError `not_found`; `key_unknown` where the seller is disabled
   */
  take(sellerId: SellerId): { readonly position: number; readonly currency: Currency } {
    const counters = this.#touch(sellerId);
    counters.position += 1;
    return counters;
  }

  /** Takes as many positions; the first of them is the one after `of`. */
  takeMany(sellerId: SellerId, count: number): void {
    this.#touch(sellerId).position += count;
  }

  /** Position of the last change of a seller, those of this transaction included. */
  of(sellerId: SellerId): number {
    return this.#touch(sellerId).position;
  }

  currencyOf(sellerId: SellerId): Currency {
    return this.#touch(sellerId).currency;
  }

  /** The time of changes that are made now. */
  timeOf(sellerId: SellerId, now: number): number {
    return timeAfter(this.#touch(sellerId).lastAt, now);
  }

  /** An id for a new product: by time, and above every id that the seller was ever given. */
  takeProductId(sellerId: SellerId, at: number): ProductId {
    const counters = this.#touch(sellerId);
    counters.lastProductId = nextId(counters.lastProductId, at);
    // Here is where a ProductId comes from.
    return counters.lastProductId as ProductId;
  }

  /** Counts by how much changes, all of one seller, have moved stock: tell it of every one. */
  noteMovements(changes: readonly Change[]): void {
    const [first] = changes;
    if (!first) return;
    const moved = this.#touch(first.sellerId);
    for (const { movement: { before, after } } of changes) {
      if (after > before) moved.unitsIn += after - before;
      else moved.unitsOut += before - after;
    }
  }

  /** Adds what is to be written with the positions, and forgotten with them. */
  defer(deferred: Deferred): void {
    this.#deferred.push(deferred);
  }

  /** Writes what was deferred: call it before anything else reads the tables that it is for. */
  flushDeferred(): void {
    for (const deferred of this.#deferred) deferred.flush();
  }

  /** Writes what was taken, at this time: call it before the commit. */
  flush(now: number): void {
    this.flushDeferred();
    for (const [sellerId, counters] of this.#touched) {
      const { position, written, lastProductId } = counters;
      if (position === written) continue;
      this.#update.run(position, lastProductId, sellerId);
      const at = this.timeOf(sellerId, now);
      const minute = Math.floor(at / MINUTE_MS);
      this.#noteMinute.run(sellerId, minute, position);
      this.#forgetLater.run(sellerId, minute);
      this.#noteStockDay(sellerId, at, counters);
    }
    this.#touched.clear();
  }

  /** Drops what was taken: call it after anything was rolled back. */
  rollback(): void {
    this.#touched.clear();
    for (const deferred of this.#deferred) deferred.rollback();
    this.#rollbackCount += 1;
  }

  /** How often something was rolled back: what was remembered since the last time may be wrong. */
  get rollbackCount(): number {
    return this.#rollbackCount;
  }

  #touch(sellerId: SellerId): Counters {
    const known = this.#touched.get(sellerId);
    if (known) return known;
    const row = this.#find.get(sellerId);
    if (!row) throw new AppError('not_found', 'There is no such seller.');
    // Whoever changes something may have begun before.
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
