/** Writes change events, and the days on which stock moved, for `transaction.ts`. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import { DAY_MS } from '../../../domain/time.ts';
import type { MovedSeller } from '../../rules/mutations/position-allocator.ts';
import type { StockBatch } from '../../rules/stock-batch.ts';
import { CHANGE_ROW } from '../../sql/history/changes.ts';
import { InsertQueue } from '../engine/insert-queue.ts';

/** Movements per statement: halves the time per row; larger groups gain nothing. */
const GROUP_ROWS = 32;
/** Sums saturate at the largest safe integer. */
const SUM_LIMIT = Number.MAX_SAFE_INTEGER;

type MovedUnits = Pick<MovedSeller, 'unitsIn' | 'unitsOut'>;

/** A queue of rows that `encodeChange` made. */
export function prepareChangeQueue(db: DatabaseSync): InsertQueue {
  const columns = ['seller_id', ...Object.keys(CHANGE_ROW)];
  return new InsertQueue(db, {
    insert: `INSERT INTO change (${columns.join(', ')})`, width: columns.length,
  });
}

/** Returns a function that writes the movements of a batch from the position `first`. */
export function prepareInsertMovements(db: DatabaseSync) {
  const statements = [GROUP_ROWS, 1].map((rows) => ({ rows, insert: prepareInsert(db, rows) }));
  return ({ context, movements }: StockBatch, first: number): void => {
    const { actor: { sellerId, keyId, actorName, importId }, origin: { source }, at } = context;
    let start = 0;
    for (const { rows, insert } of statements) {
      for (; start + rows <= movements.length; start += rows) {
        const values: SQLInputValue[] = [];
        for (const movement of movements.slice(start, start + rows)) {
          values.push(
            movement.productId, movement.before, movement.after, movement.sku,
            movement.previousPosition, movement.reason ?? null, movement.sequence ?? null,
          );
        }
        insert.run(
          ...values, sellerId, first + start, keyId, at, source ?? null, actorName ?? null,
          importId ?? null,
        );
      }
    }
  };
}

/** Columns that differ between movements are in `moved`; the others are bound once for all rows. */
function prepareInsert(db: DatabaseSync, rows: number) {
  const values = Array.from({ length: rows }, (_, n) => `(${n}, ?, ?, ?, ?, ?, ?, ?)`).join(', ');
  return db.prepare(`
    INSERT INTO change (seller_id, position, type, product_id, key_id, at, stock_before,
      stock_after, sku, prior, reason, source, sequence, actor, import_id)
    WITH moved (n, product_id, stock_before, stock_after, sku, prior, reason, sequence)
      AS (VALUES ${values})
    SELECT ?, ? + n, 'stock', product_id, ?, ?, stock_before, stock_after, sku, prior, reason, ?,
      sequence, ?, ? FROM moved`);
}

/** Adds the units that a transaction moved to their day: one row per seller. */
export function prepareNoteStockDay(db: DatabaseSync) {
  const note = db.prepare(`
    INSERT INTO stock_day (seller_id, day, units_in, units_out) VALUES (?, ?, ?, ?)
    ON CONFLICT (seller_id, day) DO UPDATE
    SET units_in = min(units_in + excluded.units_in, ${SUM_LIMIT}),
      units_out = min(units_out + excluded.units_out, ${SUM_LIMIT})`);
  return (sellerId: SellerId, at: number, { unitsIn, unitsOut }: MovedUnits): void => {
    if (unitsIn === 0 && unitsOut === 0) return;
    const day = Math.floor(at / DAY_MS);
    note.run(sellerId, day, Math.min(unitsIn, SUM_LIMIT), Math.min(unitsOut, SUM_LIMIT));
  };
}
