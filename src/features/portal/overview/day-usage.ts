/** How often the keys of a shop were used in the last 24 hours, the one that has begun included. */
import type { KeyId, SellerId } from '../../../domain/id.ts';
import { LIVE_KEYS_PER_SELLER_LIMIT } from '../../../domain/limits.ts';
import { HOUR_MS } from '../../../domain/time.ts';
import type { Portal } from '../route.ts';

export interface Usage {
  readonly requests: number;
  /** Those of them that were refused. */
  readonly refusals: number;
}

interface DayUsage {
  /** The first of the hours, counted since 1970. */
  readonly since: number;
  /** Hours, and keys, without a request are left out. */
  readonly byHour: ReadonlyMap<number, Usage>;
  readonly byKey: ReadonlyMap<KeyId, Usage>;
}

export const DAY_HOURS = 24;

export async function readDayUsage(
  { store, clock }: Pick<Portal, 'store' | 'clock'>, sellerId: SellerId,
): Promise<DayUsage> {
  const since = Math.floor(clock() / HOUR_MS) - DAY_HOURS + 1;
  const limit = DAY_HOURS * LIVE_KEYS_PER_SELLER_LIMIT;
  const byHour = new Map<number, Usage>();
  const byKey = new Map<KeyId, Usage>();
  for (const usage of await store.readUsage(sellerId, { since, limit })) {
    byHour.set(usage.hour, sum(byHour.get(usage.hour), usage));
    byKey.set(usage.keyId, sum(byKey.get(usage.keyId), usage));
  }
  return { since, byHour, byKey };
}

function sum(before: Usage | undefined, { requests, refusals }: Usage): Usage {
  return {
    requests: requests + (before?.requests ?? 0), refusals: refusals + (before?.refusals ?? 0),
  };
}
