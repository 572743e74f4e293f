/** Opens the store for one operation of a command and always closes it. */
import { openStore, type StoreLocation } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';

/** For commands that need an existing catalogue and create none. @throws AppError `not_found` */
export async function withStore<Result>(
  location: StoreLocation, work: (store: Store) => Promise<Result>,
  options: Parameters<typeof openStore>[1] = { mustExist: true },
): Promise<Result> {
  const store = await openStore(location, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** For commands that create a missing catalogue in a folder; a database must exist. */
export function withNewStore<Result>(
  location: StoreLocation, work: (store: Store) => Promise<Result>, highWaterFile?: string,
): Promise<Result> {
  return withStore(location, work, { highWaterFile });
}
