/** A catalogue in SQLite, as one side of a move. Nothing else has the file open. */
import type { DatabaseSync } from 'node:sqlite';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { readInteger } from '../sql/sql.ts';
import { formatLine, type MovedValue, parseLine } from './copy-text.ts';
import { MOVE_BATCH_CHARACTERS } from './limits.ts';
import type { Side } from './move.ts';
import { listNames } from './tables.ts';

export function sqliteSide(db: DatabaseSync): Side {
  return {
    async* read(table, columns, after) {
      const key = listNames(table.key);
      const where = after ? `WHERE (${key}) > (${after.map(() => '?').join(', ')})` : '';
      const rows = db.prepare(`
        SELECT ${columns.map(({ expression }) => expression).join(', ')}
        FROM ${table.rows} AS ${table.name} ${where} ORDER BY ${key}`);
      rows.setReturnArrays(true);
      let lines: string[] = [];
      let characters = 0;
      for (const row of rows.iterate(...after ?? [])) {
        // The cast: that is what `setReturnArrays` does.
        const line = formatLine(row as unknown as readonly unknown[]);
        lines.push(line);
        characters += line.length;
        if (characters < MOVE_BATCH_CHARACTERS) continue;
        yield lines;
        await yieldToEventLoop();
        [lines, characters] = [[], 0];
      }
      if (lines.length > 0) yield lines;
    },
    async append({ name }, columns, lines) {
      const insert = db.prepare(`
        INSERT INTO ${name} (${listNames(columns)}) VALUES (${columns.map(() => '?').join(', ')})`);
      db.exec('BEGIN IMMEDIATE');
      try {
        for (const line of lines) insert.run(...parseLine(line, columns));
        db.exec('COMMIT');
      } finally {
        if (db.isTransaction) db.exec('ROLLBACK');
      }
    },
    async findLastKey({ key, rows, name }) {
      const order = key.map((column) => `${column.name} DESC`).join(', ');
      const row = db.prepare(`
        SELECT ${listNames(key)} FROM ${rows} AS ${name} ORDER BY ${order} LIMIT 1`).get();
      // The cast: no column of a key has other values.
      return row && key.map((column) => row[column.name] as MovedValue);
    },
    async count({ rows }) {
      const row = db.prepare(`SELECT count(*) AS rows FROM ${rows}`).get() ?? {};
      return readInteger(row, 'rows');
    },
  };
}
