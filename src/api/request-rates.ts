/**
 * Rate limits of the API: a token bucket per key, and a larger one per seller, shared by its keys.
 * A request takes a token from both or from neither. A process that serves its store alone counts
 * in memory; several nodes lease tokens from the store.
 */
import { formatKeyId, type KeyReference, type SellerId } from '../domain/id.ts';
import { MINUTE_MS } from '../domain/time.ts';
import { formatRateLimitFields } from '../http/rate-limit.ts';
import { type Clock, monotonicOf } from '../runtime/clock.ts';
import { makeRateLimiter, type RateDecision, type RateLimit } from '../runtime/rate-limiter.ts';
import { RATE_LEASE_RETURN_INTERVAL_MS, RATE_LIMIT_ENTRIES_LIMIT } from '../store/limits.ts';
import { LeasedLimiter } from '../store/nodes/leased-limiter.ts';
import type { RateLeaseStore } from '../store/nodes/rate-lease-store.ts';

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

type Limiter = Pick<LeasedLimiter, 'tryTake' | 'refund' | 'renew' | 'returnUnused' | 'close'>;

export function makeRequestRates(
  { perKey, perSeller }: RateLimits, { rateLeases }: RateLeaseStore, clock: Clock,
): RequestRates {
  const monotonic = monotonicOf(clock);
  const keyLimit: RateLimit = { limit: perKey, windowMs: MINUTE_MS };
  const sellerLimit: RateLimit = { limit: perSeller, windowMs: MINUTE_MS };
  const make = (policy: RateLimit, isPerKey: boolean): Limiter | undefined => {
    if (policy.limit === 0) return undefined;
    return rateLeases ? new LeasedLimiter(policy, isPerKey, rateLeases, monotonic)
      : makeOwnLimiter(policy, isPerKey, monotonic);
  };
  const [keys, sellers] = [make(keyLimit, true), make(sellerLimit, false)];
  const limiters = [sellers, keys].filter((limiter) => limiter !== undefined);
  rateLeases?.countNodes(); // so that this process is a node before its first request
  const returnTimer = rateLeases && setInterval(() => {
    for (const limiter of limiters) limiter.returnUnused().catch(() => {}); // tokens refill
  }, RATE_LEASE_RETURN_INTERVAL_MS).unref();

  /** Undefined if there is no decision of either. */
  function describe(own?: RateDecision, seller?: RateDecision): RequestRate | undefined {
    if (own && !(seller && seller.remaining < own.remaining)) {
      return { ...own, fields: formatRateLimitFields(keyLimit, own, 'requests') };
    }
    return seller && { ...seller, fields: formatRateLimitFields(sellerLimit, seller, 'seller') };
  }

  /** Undefined if one of the two has no lease, or there is no limit. */
  function tryTake(key: KeyReference): RequestRate | undefined {
    const seller = sellers?.tryTake(key);
    if (sellers && !seller) return undefined;
    if (seller?.isAllowed === false) return describe(undefined, seller);
    const own = keys?.tryTake(key);
    if (keys && own?.isAllowed !== true) sellers?.refund(key);
    return keys && !own ? undefined : describe(own, seller);
  }

  async function takeLater(key: KeyReference): Promise<RequestRate> {
    for (;;) {
      await Promise.all(limiters.map((limiter) => limiter.renew(key)));
      const rate = tryTake(key);
      if (rate) return rate;
    }
  }

  return {
    take: (key) => tryTake(key) ?? (limiters.length > 0 ? takeLater(key) : undefined),
    async close() {
      clearInterval(returnTimer);
      // A store that fails keeps them, and they refill.
      await Promise.allSettled(limiters.map((limiter) => limiter.close()));
    },
  };
}

/** Of a process that serves its store alone: it decides at once, and has no leases. */
function makeOwnLimiter(policy: RateLimit, isPerKey: boolean, clock: () => number): Limiter {
  const limiter = makeRateLimiter<string | SellerId>(policy, RATE_LIMIT_ENTRIES_LIMIT, clock);
  const nameOf = (key: KeyReference) => (isPerKey ? formatKeyId(key) : key.sellerId);
  const doNothing = async (): Promise<void> => {};
  return {
    tryTake: (key) => limiter.take(nameOf(key)),
    refund: (key) => limiter.refund(nameOf(key)),
    renew: doNothing, returnUnused: doNothing, close: doNothing,
  };
}
