/**
 * Counts each key's requests and rejected requests. Counts stay in memory and are written at an
 * interval, so a request costs one table look-up. If the process is killed, the counts since the
 * last write are lost.
 */
import { KEY_USAGE_ENTRIES_LIMIT, KEY_USAGE_INTERVAL_MS } from './limits.ts';
import type { KeyId, KeyReference } from '../domain/id.ts';
import { HOUR_MS } from '../domain/time.ts';
import type { CountedUsage, UsageStore } from '../store/access-store.ts';

interface UsageCounterOptions {
  readonly store: UsageStore;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Called when a write fails; its counts are added to the next write. */
  readonly onWriteError: (error: unknown) => void;
}

type Counted = { -readonly [Member in keyof CountedUsage]: CountedUsage[Member] };

export function makeUsageCounter({ store, clock, onWriteError }: UsageCounterOptions) {
  /** Per key and hour, since the last write, by key id: two sellers may have the same one. */
  let countsByKey = new Map<KeyId, Counted[]>();
  let size = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;

  /** Does not count further keys while the table is full. */
  function add(
    { sellerId, keyId }: KeyReference, hour: number, requests: number, refusals: number,
  ): void {
    const counts = countsByKey.get(keyId) ?? [];
    for (const counted of counts) {
      if (counted.hour !== hour || counted.sellerId !== sellerId) continue;
      counted.requests += requests;
      counted.refusals += refusals;
      return;
    }
    if (size >= KEY_USAGE_ENTRIES_LIMIT) return;
    size += 1;
    counts.push({ sellerId, keyId, hour, requests, refusals });
    countsByKey.set(keyId, counts);
  }

  async function write(): Promise<void> {
    if (size === 0) return;
    const written = [...countsByKey.values()].flat();
    countsByKey = new Map();
    size = 0;
    try {
      await store.noteUsage(written);
    } catch (error) {
      for (const usage of written) add(usage, usage.hour, usage.requests, usage.refusals);
      onWriteError(error);
    }
  }

  /** One write at a time; never rejects. */
  const flush = (): Promise<void> => writing ??= write().finally(() => { writing = undefined; });

  return {
    /** Counts a request by its response status. */
    count(key: KeyReference, status: number): void {
      add(key, Math.floor(clock() / HOUR_MS), 1, status >= 400 ? 1 : 0);
      timer ??= setTimeout(() => {
        timer = undefined;
        void flush();
      }, KEY_USAGE_INTERVAL_MS).unref();
    },
    /** Writes the counts. Call it after the last `count`. */
    async close(): Promise<void> {
      clearTimeout(timer);
      await writing;
      await flush();
    },
  };
}
