/**
 * Rate limits of the API: a token bucket per key, and a larger one per seller, shared by its keys.
 * A request takes a token from both or from neither.
 */
import { RATE_LIMIT_ENTRIES_LIMIT } from './limits.ts';
import { formatKeyId, type KeyReference, type SellerId } from '../domain/id.ts';
import { type RateDecision, RateLimiter } from '../http/rate-limit.ts';

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

export class RequestRates {
  readonly #keys: RateLimiter<string> | undefined;
  readonly #sellers: RateLimiter<SellerId> | undefined;

  constructor({ perKey, perSeller }: RateLimits, clock: () => number) {
    const make = <Name>(limit: number): RateLimiter<Name> | undefined =>
      (limit > 0 ? new RateLimiter<Name>(limit, RATE_LIMIT_ENTRIES_LIMIT, clock) : undefined);
    this.#keys = make(perKey);
    this.#sellers = make(perSeller);
  }

  /** Undefined if no limit is set. */
  take(key: KeyReference): RequestRate | undefined {
    const seller = this.#sellers?.take(key.sellerId);
    if (seller?.isAllowed === false) return this.#describe(undefined, seller);
    const own = this.#keys?.take(formatKeyId(key));
    if (own?.isAllowed === false) this.#sellers?.refund(key.sellerId);
    return this.#describe(own, seller);
  }

  #describe(
    own: RateDecision | undefined, seller: RateDecision | undefined,
  ): RequestRate | undefined {
    if (own && this.#keys && !(seller && seller.remaining < own.remaining)) {
      return { ...own, fields: this.#keys.formatFields(own, 'requests') };
    }
    if (!seller || !this.#sellers) return undefined;
    return { ...seller, fields: this.#sellers.formatFields(seller, 'seller') };
  }
}
