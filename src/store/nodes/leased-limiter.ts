/**
 * Rate limits of requests that several nodes share. For each bucket that its clients use, a node
 * holds leased tokens and spends them without asking the store. At half of a lease it leases more
 * in the background; tokens that it did not use for a while it returns. All nodes together hold
 * 7.5 % of a limit, or one token each: by so much they may exceed the limit in a burst, or one node
 * may fall short of it.
 */
import { formatKeyId, formatSellerId, type KeyReference } from '../../domain/id.ts';
import type { RateDecision, RateLimit } from '../../runtime/rate-limiter.ts';
import {
  RATE_LEASE_PERCENT, RATE_LEASE_RETRY_LIMIT_MS, RATE_LIMIT_ENTRIES_LIMIT,
} from '../limits.ts';
import type { RateBucket, RateLeases } from './rate-lease-store.ts';

/** The tokens that this node holds of a bucket, and what it knows of the others. */
interface Lease {
  readonly bucket: RateBucket;
  held: number;
  /** Whether tokens were leased since the last `returnUnused`. */
  isFresh: boolean;
  /** Tokens left for all nodes, at the time `at`. */
  tokens: number;
  at: number;
  /** How long after `at` the bucket counts as empty. */
  emptyMs: number;
  /** The exchange in flight. */
  exchange: Promise<void> | undefined;
}

export class LeasedLimiter<Key extends KeyReference = KeyReference> {
  readonly #limitOf: (key: Key) => RateLimit;
  readonly #isPerKey: boolean;
  readonly #leases: RateLeases;
  readonly #clock: () => number;
  /** In the order of their last use. */
  readonly #held = new Map<string, Lease>();

  /**
   * @param limitOf The limit of a key's bucket, which must not change.
   * @param isPerKey Whether each key has a bucket, or each seller.
   */
  constructor(
    limitOf: (key: Key) => RateLimit, isPerKey: boolean, leases: RateLeases, clock: () => number,
  ) {
    this.#limitOf = limitOf;
    this.#isPerKey = isPerKey;
    this.#leases = leases;
    this.#clock = clock;
  }

  /** Takes a token, or rejects. Undefined if the store must be asked: `renew`, then try again. */
  tryTake(key: Key): RateDecision | undefined {
    const lease = this.#touch(key);
    if (lease.held === 0) {
      return lease.exchange || !this.#isEmpty(lease) ? undefined : this.#describe(lease, false);
    }
    lease.held -= 1;
    const share = this.#shareOf(lease);
    const isLow = share > 1 && lease.held <= share / 2;
    // A request that finds no tokens asks again, and gets the error.
    if (isLow && !this.#isEmpty(lease)) this.#renew(lease).catch(() => {});
    return this.#describe(lease, true);
  }

  /** Returns a token that `tryTake` took in the same event-loop turn. */
  refund(key: Key): void {
    this.#touch(key).held += 1;
  }

  /** Leases tokens, unless `tryTake` can decide without. @throws AppError of the store */
  async renew(key: Key): Promise<void> {
    const lease = this.#touch(key);
    if (lease.exchange || (lease.held === 0 && !this.#isEmpty(lease))) await this.#renew(lease);
  }

  /** Returns the tokens of the buckets for which none were leased since the last call. */
  async returnUnused(): Promise<void> {
    const returning: Promise<unknown>[] = [];
    for (const [name, lease] of this.#held) {
      if (!lease.isFresh && !lease.exchange) returning.push(this.#drop(name, lease));
      lease.isFresh = false;
    }
    await Promise.all(returning);
  }

  /** Returns all tokens. */
  async close(): Promise<void> {
    await Promise.all([...this.#held].map(([name, lease]) => this.#drop(name, lease)));
  }

  /** Tokens of one lease: the node's share of what all nodes may hold. */
  #shareOf({ bucket }: Lease): number {
    const total = bucket.limit * RATE_LEASE_PERCENT / 100;
    return Math.max(1, Math.floor(total / this.#leases.countNodes()));
  }

  /** The lease of a key's bucket; returns the least recently used one beyond the limit. */
  #touch(key: Key): Lease {
    const { sellerId, keyId } = key;
    const name = this.#isPerKey ? formatKeyId({ sellerId, keyId }) : formatSellerId(sellerId);
    const lease = this.#held.get(name) ?? {
      bucket: { ...this.#limitOf(key), sellerId, keyId: this.#isPerKey ? keyId : undefined },
      held: 0, isFresh: true, tokens: 0, at: this.#clock(), emptyMs: 0, exchange: undefined,
    };
    this.#held.delete(name); // and set again: a Map keeps insertion order
    this.#held.set(name, lease);
    if (this.#held.size > RATE_LIMIT_ENTRIES_LIMIT) {
      const [oldest] = this.#held;
      if (oldest) this.#drop(...oldest).catch(() => {}); // its tokens are lost
    }
    return lease;
  }

  /** One exchange at a time, so that what a node holds has a bound. */
  #renew(lease: Lease): Promise<void> {
    return lease.exchange ??= this.#exchange(lease).finally(() => { lease.exchange = undefined; });
  }

  async #exchange(lease: Lease): Promise<void> {
    const requestedTokens = this.#shareOf(lease);
    const { granted, tokens } = await this.#leases.exchange(lease.bucket, {
      requestedTokens, returnedTokens: 0,
    });
    lease.held += granted;
    lease.isFresh = true;
    lease.tokens = tokens;
    lease.at = this.#clock();
    // Waits for one token, and a little longer for several, so that an eager client costs little.
    lease.emptyMs = granted === requestedTokens ? 0 : Math.max(
      msFor(1 - tokens, lease.bucket),
      Math.min(msFor(requestedTokens, lease.bucket), RATE_LEASE_RETRY_LIMIT_MS),
    );
  }

  /** Returns a lease, with the tokens of an exchange in flight. */
  async #drop(name: string, lease: Lease): Promise<void> {
    this.#held.delete(name);
    await lease.exchange?.catch(() => {});
    const { bucket, held } = lease;
    if (held > 0) await this.#leases.exchange(bucket, { requestedTokens: 0, returnedTokens: held });
  }

  /** Whether the store would have no token yet. */
  #isEmpty({ at, emptyMs }: Lease): boolean {
    const elapsedMs = this.#clock() - at;
    return elapsedMs >= 0 && elapsedMs < emptyMs; // the clock may step backwards
  }

  /** As if the tokens that other nodes hold were spent. */
  #describe({ bucket, held, tokens, at }: Lease, isAllowed: boolean): RateDecision {
    const { limit, windowMs } = bucket;
    const refill = Math.max(0, this.#clock() - at) * limit / windowMs;
    const balance = Math.min(limit, held + tokens + refill);
    const secondsFor = (count: number): number => Math.ceil(msFor(count, bucket) / 1000);
    return {
      isAllowed,
      remaining: isAllowed ? Math.floor(balance) : 0,
      resetSeconds: secondsFor(limit - balance),
      retryAfterSeconds: isAllowed ? 0 : Math.max(1, secondsFor(1 - balance)),
    };
  }
}

function msFor(tokens: number, { limit, windowMs }: RateLimit): number {
  return tokens * windowMs / limit;
}
