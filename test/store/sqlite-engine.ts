/** The SQLite adapter, for the tests that run on both engines. */
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
    return { open, hasExactIds: true, assertHealthy: () => assertHealthy(folder) };
  },
};
