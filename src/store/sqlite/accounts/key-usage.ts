/** Hourly usage of keys in SQLite, summed over all processes. */
import type { DatabaseSync } from 'node:sqlite';
import { KEY_USAGE_KEPT_HOURS } from '../limits.ts';
import type { KeyId } from '../../../domain/id.ts';
import { HOUR_MS } from '../../../domain/time.ts';
import type { UsageStore } from '../../usage-store.ts';
import type { MutationsOf, QueriesOf } from '../engine/port-methods.ts';
import { readId, readInteger } from '../engine/row.ts';

export function usageMutations(db: DatabaseSync) {
  const add = db.prepare(`
    INSERT INTO key_usage (seller_id, hour, key_id, requests, refusals) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (seller_id, hour, key_id) DO UPDATE
    SET requests = requests + excluded.requests, refusals = refusals + excluded.refusals`);
  const removeOld = db.prepare('DELETE FROM key_usage WHERE seller_id = ? AND hour < ?');
  return {
    noteUsage([usage], at) {
      for (const { sellerId, hour, keyId, requests, refusals } of usage) {
        add.run(sellerId, hour, keyId, requests, refusals);
      }
      const oldest = Math.floor(at / HOUR_MS) - KEY_USAGE_KEPT_HOURS;
      for (const sellerId of new Set(usage.map((one) => one.sellerId))) {
        removeOld.run(sellerId, oldest);
      }
    },
  } satisfies Partial<MutationsOf<UsageStore>>;
}

export function usageQueries(db: DatabaseSync) {
  const list = db.prepare(`
    SELECT hour, key_id, requests, refusals FROM key_usage
    WHERE seller_id = ? AND hour >= ? ORDER BY hour DESC, key_id DESC LIMIT ?`);
  return {
    readUsage: (sellerId, { since, limit }) => list.all(sellerId, since, limit).map((row) => ({
      keyId: readId<KeyId>(row, 'key_id'),
      hour: readInteger(row, 'hour'),
      requests: readInteger(row, 'requests'),
      refusals: readInteger(row, 'refusals'),
    })),
  } satisfies Partial<QueriesOf<UsageStore>>;
}
