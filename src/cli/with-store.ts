/** Opens the store of the data folder for one command, and closes it whatever comes. */
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';

export async function withStore<Result>(
  folder: string, work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openSqliteStore({ folder });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
