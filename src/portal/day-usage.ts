/** How often each key of a shop was used in the last 24 hours, the one that has begun among them. */
import type { KeyId, SellerId } from '../domain/id.ts';
import { LIVE_KEYS_PER_SELLER_LIMIT } from '../domain/limits.ts';
import { HOUR_MS } from '../domain/time.ts';
import type { Portal } from './route.ts';

export interface DayUsage {
  readonly requests: number;
  /** Those of them that were refused. */
  readonly refusals: number;
}

const HOURS = 24;

/** Keys that were not used are left out. */
export async function readDayUsage(
  { store, clock }: Pick<Portal, 'store' | 'clock'>, sellerId: SellerId,
): Promise<ReadonlyMap<KeyId, DayUsage>> {
  const since = Math.floor(clock() / HOUR_MS) - HOURS + 1;
  const limit = HOURS * LIVE_KEYS_PER_SELLER_LIMIT;
  const sums = new Map<KeyId, DayUsage>();
  for (const { keyId, requests, refusals } of await store.readUsage(sellerId, { since, limit })) {
    const sum = sums.get(keyId);
    sums.set(keyId, {
      requests: requests + (sum?.requests ?? 0), refusals: refusals + (sum?.refusals ?? 0),
    });
  }
  return sums;
}
