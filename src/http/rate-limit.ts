/**
 * Token buckets, one for each name (a key, an address): the requests of a window (a minute where
 * nothing else is said) may come at once, then as many as a window gives back. The table is
 * bounded: the bucket used longest ago is forgotten first, which gives its owner a full one. What a
 * bucket has left is told in the fields of draft-ietf-httpapi-ratelimit-headers-11.
 */
import { AppError } from '../domain/error.ts';
import { MINUTE_MS } from '../domain/time.ts';

/** What a bucket answers. `resetSeconds` is how long until it is full again, rounded up. */
export interface RateDecision {
  readonly isAllowed: boolean;
  readonly remaining: number;
  readonly resetSeconds: number;
  /** Whole seconds until the next request would be allowed. */
  readonly retryAfterSeconds: number;
}

/** The refusal of a request that came too soon. */
export function rateLimited(retryAfterSeconds: number): AppError {
  const detail = `Too many requests. Send the next one in ${retryAfterSeconds} s.`;
  return new AppError('rate_limited', detail, { retryAfterSeconds });
}

interface Bucket {
  tokens: number;
  at: number;
}

export class RateLimiter<Name> {
  readonly #limit: number;
  readonly #entriesLimit: number;
  readonly #clock: () => number;
  readonly #windowMs: number;
  readonly #buckets = new Map<Name, Bucket>();

  /** `limit` is what a bucket holds, and what it is given back in a window. */
  constructor(limit: number, entriesLimit: number, clock: () => number, windowMs = MINUTE_MS) {
    this.#limit = limit;
    this.#entriesLimit = entriesLimit;
    this.#clock = clock;
    this.#windowMs = windowMs;
  }

  /** Takes one token, where there is one. */
  take(name: Name): RateDecision {
    const bucket = this.#touch(name);
    const isAllowed = bucket.tokens >= 1;
    if (isAllowed) bucket.tokens -= 1;
    const left = bucket.tokens;
    return {
      isAllowed,
      remaining: Math.floor(left),
      resetSeconds: this.#secondsFor(this.#limit - left),
      retryAfterSeconds: isAllowed ? 0 : Math.max(1, this.#secondsFor(1 - left)),
    };
  }

  /** Puts back a token that was taken for what does not count after all. */
  refund(name: Name): void {
    const bucket = this.#touch(name);
    bucket.tokens = Math.min(this.#limit, bucket.tokens + 1);
  }

  /** The `RateLimit` header fields: the limit, under the name `policy`, and what is left of it. */
  formatFields({ remaining, resetSeconds }: RateDecision, policy: string): Record<string, string> {
    return {
      'ratelimit-policy': `"${policy}";q=${this.#limit};w=${this.#windowMs / 1000}`,
      ratelimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
    };
  }

  #secondsFor(tokens: number): number {
    return Math.ceil((tokens / this.#limit) * (this.#windowMs / 1000));
  }

  /** The bucket, refilled; removes the least recently used one if there are too many. */
  #touch(name: Name): Bucket {
    const at = this.#clock();
    const bucket = this.#buckets.get(name) ?? { tokens: this.#limit, at };
    const elapsedMs = Math.max(0, at - bucket.at); // a clock may step backwards
    const refill = (elapsedMs * this.#limit) / this.#windowMs;
    bucket.tokens = Math.min(this.#limit, bucket.tokens + refill);
    bucket.at = at;
    this.#buckets.delete(name); // and set again: a Map keeps the order of setting
    this.#buckets.set(name, bucket);
    if (this.#buckets.size > this.#entriesLimit) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    return bucket;
  }
}
