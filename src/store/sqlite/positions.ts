/**
 * The one point of order: the position of each seller that the transaction under way changes. A
 * seller's row is read at its first change and written once, at the end, however many changes the
 * transaction holds; BEGIN IMMEDIATE keeps every other writer out meanwhile.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Currency } from '../../domain/currency.ts';
import { AppError } from '../../domain/error.ts';
import { firstIdAt, type ProductId, type SellerId } from '../../domain/id.ts';
import { readCurrency, readInteger } from './row.ts';

interface Counters {
  position: number;
  lastProductId: number;
  readonly currency: Currency;
}

export class Positions {
  readonly #find;
  readonly #update;
  readonly #touched = new Map<SellerId, Counters>();

  constructor(db: DatabaseSync) {
    this.#find = db.prepare(`
      SELECT position, last_product_id, currency, currency_decimals FROM seller WHERE id = ?`);
    this.#update = db.prepare(`
      UPDATE seller SET position = ?, last_product_id = ? WHERE id = ?`);
  }

  /** The next position of a seller, for a change that is made now. @throws AppError `not_found` */
  take(sellerId: SellerId): { readonly position: number; readonly currency: Currency } {
    const counters = this.#touch(sellerId);
    counters.position += 1;
    return counters;
  }

  /** Position of the last change of a seller, those of this transaction included. */
  of(sellerId: SellerId): number {
    return this.#touch(sellerId).position;
  }

  currencyOf(sellerId: SellerId): Currency {
    return this.#touch(sellerId).currency;
  }

  /** An id for a new product: by time, and above every id that the seller was ever given. */
  takeProductId(sellerId: SellerId, at: number): ProductId {
    const counters = this.#touch(sellerId);
    counters.lastProductId = Math.max(counters.lastProductId + 1, firstIdAt(at));
    // Here is where a ProductId comes from.
    return counters.lastProductId as ProductId;
  }

  /** Writes what was taken: call it before the commit. */
  flush(): void {
    for (const [sellerId, { position, lastProductId }] of this.#touched) {
      this.#update.run(position, lastProductId, sellerId);
    }
    this.#touched.clear();
  }

  /** Drops what was taken: call it after anything was rolled back. */
  forget(): void {
    this.#touched.clear();
  }

  #touch(sellerId: SellerId): Counters {
    const known = this.#touched.get(sellerId);
    if (known) return known;
    const row = this.#find.get(sellerId);
    if (!row) throw new AppError('not_found', 'There is no such seller.');
    const counters: Counters = {
      position: readInteger(row, 'position'),
      lastProductId: readInteger(row, 'last_product_id'),
      currency: readCurrency(row),
    };
    this.#touched.set(sellerId, counters);
    return counters;
  }
}
