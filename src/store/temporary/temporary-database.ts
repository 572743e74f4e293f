/** Temporary databases of SQLite, which hold what any adapter must not keep in memory. */
import type { DatabaseSync } from 'node:sqlite';
import { DRY_RUN_CACHE_KIB } from '../limits.ts';
import { readText } from '../sql/sql.ts';
import { openDatabase } from '../sqlite/engine/connection.ts';

/** A private database: in memory while it is small, in a temporary file once it grows. */
export function openTemporary(cacheKib = DRY_RUN_CACHE_KIB): DatabaseSync {
  return openDatabase('', 0, `PRAGMA cache_size = -${cacheKib}`);
}

/** A temporary database with these tables, in one transaction that is never committed. */
export function openTables(tables: string): DatabaseSync {
  const db = openTemporary();
  db.exec(`${tables}; BEGIN`);
  return db;
}

/** Items by key in a temporary database. */
export function openTemporaryItems<Item>() {
  const db = openTables(
    'CREATE TABLE items (key TEXT PRIMARY KEY, item TEXT NOT NULL) STRICT, WITHOUT ROWID',
  );
  const find = db.prepare('SELECT item FROM items WHERE key = ?');
  const set = db.prepare('INSERT OR REPLACE INTO items (key, item) VALUES (?, ?)');
  return {
    find(key: string): Item | undefined {
      const row = find.get(key);
      // The table holds what `set` wrote.
      return row && JSON.parse(readText(row, 'item')) as Item;
    },
    set: (key: string, item: Item) => void set.run(key, JSON.stringify(item)),
    close: () => db[Symbol.dispose](),
  };
}
