/** Opens the store for one operation of a command and always closes it. */
import { openStore, type StoreLocation } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';

/** For commands that need an existing catalogue and create none. @throws AppError `not_found` */
export async function withStore<Result>(
  location: StoreLocation, work: (store: Store) => Promise<Result>,
): Promise<Result> {
  return closeAfter(await openStore(location, { mustExist: true }), work);
}

/** For commands that create a missing catalogue in a folder; a database must exist. */
export async function withNewStore<Result>(
  location: StoreLocation, work: (store: Store) => Promise<Result>,
): Promise<Result> {
  return closeAfter(await openStore(location), work);
}

async function closeAfter<Result>(
  store: Store, work: (store: Store) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
