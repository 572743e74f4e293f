/**
 * Throttles and rate limits that nodes share: token buckets in rows, by the database's clock. A row
 * says when its bucket is full again. Each exchange is one statement on one shard, so concurrent
 * ones take different tokens.
 */
import type { RateLimit } from '../../../runtime/rate-limiter.ts';
import type { ExchangeTokens, RateLeases } from '../../nodes/rate-lease-store.ts';
import { makeStoredThrottles } from '../../nodes/stored-throttles.ts';
import type { ThrottleStore } from '../../nodes/throttle-store.ts';
import { readInteger } from '../../sql/sql.ts';
import { TOKEN_BUCKET_PRUNE_INTERVAL_MS } from '../limits.ts';
import type { Query } from '../sql.ts';
import type { Value } from '../wire/values.ts';
import { DATABASE_TIME } from './node-table.ts';

export function makeThrottles(query: Query): ThrottleStore {
  return makeStoredThrottles(prepareExchange(query, 'throttle', ['name', 'kind'], (bucket) =>
    [bucket.name, bucket.kind]));
}

export function makeRateLeases(query: Query, countNodes: () => number): RateLeases {
  return {
    countNodes,
    exchange: prepareExchange(query, 'rate_lease', ['seller_id', 'key_id'], (bucket) =>
      [bucket.sellerId, bucket.keyId ?? 0]),
  };
}

/** @param columns The primary key. */
function prepareExchange<Bucket extends RateLimit>(
  query: Query, table: string, [first, second]: readonly [string, string],
  keyOf: (bucket: Bucket) => readonly [Value, Value],
): ExchangeTokens<Bucket> {
  const [limit, tokenMs, requested, returned] = [3, 4, 5, 6].map((n) => `$${n}::float8`);
  // How long until the bucket is full; if the clock was ahead, as long as for an empty one.
  const untilFull = `greatest(0,
    least(b.full_at - excluded.at, ${limit} * ${tokenMs}) - ${returned} * ${tokenMs})`;
  // The fraction compensates for rounding.
  const granted = `greatest(0, least(${requested},
    floor(${limit} - ${untilFull} / ${tokenMs} + 0.000001)))`;
  // `excluded.at` is the time now: Citus wants the update to call no function for it.
  const text = `
    INSERT INTO ${table} AS b (${first}, ${second}, at, full_at, granted)
    VALUES ($1, $2, ${DATABASE_TIME}, ${DATABASE_TIME} + ${requested} * ${tokenMs}, ${requested})
    ON CONFLICT (${first}, ${second}) DO UPDATE SET at = excluded.at, granted = ${granted},
      full_at = excluded.at + ${untilFull} + ${granted} * ${tokenMs}
    RETURNING granted, full_at - at AS until_full`;
  const prune = `DELETE FROM ${table} WHERE full_at <= ${DATABASE_TIME}`;
  let pruneAt = performance.now() + TOKEN_BUCKET_PRUNE_INTERVAL_MS;

  return async (bucket, { requestedTokens, returnedTokens }) => {
    const msPerToken = bucket.windowMs / bucket.limit;
    const values = [...keyOf(bucket), bucket.limit, msPerToken, requestedTokens, returnedTokens];
    const [row] = await query(text, ...values);
    if (!row) throw new Error('The exchange has no result.');
    if (performance.now() > pruneAt) {
      pruneAt = performance.now() + TOKEN_BUCKET_PRUNE_INTERVAL_MS;
      query(prune).catch(() => {}); // tried again after the interval
    }
    const tokens = Math.max(0, bucket.limit - readInteger(row, 'until_full') / msPerToken);
    return { granted: readInteger(row, 'granted'), tokens };
  };
}
