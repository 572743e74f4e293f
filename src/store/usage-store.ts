/** The usage port: request counts per key and hour. */
import type { KeyId, KeyReference, SellerId } from '../domain/id.ts';

interface KeyUsage {
  readonly keyId: KeyId;
  /** Hours since 1970, in UTC. */
  readonly hour: number;
  /** All answered requests, rejected ones included. */
  readonly requests: number;
  /** Requests rejected for any reason. */
  readonly refusals: number;
}

export type CountedUsage = KeyUsage & KeyReference;

/** Up to `limit` entries from the hour `since` on, newest first. */
interface UsageQuery {
  readonly since: number;
  readonly limit: number;
}

export interface UsageStore {
  /** Adds to earlier counts, and removes those older than 8 days. */
  noteUsage(usage: readonly CountedUsage[]): Promise<void>;
  readUsage(sellerId: SellerId, query: UsageQuery): Promise<readonly KeyUsage[]>;
}
