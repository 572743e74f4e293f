/**
 * What the people of a seller have chosen, a bounded number of each: filters of lists, and the
 * columns of files.
 */
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type {
  AccountStore, ColumnMapping, FilteredList, SavedFilter,
} from '../../account-store.ts';
import {
  COLUMN_MAPPING_LIMIT_CHARACTERS, COLUMN_MAPPINGS_PER_SELLER_LIMIT, SAVED_FILTERS_PER_LIST_LIMIT,
} from '../../limits.ts';
import { prepareAssertSeller } from '../access/seller-deletion.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import { prepareFind, readText, type Row, type Sql } from '../sql.ts';

export function savedFilterMutations(sql: Sql) {
  const assertSeller = prepareAssertSeller(sql);
  const listFilters = prepareListFilters(sql);
  const set = sql.prepare(`
    INSERT INTO saved_filter (seller_id, list, name, query)
    VALUES (:sellerId, :list, :name, :query)
    ON CONFLICT (seller_id, list, name) DO UPDATE SET query = excluded.query`);
  const remove = sql.prepare(`
    DELETE FROM saved_filter WHERE seller_id = :sellerId AND list = :list AND name = :name`);
  return {
    async saveFilter([sellerId, { list, name, query }]) {
      await assertSeller(sellerId);
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

export function prepareListFilters(sql: Sql) {
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

export function columnMappingMutations(sql: Sql) {
  const assertSeller = prepareAssertSeller(sql);
  const remove = sql.prepare(`
    DELETE FROM column_mapping WHERE seller_id = :sellerId AND header_hash = :headerHash`);
  const set = sql.prepare(`
    INSERT INTO column_mapping (seller_id, header_hash, columns, used_at)
    VALUES (:sellerId, :headerHash, :json, :at)
    ON CONFLICT (seller_id, header_hash) DO UPDATE
    SET columns = excluded.columns, used_at = excluded.used_at`);
  const removeExcess = sql.prepare(`
    DELETE FROM column_mapping WHERE seller_id = :sellerId AND (used_at, header_hash) <= (
      SELECT used_at, header_hash FROM column_mapping WHERE seller_id = :sellerId
      ORDER BY used_at DESC, header_hash DESC
      LIMIT 1 OFFSET ${COLUMN_MAPPINGS_PER_SELLER_LIMIT})`);
  return {
    async keepColumnMapping([sellerId, headerHash, columns], at) {
      await assertSeller(sellerId);
      const json = JSON.stringify(columns);
      if (json.length > COLUMN_MAPPING_LIMIT_CHARACTERS) return;
      if (Object.keys(columns).length === 0) {
        await remove.run({ sellerId, headerHash });
        return;
      }
      await set.run({ sellerId, headerHash, json, at });
      await removeExcess.run({ sellerId });
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

export function columnMappingQueries(sql: Sql) {
  // The cast: the mutation above wrote it.
  const readColumns = (row: Row) => JSON.parse(readText(row, 'columns')) as ColumnMapping;
  const find = prepareFind(sql, readColumns, `
    SELECT columns FROM column_mapping WHERE seller_id = :sellerId AND header_hash = :headerHash`);
  return {
    findColumnMapping: (sellerId, headerHash) => find({ sellerId, headerHash }),
  } satisfies Partial<QueriesOf<AccountStore>>;
}
