/** The usage port: requests of each key, by hour. */
import type { KeyId, KeyReference, SellerId } from '../domain/id.ts';

/** The requests of one key in one hour. */
export interface KeyUsage {
  readonly keyId: KeyId;
  /** Hours since 1970, in UTC. */
  readonly hour: number;
  /** Answered ones, including rejected ones. */
  readonly requests: number;
  /** Rejected ones, for any reason. */
  readonly refusals: number;
}

export type CountedUsage = KeyUsage & KeyReference;

/** Up to `limit` entries from the hour `since` on, the newest hours first. */
export interface UsageQuery {
  readonly since: number;
  readonly limit: number;
}

export interface UsageStore {
  /** Adds to earlier counts, and removes those older than 8 days. */
  noteUsage(usage: readonly CountedUsage[]): Promise<void>;
  readUsage(sellerId: SellerId, query: UsageQuery): Promise<readonly KeyUsage[]>;
}
