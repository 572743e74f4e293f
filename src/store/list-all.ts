/** Reads a list of the store to its end. */
import { LIST_PAGE_ITEMS } from './limits.ts';
import type { PageQuery } from './write.ts';

/** All items, in pages. */
export async function* listAll<Id, Item extends { readonly id: Id }>(
  read: (query: PageQuery<Id>) => Promise<readonly Item[]>,
): AsyncGenerator<Item, void, void> {
  for (let after: Id | undefined; ;) {
    const page = await read({ after, limit: LIST_PAGE_ITEMS });
    yield* page;
    if (page.length < LIST_PAGE_ITEMS) return;
    after = page.at(-1)?.id;
  }
}
