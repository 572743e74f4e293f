/**
 * The lines of an imported file by SKU, in a temporary database. If its disk is full or broken, no
 * more lines are noted: that must not end the import.
 */
import type { SkuLines } from '../../catalogue-store.ts';
import { openTemporary } from '../engine/connection.ts';
import { resultCodeOf } from '../engine/disk-failure.ts';
import { readInteger } from '../engine/row.ts';

export function openSkuLines(db = openTemporary()): SkuLines {
  db.exec(`
    CREATE TABLE noted (sku TEXT PRIMARY KEY, line INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    BEGIN;
  `);
  const add = db.prepare('INSERT INTO noted (sku, line) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const find = db.prepare('SELECT line FROM noted WHERE sku = ?');
  const update = db.prepare('UPDATE noted SET line = ? WHERE sku = ?');

  const close = (): void => {
    if (db.isOpen) db.close();
  };

  return {
    note(sku, line) {
      if (!db.isOpen) return undefined;
      try {
        if (add.run(sku, line).changes === 1) return undefined;
        const row = find.get(sku);
        update.run(line, sku);
        return row && readInteger(row, 'line');
      } catch (error) {
        if (resultCodeOf(error) === 0) throw error;
        close();
        return undefined;
      }
    },
    close,
  };
}
