/**
 * Token buckets, one per name (a key, an address). A burst may use a whole window's tokens; they
 * refill at a constant rate. The table is bounded: dropping the least recently used bucket refills
 * it.
 */
import { BoundedMap } from './bounded-map.ts';

/** Of a bucket: its size, and the time in which an empty one is full again. */
export interface RateLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** Result of taking a token. `resetSeconds`: until the bucket is full, rounded up. */
export interface RateDecision {
  readonly isAllowed: boolean;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** Whole seconds until the next request is allowed. */
  readonly retryAfterSeconds: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

export type RateLimiter<Name> = ReturnType<typeof makeRateLimiter<Name>>;

/**
 * @param policy Its `limit` is the default. Calls for a bucket with another one always pass it.
 * @param entriesLimit Buckets that are kept.
 */
export function makeRateLimiter<Name>(
  policy: RateLimit, entriesLimit: number, clock: () => number,
) {
  const { windowMs } = policy;
  const buckets = new BoundedMap<Name, Bucket>(entriesLimit);

  /** The refilled bucket, which becomes the most recently used one. */
  function touch(name: Name, limit: number): Bucket {
    const at = clock();
    const bucket = buckets.get(name) ?? { tokens: limit, at };
    const elapsedMs = Math.max(0, at - bucket.at); // the clock may step backwards
    const refill = (elapsedMs * limit) / windowMs;
    bucket.tokens = Math.min(limit, bucket.tokens + refill);
    bucket.at = at;
    buckets.set(name, bucket);
    return bucket;
  }

  return {
    /** Takes one token, if one is left. */
    take(name: Name, limit = policy.limit): RateDecision {
      const secondsFor = (count: number) => Math.ceil((count / limit) * (windowMs / 1000));
      const bucket = touch(name, limit);
      const isAllowed = bucket.tokens >= 1;
      if (isAllowed) bucket.tokens -= 1;
      const { tokens } = bucket;
      return {
        isAllowed,
        remaining: Math.floor(tokens),
        resetSeconds: secondsFor(limit - tokens),
        retryAfterSeconds: isAllowed ? 0 : Math.max(1, secondsFor(1 - tokens)),
      };
    },
    /** Returns the token of a request that does not count after all. */
    refund(name: Name, limit = policy.limit): void {
      const bucket = touch(name, limit);
      bucket.tokens = Math.min(limit, bucket.tokens + 1);
    },
  };
}
