/**
 * Throttles and rate limits that nodes share: token buckets in rows, by the database's clock. A row
 * says when its bucket is full again. Each exchange is one statement on one shard, so concurrent
 * ones take different tokens.
 */
import type { RateLimit } from '../../../runtime/rate-limiter.ts';
import type { RateLeases } from '../../nodes/rate-lease-store.ts';
import { makeStoredThrottles } from '../../nodes/stored-throttles.ts';
import type { ThrottleStore } from '../../nodes/throttle-store.ts';
import { readInteger } from '../../sql/sql.ts';
import { TOKEN_BUCKET_PRUNE_INTERVAL_MS } from '../limits.ts';
import type { Query } from '../sql.ts';
import type { Value } from '../wire/values.ts';
import { DATABASE_TIME } from './node-table.ts';

type Exchange = (
  key: readonly [Value, Value], limit: RateLimit, requestedTokens: number, returnedTokens: number,
) => ReturnType<RateLeases['exchange']>;

export function makeThrottles(query: Query): ThrottleStore {
  const exchange = prepareExchange(query, 'throttle', ['name', 'kind']);
  return makeStoredThrottles((bucket, requestedTokens, returnedTokens) =>
    exchange([bucket.name, bucket.kind], bucket, requestedTokens, returnedTokens));
}

export function makeRateLeases(query: Query, countNodes: () => number): RateLeases {
  const exchange = prepareExchange(query, 'rate_lease', ['seller_id', 'key_id']);
  return {
    countNodes,
    exchange: (bucket, { requestedTokens, returnedTokens }) =>
      exchange([bucket.sellerId, bucket.keyId ?? 0], bucket, requestedTokens, returnedTokens),
  };
}

/** @param columns The primary key. */
function prepareExchange(
  query: Query, table: string, [first, second]: readonly [string, string],
): Exchange {
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

  return async (key, rate, requestedTokens, returnedTokens) => {
    const msPerToken = rate.windowMs / rate.limit;
    const values = [...key, rate.limit, msPerToken, requestedTokens, returnedTokens];
    const [row] = await query(text, ...values);
    if (!row) throw new Error('The exchange has no result.');
    if (performance.now() > pruneAt) {
      pruneAt = performance.now() + TOKEN_BUCKET_PRUNE_INTERVAL_MS;
      query(prune).catch(() => {}); // tried again after the interval
    }
    const tokens = Math.max(0, rate.limit - readInteger(row, 'until_full') / msPerToken);
    return { granted: readInteger(row, 'granted'), tokens };
  };
}
