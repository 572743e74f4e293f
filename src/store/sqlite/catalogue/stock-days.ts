/** Units of stock moved in and out per day. A transaction writes at most one row per seller. */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import { DAY_MS } from '../../../domain/time.ts';
import type { StockDay, StockDayQuery } from '../../history-store.ts';
import { readInteger } from '../engine/row.ts';

/** Units moved. */
export interface Moved {
  unitsIn: number;
  unitsOut: number;
}

export function noteMovement(
  moved: Moved, { before, after }: { readonly before: number; readonly after: number },
): void {
  if (after > before) moved.unitsIn += after - before;
  else moved.unitsOut += before - after;
}

/** Sums saturate at the largest safe integer. */
const SUM_LIMIT = Number.MAX_SAFE_INTEGER;

export function prepareNoteStockDay(db: DatabaseSync) {
  const note = db.prepare(`
    INSERT INTO stock_day (seller_id, day, units_in, units_out) VALUES (?, ?, ?, ?)
    ON CONFLICT (seller_id, day) DO UPDATE
    SET units_in = min(units_in + excluded.units_in, ${SUM_LIMIT}),
      units_out = min(units_out + excluded.units_out, ${SUM_LIMIT})`);
  return (sellerId: SellerId, at: number, { unitsIn, unitsOut }: Moved): void => {
    if (unitsIn === 0 && unitsOut === 0) return;
    const day = Math.floor(at / DAY_MS);
    note.run(sellerId, day, Math.min(unitsIn, SUM_LIMIT), Math.min(unitsOut, SUM_LIMIT));
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
