/** Opens a store that is closed after the test in any case: an open one would keep the process. */
import type { TestContext } from 'node:test';
import { openSqliteStore, type SqliteStoreOptions } from '../../../src/store/sqlite/store.ts';
import type { Store } from '../../../src/store/store.ts';

export async function openStore(t: TestContext, options: SqliteStoreOptions): Promise<Store> {
  const store = await openSqliteStore(options);
  t.after(() => store.close());
  return store;
}
