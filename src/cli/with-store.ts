/** Opens the store of the data folder for one operation of a command and always closes it. */
import { PAGE_SIZE_LIMIT } from '../api/limits.ts';
import { assertCatalogueExists } from '../store/sqlite/engine/database-file.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { Store } from '../store/store.ts';
import type { PageQuery } from '../store/write.ts';

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

/** Reads a whole list of the store, page by page. */
export async function readAllPages<Id, Item extends { readonly id: Id }>(
  read: (query: PageQuery<Id>) => Promise<readonly Item[]>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const page = await read({ after: items.at(-1)?.id, limit: PAGE_SIZE_LIMIT });
    items.push(...page);
    if (page.length < PAGE_SIZE_LIMIT) return items;
  }
}
