/**
 * The port of request rate limits that several nodes share. A node leases tokens from a bucket
 * ahead of need, so that a request rarely waits for the store. A store that one process serves has
 * no leases: that process counts in memory.
 */
import type { KeyId, SellerId } from '../../domain/id.ts';
import type { RateLimit } from '../../runtime/rate-limiter.ts';

/** A bucket of tokens, of which a request takes one. */
export interface RateBucket extends RateLimit {
  readonly sellerId: SellerId;
  /** Undefined for the bucket of the seller, which all keys share. */
  readonly keyId: KeyId | undefined;
}

interface RateLease {
  /** Tokens that the node may spend: 0 to what it requested. */
  readonly granted: number;
  /** Tokens left in the bucket for all nodes, 0 to the limit, with a fraction. */
  readonly tokens: number;
}

export type ExchangeTokens<Bucket> = (
  bucket: Bucket, tokens: { readonly requestedTokens: number; readonly returnedTokens: number },
) => Promise<RateLease>;

/**
 * An adapter keeps a row per seller and key: the tokens and the time of the last change, by the
 * clock of the database. A missing row is a full bucket, and a bucket that is full again needs no
 * row. Buckets need not survive a failover; the tokens that a dead node leased are lost.
 */
export interface RateLeases {
  /**
   * Nodes that serve the store, including this one: at least 1, as of a few seconds ago. It is
   * called per lease, so it must answer from memory. Each node leases its share.
   */
  countNodes(): number;
  /**
   * One atomic statement on the seller's shard: refills the bucket for the time since its last
   * change, adds `returnedTokens`, up to `limit`; then takes whole tokens, at most
   * `requestedTokens`, and leaves at least 0. Both are whole numbers from 0 to `limit`.
   * @throws AppError `unavailable`; tokens that it took are lost
   */
  readonly exchange: ExchangeTokens<RateBucket>;
}

export interface RateLeaseStore {
  /** Undefined if one process alone serves the store. */
  readonly rateLeases?: RateLeases | undefined;
}
