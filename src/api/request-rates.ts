/**
 * Rate limits of the API: a token bucket per key, and a larger one per seller, shared by its keys.
 * A request takes a token from both or from neither. A process that serves its store alone counts
 * in memory; several nodes lease tokens from the store.
 */
import { formatKeyId, type KeyReference, type SellerId } from '../domain/id.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { formatRateLimitFields } from '../http/rate-limit.ts';
import { type RateDecision, type RateLimit, RateLimiter } from '../runtime/rate-limiter.ts';
import { RATE_LEASE_RETURN_INTERVAL_MS, RATE_LIMIT_ENTRIES_LIMIT } from '../store/limits.ts';
import { LeasedLimiter } from '../store/nodes/leased-limiter.ts';
import type { RateLeases, RateLeaseStore } from '../store/nodes/rate-lease-store.ts';

interface RateLimits {
  /** Requests a minute; 0 for no limit. */
  readonly perKey: number;
  readonly perSeller: number;
}

interface RequestRate extends RateDecision {
  /**
   * The header fields of the bucket that is closest to exhaustion; draft 11 lets a server omit the
   * other one.
   */
  readonly fields: Readonly<Record<string, string>>;
}

export interface RequestRates {
  /** Undefined if no limit is set. A promise only if the store has to be asked. */
  take(key: KeyReference): RequestRate | undefined | Promise<RequestRate | undefined>;
  /** Returns what the node has leased. */
  close(): Promise<void>;
}

export function makeRequestRates(
  { perKey, perSeller }: RateLimits, { rateLeases }: RateLeaseStore, clock: () => number,
): RequestRates {
  const policies = {
    requests: { limit: perKey, windowMs: MINUTE_MS },
    seller: { limit: perSeller, windowMs: MINUTE_MS },
  };
  return rateLeases ? new LeasedRates(policies, rateLeases, clock) : new OwnRates(policies, clock);
}

interface Policies {
  readonly requests: RateLimit;
  readonly seller: RateLimit;
}

/** The rates of a process that serves its store alone. */
class OwnRates implements RequestRates {
  readonly #policies: Policies;
  readonly #keys: RateLimiter<string> | undefined;
  readonly #sellers: RateLimiter<SellerId> | undefined;

  constructor(policies: Policies, clock: () => number) {
    this.#policies = policies;
    const make = <Name>(policy: RateLimit): RateLimiter<Name> | undefined => (policy.limit > 0
      ? new RateLimiter<Name>(policy, RATE_LIMIT_ENTRIES_LIMIT, clock) : undefined);
    this.#keys = make(policies.requests);
    this.#sellers = make(policies.seller);
  }

  take(key: KeyReference): RequestRate | undefined {
    const seller = this.#sellers?.take(key.sellerId);
    if (seller?.isAllowed === false) return describe(this.#policies, undefined, seller);
    const own = this.#keys?.take(formatKeyId(key));
    if (own?.isAllowed === false) this.#sellers?.refund(key.sellerId);
    return describe(this.#policies, own, seller);
  }

  async close(): Promise<void> {}
}

/** The rates of one of several nodes. */
class LeasedRates implements RequestRates {
  readonly #policies: Policies;
  readonly #keys: LeasedLimiter | undefined;
  readonly #sellers: LeasedLimiter | undefined;
  readonly #limiters: readonly LeasedLimiter[];
  readonly #returnTimer: NodeJS.Timeout;

  constructor(policies: Policies, leases: RateLeases, clock: () => number) {
    this.#policies = policies;
    const make = (policy: RateLimit, isPerKey: boolean): LeasedLimiter | undefined =>
      (policy.limit > 0 ? new LeasedLimiter(policy, isPerKey, leases, clock) : undefined);
    this.#keys = make(policies.requests, true);
    this.#sellers = make(policies.seller, false);
    this.#limiters = [this.#sellers, this.#keys].filter((limiter) => limiter !== undefined);
    this.#returnTimer = setInterval(() => {
      for (const limiter of this.#limiters) limiter.returnUnused().catch(() => {}); // tokens refill
    }, RATE_LEASE_RETURN_INTERVAL_MS).unref();
  }

  take(key: KeyReference): RequestRate | undefined | Promise<RequestRate | undefined> {
    if (this.#limiters.length === 0) return undefined;
    return this.#tryTake(key) ?? this.#takeLater(key);
  }

  async close(): Promise<void> {
    clearInterval(this.#returnTimer);
    // A store that fails keeps them, and they refill.
    await Promise.allSettled(this.#limiters.map((limiter) => limiter.close()));
  }

  /** Undefined if one of the two has no lease. */
  #tryTake(key: KeyReference): RequestRate | undefined {
    const seller = this.#sellers?.tryTake(key);
    if (this.#sellers && !seller) return undefined;
    if (seller?.isAllowed === false) return describe(this.#policies, undefined, seller);
    const own = this.#keys?.tryTake(key);
    if (this.#keys && own?.isAllowed !== true) this.#sellers?.refund(key);
    return this.#keys && !own ? undefined : describe(this.#policies, own, seller);
  }

  async #takeLater(key: KeyReference): Promise<RequestRate> {
    for (;;) {
      await Promise.all(this.#limiters.map((limiter) => limiter.renew(key)));
      const rate = this.#tryTake(key);
      if (rate) return rate;
    }
  }
}

/** Undefined if there is no decision of either. */
function describe(
  policies: Policies, own: RateDecision | undefined, seller: RateDecision | undefined,
): RequestRate | undefined {
  if (own && !(seller && seller.remaining < own.remaining)) {
    return { ...own, fields: formatRateLimitFields(policies.requests, own, 'requests') };
  }
  return seller
    && { ...seller, fields: formatRateLimitFields(policies.seller, seller, 'seller') };
}
