/** Writes change events, to which `position-allocator.ts`, the only caller, gives positions. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { NewChange } from '../../rules/history.ts';
import type { StockBatch } from '../../rules/stock-batch.ts';
import { InsertQueue } from '../engine/insert-queue.ts';

/** Movements per statement: halves the time per row; larger groups gain nothing. */
const GROUP_ROWS = 32;

/** A queue of rows that `encodeChange` made. */
export function prepareChangeQueue(db: DatabaseSync): InsertQueue {
  return new InsertQueue(db, {
    insert: `INSERT INTO change (seller_id, position, type, product_id, key_id, at, stock_before,
      stock_after, product, sku, prior, reason, source, sequence, actor, import_id)`,
    width: 16,
  });
}

export function encodeChange(change: NewChange): SQLInputValue[] {
  const { before, after, reason, source, sequence } = change.movement;
  return [
    change.sellerId, change.position, change.type, change.productId, change.keyId, change.at,
    before, after, change.product ?? null, change.sku, change.previousPosition ?? null,
    reason ?? null, source ?? null, sequence ?? null, change.actor ?? null,
    change.importId ?? null,
  ];
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
