/** Column mappings: a bounded number per seller, the least recently used is removed. */
import type { AccountStore, ColumnMapping } from '../../account-store.ts';
import {
  COLUMN_MAPPING_LIMIT_CHARACTERS, COLUMN_MAPPINGS_PER_SELLER_LIMIT,
} from '../../limits.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import { readText } from '../row.ts';
import type { Sql } from '../sql.ts';

export function columnMappingMutations(sql: Sql) {
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
  const find = sql.prepare(`
    SELECT columns FROM column_mapping WHERE seller_id = :sellerId AND header_hash = :headerHash`);
  return {
    async findColumnMapping(sellerId, headerHash) {
      const row = await find.get({ sellerId, headerHash });
      // The cast: the mutation above wrote it.
      return row && JSON.parse(readText(row, 'columns')) as ColumnMapping;
    },
  } satisfies Partial<QueriesOf<AccountStore>>;
}
