/**
 * Token buckets, one per name (a key, an address). A burst may use a whole window's tokens; they
 * refill at a constant rate. The table is bounded: dropping the least recently used bucket refills
 * it.
 */

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

export class RateLimiter<Name> {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #entriesLimit: number;
  readonly #clock: () => number;
  readonly #buckets = new Map<Name, Bucket>();

  /** @param entriesLimit Buckets that are kept. */
  constructor({ limit, windowMs }: RateLimit, entriesLimit: number, clock: () => number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#entriesLimit = entriesLimit;
    this.#clock = clock;
  }

  /** Takes one token, if one is left. */
  take(name: Name): RateDecision {
    const bucket = this.#touch(name);
    const isAllowed = bucket.tokens >= 1;
    if (isAllowed) bucket.tokens -= 1;
    const { tokens } = bucket;
    return {
      isAllowed,
      remaining: Math.floor(tokens),
      resetSeconds: this.#secondsFor(this.#limit - tokens),
      retryAfterSeconds: isAllowed ? 0 : Math.max(1, this.#secondsFor(1 - tokens)),
    };
  }

  /** Returns the token of a request that does not count after all. */
  refund(name: Name): void {
    const bucket = this.#touch(name);
    bucket.tokens = Math.min(this.#limit, bucket.tokens + 1);
  }

  #secondsFor(tokens: number): number {
    return Math.ceil((tokens / this.#limit) * (this.#windowMs / 1000));
  }

  /** The refilled bucket; drops the least recently used one beyond the limit. */
  #touch(name: Name): Bucket {
    const at = this.#clock();
    const bucket = this.#buckets.get(name) ?? { tokens: this.#limit, at };
    const elapsedMs = Math.max(0, at - bucket.at); // the clock may step backwards
    const refill = (elapsedMs * this.#limit) / this.#windowMs;
    bucket.tokens = Math.min(this.#limit, bucket.tokens + refill);
    bucket.at = at;
    this.#buckets.delete(name); // and set again: a Map keeps insertion order
    this.#buckets.set(name, bucket);
    if (this.#buckets.size > this.#entriesLimit) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    return bucket;
  }
}
