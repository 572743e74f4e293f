/**
 * How many units of stock came in and went out on each day. Whoever writes a day adds what one
 * transaction has moved, so it costs a row for each, however many changes that holds.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import { DAY_MS } from '../../../domain/time.ts';
import type { StockDay, StockDayQuery } from '../../history-store.ts';
import { readInteger } from '../engine/row.ts';

/** Units that have moved. */
export interface Moved {
  unitsIn: number;
  unitsOut: number;
}

/** Sums stay at the largest whole number that all who read them can hold. */
const MOST = Number.MAX_SAFE_INTEGER;

export function prepareNoteStockDay(db: DatabaseSync) {
  const note = db.prepare(`
    INSERT INTO stock_day (seller_id, day, units_in, units_out) VALUES (?, ?, ?, ?)
    ON CONFLICT (seller_id, day) DO UPDATE
    SET units_in = min(units_in + excluded.units_in, ${MOST}),
      units_out = min(units_out + excluded.units_out, ${MOST})`);
  return (sellerId: SellerId, at: number, { unitsIn, unitsOut }: Moved): void => {
    if (unitsIn === 0 && unitsOut === 0) return;
    const day = Math.floor(at / DAY_MS);
    note.run(sellerId, day, Math.min(unitsIn, MOST), Math.min(unitsOut, MOST));
  };
}

export function stockDayQueries(db: DatabaseSync) {
  const list = db.prepare(`
    SELECT day, units_in, units_out FROM stock_day
    WHERE seller_id = ? AND day >= ? ORDER BY day LIMIT ?`);
  return {
    listStockDays(sellerId: SellerId, { since, limit }: StockDayQuery): StockDay[] {
      return list.all(sellerId, since, limit).map((row) => ({
        day: readInteger(row, 'day'),
        unitsIn: readInteger(row, 'units_in'),
        unitsOut: readInteger(row, 'units_out'),
      }));
    },
  };
}
