/** The SQLite adapter passes the contract of the store port. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeFolder } from '../support/folder.ts';
import { describeStore } from './contract.ts';

/** An empty data folder with all migrations applied; each test gets a copy. */
const template = mkdtempSync(join(tmpdir(), 'seller-api-template-'));
before(async () => (await openSqliteStore({ folder: template })).close());
after(() => rmSync(template, { recursive: true, force: true }));

describeStore('SQLite', (t) => {
  const stores: Store[] = [];
  // Before the folder: cleanups run in the order in which they are registered.
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const folder = join(makeFolder(t), 'data');
  cpSync(template, folder, { recursive: true });
  return async (clock) => {
    const store = await openSqliteStore({ folder, clock });
    stores.push(store);
    return store;
  };
});
