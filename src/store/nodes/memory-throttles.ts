/** The throttle port in the memory of one process, which alone serves its store. */
import { type Clock, monotonicOf } from '../../runtime/clock.ts';
import { makeRateLimiter, type RateLimiter } from '../../runtime/rate-limiter.ts';
import { RATE_LIMIT_ENTRIES_LIMIT } from '../limits.ts';
import type { ThrottleBucket, ThrottleStore } from './throttle-store.ts';

/** A restart fills all buckets; a step of the clock changes none. */
export function makeMemoryThrottles(clock: Clock): ThrottleStore {
  const limiters = new Map<string, RateLimiter<string>>();

  function limiterOf(bucket: ThrottleBucket): RateLimiter<string> {
    const limiter = limiters.get(bucket.kind)
      ?? makeRateLimiter<string>(bucket, RATE_LIMIT_ENTRIES_LIMIT, monotonicOf(clock));
    limiters.set(bucket.kind, limiter);
    return limiter;
  }

  return {
    takeThrottle: async (bucket) => limiterOf(bucket).take(bucket.name),
    refundThrottle: async (bucket) => limiterOf(bucket).refund(bucket.name),
  };
}
