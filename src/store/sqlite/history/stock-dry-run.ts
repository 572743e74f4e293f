/**
 * Changes of stock that are tried and not made. What they would leave is kept in a temporary
 * database, which grows into a file where it gets large: so a product that comes again is found as
 * the changes before have left it, however many there are.
 */
import type { StockChange } from '../../../domain/catalogue/stock-change.ts';
import type { StockDryRun } from '../../catalogue-store.ts';
import type { Actor } from '../../write.ts';
import { openTemporary } from '../engine/connection.ts';
import { readInteger } from '../engine/row.ts';
import type { StockLevel } from '../catalogue/stock-levels.ts';
import { StockBatch } from '../catalogue/stock-batch.ts';

/** Nothing is written that could tell of it. */
const NO_ORIGIN = { source: undefined, reason: undefined };

/** `read` finds products in the catalogue itself, which stands at `position`. */
export function openStockDryRun(
  actor: Actor, position: number,
  read: (changes: readonly StockChange[]) => readonly (StockLevel | undefined)[],
): StockDryRun {
  const db = openTemporary();
  db.exec(`CREATE TABLE tried (
    id INTEGER PRIMARY KEY, stock INTEGER NOT NULL, position INTEGER NOT NULL,
    sequence INTEGER NOT NULL) STRICT`);
  const find = db.prepare('SELECT stock, position, sequence FROM tried WHERE id = ?');
  const note = db.prepare(`
    INSERT OR REPLACE INTO tried (id, stock, position, sequence) VALUES (?, ?, ?, ?)`);
  let taken = position;

  /** The level as what was tried before has left it. */
  function recall(level: StockLevel): void {
    const row = find.get(level.id);
    if (!row) return;
    level.stock = readInteger(row, 'stock');
    level.position = readInteger(row, 'position');
    // What was tried may have had no sequence, and then the last one was not looked for.
    level.sequence = Math.max(level.sequence, readInteger(row, 'sequence'));
  }

  return {
    async try(changes) {
      db.exec('BEGIN');
      const levels = read(changes);
      for (const level of new Set(levels)) if (level) recall(level);
      const run = new StockBatch({ actor, origin: NO_ORIGIN, position: taken, at: 0 });
      const results = changes.map((change, index) => run.apply(change, levels[index]));
      for (const { id, stock, position: last, sequence } of run.named) {
        note.run(id, stock, last, sequence);
      }
      taken += run.changes.length;
      db.exec('COMMIT');
      return { results, position: taken };
    },
    async close() {
      if (db.isOpen) db.close();
    },
  };
}
