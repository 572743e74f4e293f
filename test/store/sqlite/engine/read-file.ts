/** Reads a database file without the store, as an auditor does: only with node:sqlite. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';

export const FILE_NAME = 'catalogue.db';

export function readRows(
  folder: string, sql: string, ...values: readonly (number | string)[]
): Record<string, SQLOutputValue>[] {
  const db = new DatabaseSync(join(folder, FILE_NAME), { readOnly: true });
  try {
    // Plain objects, as assert compares prototypes too.
    return db.prepare(sql).all(...values).map((row) => ({ ...row }));
  } finally {
    db.close();
  }
}

/** All rows of a catalogue, by table. */
export function readTables(folder: string): Map<string, Record<string, SQLOutputValue>[]> {
  const tables = readRows(folder, `
    SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`);
  return new Map(tables.map(({ name }) =>
    [String(name), readRows(folder, `SELECT * FROM ${String(name)}`)]));
}

/** Every file of a folder with its bytes and its time of change. */
export function readFolder(folder: string): [name: string, bytes: string, changedAt: number][] {
  return readdirSync(folder).toSorted().map((name) => {
    const path = join(folder, name);
    return [name, readFileSync(path, 'latin1'), statSync(path).mtimeMs];
  });
}

export function readMode(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8);
}
