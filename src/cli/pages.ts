/** Reads a list of the store to its end, page by page. */
import { PAGE_SIZE_LIMIT } from '../api/limits.ts';
import type { PageQuery } from '../store/write.ts';

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
