/** Saved filters: a bounded number per seller and list. */
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { AccountStore, FilteredList, SavedFilter } from '../../account-store.ts';
import { SAVED_FILTERS_PER_LIST_LIMIT } from '../../limits.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import { readText } from '../row.ts';
import type { Sql } from '../sql.ts';

export function savedFilterMutations(sql: Sql) {
  const listFilters = prepareList(sql);
  const set = sql.prepare(`
    INSERT INTO saved_filter (seller_id, list, name, query)
    VALUES (:sellerId, :list, :name, :query)
    ON CONFLICT (seller_id, list, name) DO UPDATE SET query = excluded.query`);
  const remove = sql.prepare(`
    DELETE FROM saved_filter WHERE seller_id = :sellerId AND list = :list AND name = :name`);
  return {
    async saveFilter([sellerId, { list, name, query }]) {
      const others = (await listFilters(sellerId, list)).filter((saved) => saved.name !== name);
      if (others.length >= SAVED_FILTERS_PER_LIST_LIMIT) {
        const limit = `${SAVED_FILTERS_PER_LIST_LIMIT} saved filters`;
        throw new AppError('limit_reached', `This list has ${limit}. Delete one first.`);
      }
      await set.run({ sellerId, list, name, query });
    },
    async deleteFilter([sellerId, list, name]) {
      await remove.run({ sellerId, list, name });
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

export function savedFilterQueries(sql: Sql) {
  return { listFilters: prepareList(sql) } satisfies Partial<QueriesOf<AccountStore>>;
}

function prepareList(sql: Sql) {
  const select = sql.prepare(`
    SELECT name, query FROM saved_filter WHERE seller_id = :sellerId AND list = :list
    ORDER BY name LIMIT ${SAVED_FILTERS_PER_LIST_LIMIT}`);
  return async (sellerId: SellerId, list: FilteredList): Promise<readonly SavedFilter[]> => {
    const rows = await select.all({ sellerId, list });
    return rows.map((row) => ({
      list, name: readText(row, 'name'), query: readText(row, 'query'),
    }));
  };
}
