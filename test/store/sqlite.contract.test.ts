/** The SQLite adapter passes the contract of the store port. */
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeDataFolder } from '../support/folder.ts';
import { describeStore } from './contract.ts';

describeStore('SQLite', (t) => {
  const stores: Store[] = [];
  // Before the folder: cleanups run in the order in which they are registered.
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const folder = makeDataFolder(t);
  return async (clock) => {
    const store = await openSqliteStore({ folder, clock });
    stores.push(store);
    return store;
  };
});
