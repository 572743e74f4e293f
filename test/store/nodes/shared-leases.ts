/** Shared rate limits in memory, with the clock of a test. */
import type { RateBucket, RateLeases } from '../../../src/store/nodes/rate-lease-store.ts';

export interface SharedLeases extends RateLeases {
  /** How often a node asked. */
  exchanges: number;
  nodes: number;
  /** Delays each exchange after it has taken the tokens. */
  delay: () => Promise<void>;
}

export function makeSharedLeases(nodes: number, clock: () => number): SharedLeases {
  const buckets = new Map<string, { tokens: number; at: number }>();

  function refill({ sellerId, keyId, limit, windowMs }: RateBucket): { tokens: number } {
    const name = `${sellerId} ${keyId}`;
    const at = clock();
    const bucket = buckets.get(name) ?? { tokens: limit, at };
    const refilled = bucket.tokens + Math.max(0, at - bucket.at) * limit / windowMs;
    const next = { tokens: Math.min(limit, refilled), at };
    buckets.set(name, next);
    return next;
  }

  const shared: SharedLeases = {
    exchanges: 0,
    nodes,
    delay: async () => {},
    countNodes: () => shared.nodes,
    async exchange(bucket, { requestedTokens, returnedTokens }) {
      shared.exchanges += 1;
      const row = refill(bucket);
      row.tokens = Math.min(bucket.limit, row.tokens + returnedTokens);
      const granted = Math.min(requestedTokens, Math.floor(row.tokens));
      row.tokens -= granted;
      const { tokens } = row;
      await shared.delay();
      return { granted, tokens };
    },
  };
  return shared;
}
