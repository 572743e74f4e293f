/** The part of the store port that keeps how often each key was used, hour by hour. */
import type { KeyId, KeyReference, SellerId } from '../domain/id.ts';

/** The requests of one key in one hour. */
export interface KeyUsage {
  readonly keyId: KeyId;
  /** Hours since 1970, in UTC. */
  readonly hour: number;
  /** Those that were answered, refusals among them. */
  readonly requests: number;
  /** Those of them that were refused, for whatever reason. */
  readonly refusals: number;
}

export type CountedUsage = KeyUsage & KeyReference;

/** Up to `limit` entries from the hour `since` on, the newest hours first. */
export interface UsageQuery {
  readonly since: number;
  readonly limit: number;
}

export interface UsageStore {
  /** Adds to what was counted before, and forgets what is older than 8 days. */
  noteUsage(usage: readonly CountedUsage[]): Promise<void>;
  readUsage(sellerId: SellerId, query: UsageQuery): Promise<readonly KeyUsage[]>;
}
