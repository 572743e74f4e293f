/** The SQLite adapter, for the tests that run on both engines. */
import { join } from 'node:path';
import { openReader } from '../../src/store/sqlite/engine/connection.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { makeDataFolder } from '../support/folder.ts';
import { assertHealthy } from '../support/health.ts';
import { closeAfter, type Engine } from './engine.ts';

export const sqlite: Engine = {
  runsShare: 1,
  async prepare(t) {
    // Before the folder: cleanups run in the order in which they are registered.
    const open = closeAfter(t, (clock) => openSqliteStore({ folder, clock }));
    const folder = makeDataFolder(t);
    return {
      open, folder, hasExactIds: true, readTables: async () => readTables(folder),
      assertHealthy: () => assertHealthy(folder),
    };
  },
};

function readTables(folder: string): ReadonlyMap<string, readonly string[]> {
  using db = openReader(join(folder, 'catalogue.db'));
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return new Map(names.map(({ name }) => [
    String(name), db.prepare(`SELECT * FROM ${String(name)}`).all().map((row) =>
      JSON.stringify(row)),
  ]));
}
