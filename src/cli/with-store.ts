/** Opens the store of the data folder for one operation of a command and always closes it. */
import { assertCatalogueExists } from '../store/sqlite/engine/database-file.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';

/** For commands that need an existing catalogue and create none. @throws AppError `not_found` */
export async function withStore<Result>(
  folder: string, work: (store: Store) => Promise<Result>,
): Promise<Result> {
  assertCatalogueExists(folder);
  return withNewStore(folder, work);
}

/** For commands that create a missing catalogue. */
export async function withNewStore<Result>(
  folder: string, work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openSqliteStore({ folder });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
