/** The SQLite adapter passes the contract of the store port. */
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeFolder } from '../support/folder.ts';
import { describeStore } from './contract.ts';

describeStore('SQLite', (t) => {
  const stores: Store[] = [];
  // Before the folder, for what is registered first is done first.
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const folder = join(makeFolder(t), 'data');
  return async (clock) => {
    const store = await openSqliteStore({ folder, clock });
    stores.push(store);
    return store;
  };
});
