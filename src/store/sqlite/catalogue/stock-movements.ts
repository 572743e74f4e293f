/** Writes the change events of a stock batch, to which `position-allocator.ts` gives positions. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { StockBatch } from '../../rules/stock-batch.ts';

/** Movements per statement: halves the time per row; larger groups gain nothing. */
const GROUP_ROWS = 32;

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
