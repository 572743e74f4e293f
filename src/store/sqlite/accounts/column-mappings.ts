/** Column mappings in SQLite: a bounded number per seller, the least recently used is removed. */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import type { AccountStore, ColumnMapping } from '../../account-store.ts';
import {
  COLUMN_MAPPING_LIMIT_CHARACTERS, COLUMN_MAPPINGS_PER_SELLER_LIMIT,
} from '../../limits.ts';
import type { MutationsOf, QueriesOf } from '../engine/port-methods.ts';
import { readText } from '../engine/row.ts';

export function columnMappingMutations(db: DatabaseSync) {
  const remove = db.prepare('DELETE FROM column_mapping WHERE seller_id = ? AND header_hash = ?');
  const set = db.prepare(`
    INSERT OR REPLACE INTO column_mapping (seller_id, header_hash, columns, used_at)
    VALUES (?, ?, ?, ?)`);
  const removeExcess = db.prepare(`
    DELETE FROM column_mapping WHERE seller_id = :sellerId AND header_hash IN (
      SELECT header_hash FROM column_mapping WHERE seller_id = :sellerId
      ORDER BY used_at DESC, header_hash DESC
      LIMIT -1 OFFSET ${COLUMN_MAPPINGS_PER_SELLER_LIMIT})`);
  return {
    keepColumnMapping([sellerId, headerHash, columns], at) {
      const json = JSON.stringify(columns);
      if (json.length > COLUMN_MAPPING_LIMIT_CHARACTERS) return;
      if (Object.keys(columns).length === 0) {
        remove.run(sellerId, headerHash);
        return;
      }
      set.run(sellerId, headerHash, json, at);
      removeExcess.run({ sellerId });
    },
  } satisfies Partial<MutationsOf<AccountStore>>;
}

export function columnMappingQueries(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT columns FROM column_mapping WHERE seller_id = ? AND header_hash = ?`);
  return {
    findColumnMapping(sellerId: SellerId, headerHash: string): ColumnMapping | undefined {
      const row = find.get(sellerId, headerHash);
      // The cast: the mutation above wrote it.
      return row && JSON.parse(readText(row, 'columns')) as ColumnMapping;
    },
  } satisfies Partial<QueriesOf<AccountStore>>;
}
