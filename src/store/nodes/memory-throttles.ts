/** The throttle port in the memory of one process, which alone serves its store. */
import { makeRateLimiter, type RateLimiter } from '../../runtime/rate-limiter.ts';
import { RATE_LIMIT_ENTRIES_LIMIT } from '../limits.ts';
import type { ThrottleBucket, ThrottleStore } from './throttle-store.ts';

/** A restart fills all buckets. @param clock Milliseconds since 1970. */
export function makeMemoryThrottles(clock: () => number): ThrottleStore {
  const limiters = new Map<string, RateLimiter<string>>();

  function limiterOf(bucket: ThrottleBucket): RateLimiter<string> {
    const limiter = limiters.get(bucket.kind)
      ?? makeRateLimiter<string>(bucket, RATE_LIMIT_ENTRIES_LIMIT, clock);
    limiters.set(bucket.kind, limiter);
    return limiter;
  }

  return {
    takeThrottle: async (bucket) => limiterOf(bucket).take(bucket.name),
    refundThrottle: async (bucket) => limiterOf(bucket).refund(bucket.name),
  };
}
