/**
 * Token buckets, one for each name (a key, an address): a minute's worth of requests may come at
 * once, then as many as a minute gives back. The table is bounded: the bucket used longest ago is
 * forgotten first, which gives its owner a full one. What a bucket has left is told in the fields
 * of draft-ietf-httpapi-ratelimit-headers-11.
 */
import { AppError } from '../domain/error.ts';

/** What a bucket answers. `resetSeconds` is how long until it is full again, rounded up. */
interface RateDecision {
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
  readonly tokens: number;
  readonly at: number;
}

const MINUTE_MS = 60_000;

export class RateLimiter<Name> {
  readonly #perMinute: number;
  readonly #entriesLimit: number;
  readonly #clock: () => number;
  readonly #buckets = new Map<Name, Bucket>();

  constructor(perMinute: number, entriesLimit: number, clock: () => number) {
    this.#perMinute = perMinute;
    this.#entriesLimit = entriesLimit;
    this.#clock = clock;
  }

  /** Takes one token, where there is one. */
  take(name: Name): RateDecision {
    const at = this.#clock();
    const bucket = this.#buckets.get(name);
    const tokens = bucket ? this.#refill(bucket, at) : this.#perMinute;
    const isAllowed = tokens >= 1;
    const left = isAllowed ? tokens - 1 : tokens;
    this.#buckets.delete(name); // and set again: a Map keeps the order of setting
    this.#buckets.set(name, { tokens: left, at });
    this.#forgetOldest();
    return {
      isAllowed,
      remaining: Math.floor(left),
      resetSeconds: this.#secondsFor(this.#perMinute - left),
      retryAfterSeconds: isAllowed ? 0 : Math.max(1, this.#secondsFor(1 - left)),
    };
  }

  /** The fields that tell a client its limit and what is left of it. */
  formatFields({ remaining, resetSeconds }: RateDecision): Record<string, string> {
    return {
      'ratelimit-policy': `"requests";q=${this.#perMinute};w=${MINUTE_MS / 1000}`,
      ratelimit: `"requests";r=${remaining};t=${resetSeconds}`,
    };
  }

  #refill(bucket: Bucket, at: number): number {
    const elapsedMs = Math.max(0, at - bucket.at); // a clock may step backwards
    return Math.min(this.#perMinute, bucket.tokens + (elapsedMs * this.#perMinute) / MINUTE_MS);
  }

  #secondsFor(tokens: number): number {
    return Math.ceil((tokens / this.#perMinute) * (MINUTE_MS / 1000));
  }

  #forgetOldest(): void {
    if (this.#buckets.size <= this.#entriesLimit) return;
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest);
      return;
    }
  }
}
