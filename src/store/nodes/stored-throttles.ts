/**
 * The throttle port on token buckets that the store keeps. A bucket that was empty is remembered
 * for a moment, so that a flood of attempts costs the store little.
 */
import { BoundedMap } from '../../runtime/bounded-map.ts';
import { RATE_LIMIT_ENTRIES_LIMIT, THROTTLE_EMPTY_LIMIT_MS } from '../limits.ts';
import type { ExchangeTokens } from './rate-lease-store.ts';
import type { ThrottleBucket, ThrottleStore } from './throttle-store.ts';

/** @param exchange Takes and returns tokens, as `RateLeases.exchange` does. */
export function makeStoredThrottles(exchange: ExchangeTokens<ThrottleBucket>): ThrottleStore {
  /** When to ask for an empty bucket again, and its next token, by `performance.now()`. */
  const empty = new BoundedMap<string, { readonly askAt: number; readonly tokenAt: number }>(
    RATE_LIMIT_ENTRIES_LIMIT);
  const keyOf = ({ kind, name }: ThrottleBucket): string => `${kind} ${name}`;
  const reject = (waitMs: number) =>
    ({ isAllowed: false, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
  return {
    async takeThrottle(bucket) {
      const times = empty.get(keyOf(bucket));
      const now = performance.now();
      if (times && now < times.askAt) return reject(times.tokenAt - now);
      empty.delete(keyOf(bucket));
      const lease = await exchange(bucket, { requestedTokens: 1, returnedTokens: 0 });
      if (lease.granted > 0) return { isAllowed: true, retryAfterSeconds: 0 };
      const waitMs = (1 - lease.tokens) * bucket.windowMs / bucket.limit;
      const askAt = now + Math.min(waitMs, THROTTLE_EMPTY_LIMIT_MS);
      empty.set(keyOf(bucket), { askAt, tokenAt: now + waitMs });
      return reject(waitMs);
    },
    async refundThrottle(bucket) {
      await exchange(bucket, { requestedTokens: 0, returnedTokens: 1 });
      empty.delete(keyOf(bucket));
    },
  };
}
