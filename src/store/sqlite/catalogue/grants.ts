/** What a key grants, in SQLite: the query that authenticates every request. */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import type { AccessStore } from '../../access-store.ts';
import { mapGrant } from '../../sql/access/key-queries.ts';
import type { QueriesOf } from '../../sql/port-methods.ts';
import { readId } from '../../sql/sql.ts';

export function grantQueries(db: DatabaseSync) {
  // Not filtered by seller_id: it finds the seller.
  const find = db.prepare(`
    SELECT k.seller_id, k.id, k.scopes, k.address_ranges, k.expires_at, k.lived_until,
      k.rate_limit_per_minute, s.currency, s.currency_decimals, s.position
    FROM api_key AS k JOIN seller AS s ON s.id = k.seller_id
    WHERE k.hash = ? AND k.revoked_at IS NULL AND s.disabled_at IS NULL`);
  return {
    findGrant(hash) {
      const row = find.get(hash);
      return row && mapGrant(readId<SellerId>(row, 'seller_id'), row);
    },
  } satisfies Partial<QueriesOf<AccessStore>>;
}
