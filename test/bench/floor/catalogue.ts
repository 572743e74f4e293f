/**
 * The floor of an import: a SQLite loop that only inserts the products and their events, as durable
 * as the server.
 */
import { performance } from 'node:perf_hooks';
import { makeVariedProduct } from '../load/made-up.ts';
import { openBare } from './database.ts';

const ROWS_PER_COMMIT = 1_000;

/** Rows per second, without the time that generating them takes. SKUs are unique. */
export function insertBare(file: string, rows: number): number {
  const db = openBare(file);
  db.exec(`
    CREATE TABLE product (id INTEGER PRIMARY KEY, seller_id INTEGER NOT NULL, sku TEXT NOT NULL,
      name TEXT NOT NULL, category TEXT NOT NULL, price_minor INTEGER NOT NULL,
      stock INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
      UNIQUE (seller_id, sku)) STRICT;
    CREATE TABLE change (seller_id INTEGER NOT NULL, position INTEGER NOT NULL,
      product_id INTEGER NOT NULL, product TEXT NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (seller_id, position)) STRICT, WITHOUT ROWID`);
  const insert = db.prepare(`
    INSERT INTO product (seller_id, sku, name, category, price_minor, stock, created_at, updated_at)
    VALUES (1, ?, ?, ?, ?, ?, 0, 0)`);
  const record = db.prepare('INSERT INTO change VALUES (1, ?, ?, ?, 0)');
  let insertingMs = 0;
  for (let from = 0; from < rows; from += ROWS_PER_COMMIT) {
    const batch = Array.from({ length: ROWS_PER_COMMIT }, (_, n) => makeVariedProduct(from + n));
    const start = performance.now();
    db.exec('BEGIN');
    for (const product of batch) {
      const { sku, name, category, price, stock } = product;
      const { lastInsertRowid: id } =
        insert.run(sku, name, category, Math.round(price * 100), stock);
      record.run(id, id, JSON.stringify(product));
    }
    db.exec('COMMIT');
    insertingMs += performance.now() - start;
  }
  db.close();
  return (rows / insertingMs) * 1000;
}
