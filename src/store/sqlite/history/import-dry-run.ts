/**
 * An import that is tried and not made. What it would write goes to a temporary database that
 * SQLite keeps in memory while it is small, moves to the disk when it grows, and removes: so a
 * product that comes twice is found there the second time, however long the import is.
 */
import {
  completeProduct, isSameProduct, type ProductRow, type ProductTarget,
} from '../../../domain/catalogue/product.ts';
import type { NewProduct } from '../../../domain/catalogue/product-fields.ts';
import type { ImportEffect, ImportMode, ImportDryRun } from '../../catalogue-store.ts';
import { openTemporary } from '../engine/connection.ts';
import { readText } from '../engine/row.ts';

/** `find` looks a product up in the catalogue itself. */
export function openImportDryRun(
  mode: ImportMode, find: (target: ProductTarget) => NewProduct | undefined,
): ImportDryRun {
  const db = openTemporary();
  db.exec('CREATE TABLE tried (sku TEXT PRIMARY KEY, product TEXT NOT NULL) STRICT, WITHOUT ROWID');
  const findTried = db.prepare('SELECT product FROM tried WHERE sku = ?');
  const note = db.prepare('INSERT OR REPLACE INTO tried (sku, product) VALUES (?, ?)');

  function tryOne(row: ProductRow): ImportEffect {
    const tried = findTried.get(row.sku);
    // What the table holds was written below.
    const before = tried ? JSON.parse(readText(tried, 'product')) as NewProduct : find(row);
    if (before && mode === 'create') return 'taken';
    const product = completeProduct(row, before ?? row.defaults);
    if (!product) return 'incomplete';
    if (before && isSameProduct(before, product)) return 'unchanged';
    note.run(product.sku, JSON.stringify(product));
    return before ? 'updated' : 'created';
  }

  return {
    async try(products) {
      db.exec('BEGIN');
      const effects = products.map(tryOne);
      db.exec('COMMIT');
      return effects;
    },
    async close() {
      if (db.isOpen) db.close();
    },
  };
}
