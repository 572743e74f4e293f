/**
 * Rate limits of the API: a token bucket per key, and a larger one per seller, shared by its keys.
 * A request takes a token from both or from neither. A key may have a lower limit than the server's
 * limit per key, never a higher one. A process that serves its store alone counts in memory;
 * several nodes lease tokens from the store.
 */
import type { Caller } from '../domain/access/caller.ts';
import { formatKeyId, type SellerId } from '../domain/id.ts';
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

/** A key, with its own limit if it has one. */
type Key = Pick<Caller, 'sellerId' | 'keyId' | 'rateLimitPerMinute'>;

interface RequestRate extends RateDecision {
  /**
   * The header fields of the bucket that is closest to exhaustion; draft 11 lets a server omit the
   * other one.
   */
  readonly fields: Readonly<Record<string, string>>;
}

export interface RequestRates {
  /** Undefined if no limit is set. A promise only if the store has to be asked. */
  take(key: Key): RequestRate | undefined | Promise<RequestRate | undefined>;
  /** Returns what the node has leased. */
  close(): Promise<void>;
}

type LimitOf = (key: Key) => RateLimit;
type Limiter = Pick<LeasedLimiter<Key>, 'tryTake' | 'refund' | 'renew' | 'returnUnused' | 'close'>;

export function makeRequestRates(
  { perKey, perSeller }: RateLimits, { rateLeases }: RateLeaseStore, clock: Clock,
): RequestRates {
  const monotonic = monotonicOf(clock);
  const serverLimit: RateLimit = { limit: perKey, windowMs: MINUTE_MS };
  const sellerLimit: RateLimit = { limit: perSeller, windowMs: MINUTE_MS };
  const keyLimitOf: LimitOf = ({ rateLimitPerMinute: own }) =>
    (own === undefined || (perKey > 0 && own >= perKey) ? serverLimit
      : { limit: own, windowMs: MINUTE_MS });
  const make = (limitOf: LimitOf, isPerKey: boolean): Limiter =>
    (rateLeases ? new LeasedLimiter(limitOf, isPerKey, rateLeases, monotonic)
      : makeOwnLimiter(limitOf, isPerKey, monotonic));
  const allKeys = make(keyLimitOf, true);
  const keysFor = (key: Key) => (keyLimitOf(key).limit > 0 ? allKeys : undefined);
  const sellers = perSeller > 0 ? make(() => sellerLimit, false) : undefined;
  rateLeases?.countNodes(); // so that this process is a node before its first request
  const returnTimer = rateLeases && setInterval(() => {
    for (const limiter of [sellers, allKeys]) {
      limiter?.returnUnused().catch(() => {}); // tokens refill
    }
  }, RATE_LEASE_RETURN_INTERVAL_MS).unref();

  /** Undefined if there is no decision of either. */
  function describe(key: Key, own?: RateDecision, seller?: RateDecision): RequestRate | undefined {
    if (own && !(seller && seller.remaining < own.remaining)) {
      return { ...own, fields: formatRateLimitFields(keyLimitOf(key), own, 'requests') };
    }
    return seller && { ...seller, fields: formatRateLimitFields(sellerLimit, seller, 'seller') };
  }

  /** Undefined if one of the two has no lease, or there is no limit. */
  function tryTake(key: Key): RequestRate | undefined {
    const seller = sellers?.tryTake(key);
    if (sellers && !seller) return undefined;
    if (seller?.isAllowed === false) return describe(key, undefined, seller);
    const keys = keysFor(key);
    const own = keys?.tryTake(key);
    if (keys && own?.isAllowed !== true) sellers?.refund(key);
    return keys && !own ? undefined : describe(key, own, seller);
  }

  async function takeLater(key: Key): Promise<RequestRate> {
    for (;;) {
      await Promise.all([sellers, keysFor(key)].map((limiter) => limiter?.renew(key)));
      const rate = tryTake(key);
      if (rate) return rate;
    }
  }

  return {
    take: (key) => tryTake(key) ?? (sellers || keysFor(key) ? takeLater(key) : undefined),
    async close() {
      clearInterval(returnTimer);
      // A store that fails keeps them, and they refill.
      await Promise.allSettled([sellers, allKeys].map((limiter) => limiter?.close()));
    },
  };
}

/** Of a process that serves its store alone: it decides at once, and has no leases. */
function makeOwnLimiter(limitOf: LimitOf, isPerKey: boolean, clock: () => number): Limiter {
  const limiter = makeRateLimiter<string | SellerId>(
    { limit: 0, windowMs: MINUTE_MS }, RATE_LIMIT_ENTRIES_LIMIT, clock,
  ); // this limit is never used: each call passes its own
  const nameOf = (key: Key) => (isPerKey ? formatKeyId(key) : key.sellerId);
  const doNothing = async (): Promise<void> => {};
  return {
    tryTake: (key) => limiter.take(nameOf(key), limitOf(key).limit),
    refund: (key) => limiter.refund(nameOf(key), limitOf(key).limit),
    renew: doNothing, returnUnused: doNothing, close: doNothing,
  };
}
