/**
 * The floor of stock changes: a SQLite table that finds, updates and records the same rows, one
 * transaction per batch, as durable as the server. No HTTP, no JSON, no validation, no response.
 */
import { performance } from 'node:perf_hooks';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { openBare } from './database.ts';

/** Sets the stock of a product. */
export interface BareChange {
  readonly sku: string;
  readonly stock: number;
}

export class BareStock {
  readonly #db: DatabaseSync;
  readonly #find: StatementSync;
  readonly #update: StatementSync;
  readonly #record: StatementSync;
  #position = 0;

  constructor(file: string, skus: Iterable<string>) {
    const db = openBare(file);
    db.exec(`
      CREATE TABLE product (id INTEGER PRIMARY KEY, seller_id INTEGER NOT NULL, sku TEXT NOT NULL,
        stock INTEGER NOT NULL, position INTEGER NOT NULL, UNIQUE (seller_id, sku)) STRICT;
      CREATE TABLE change (seller_id INTEGER NOT NULL, position INTEGER NOT NULL,
        product_id INTEGER NOT NULL, before INTEGER NOT NULL, after INTEGER NOT NULL,
        at INTEGER NOT NULL, PRIMARY KEY (seller_id, position)) STRICT, WITHOUT ROWID;
      BEGIN`);
    const insert = db.prepare(
      'INSERT INTO product (seller_id, sku, stock, position) VALUES (1, ?, 0, 0)');
    for (const sku of skus) insert.run(sku);
    db.exec('COMMIT');
    this.#db = db;
    this.#find = db.prepare('SELECT id, stock FROM product WHERE seller_id = 1 AND sku = ?');
    this.#update = db.prepare('UPDATE product SET stock = ?, position = ? WHERE id = ?');
    this.#record = db.prepare('INSERT INTO change VALUES (1, ?, ?, ?, ?, ?)');
  }

  /** Writes batches until `isDone`; changes, and the milliseconds that their transactions took. */
  run(
    makeBatch: () => readonly BareChange[], isDone: (changes: number, ms: number) => boolean,
  ): { readonly changes: number; readonly ms: number } {
    let [changes, ms] = [0, 0];
    while (!isDone(changes, ms)) {
      const batch = makeBatch();
      const start = performance.now();
      this.#write(batch);
      ms += performance.now() - start;
      changes += batch.length;
    }
    return { changes, ms };
  }

  close(): void {
    this.#db.close();
  }

  #write(batch: readonly BareChange[]): void {
    const now = Date.now();
    this.#db.exec('BEGIN IMMEDIATE');
    for (const { sku, stock } of batch) {
      const { id = 0, stock: before = 0 } = this.#find.get(sku) ?? {};
      this.#position += 1;
      this.#update.run(stock, this.#position, id);
      this.#record.run(this.#position, id, before, stock, now);
    }
    this.#db.exec('COMMIT');
  }
}
