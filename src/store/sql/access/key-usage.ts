/** Hourly usage of keys, summed over all processes. */
import type { KeyId } from '../../../domain/id.ts';
import { HOUR_MS } from '../../../domain/time.ts';
import { KEY_USAGE_KEPT_HOURS } from '../../limits.ts';
import type { UsageStore } from '../../access-store.ts';
import type { MutationsOf, QueriesOf } from '../port-methods.ts';
import { prepareList, readId, readInteger, type Sql } from '../sql.ts';

export function usageMutations(sql: Sql) {
  const add = sql.prepare(`
    INSERT INTO key_usage (seller_id, hour, key_id, requests, refusals)
    SELECT id, :hour, :keyId, :requests, :refusals FROM seller WHERE id = :sellerId
    ON CONFLICT (seller_id, hour, key_id) DO UPDATE
    SET requests = key_usage.requests + excluded.requests,
      refusals = key_usage.refusals + excluded.refusals`);
  const removeOld = sql.prepare(`
    DELETE FROM key_usage WHERE seller_id = :sellerId AND hour < :oldest`);
  return {
    async noteUsage([usage], at) {
      for (const { sellerId, hour, keyId, requests, refusals } of usage) {
        await add.run({ sellerId, hour, keyId, requests, refusals });
      }
      const oldest = Math.floor(at / HOUR_MS) - KEY_USAGE_KEPT_HOURS;
      for (const sellerId of new Set(usage.map((entry) => entry.sellerId))) {
        await removeOld.run({ sellerId, oldest });
      }
    },
  } satisfies Partial<MutationsOf<UsageStore>>;
}

export function usageQueries(sql: Sql) {
  const list = prepareList(sql, (row) => ({
    keyId: readId<KeyId>(row, 'key_id'),
    hour: readInteger(row, 'hour'),
    requests: readInteger(row, 'requests'),
    refusals: readInteger(row, 'refusals'),
  }), `
    SELECT hour, key_id, requests, refusals FROM key_usage
    WHERE seller_id = :sellerId AND hour >= :since ORDER BY hour DESC, key_id DESC LIMIT :limit`);
  return {
    readUsage: (sellerId, { since, limit }) => list({ sellerId, since, limit }),
  } satisfies Partial<QueriesOf<UsageStore>>;
}
