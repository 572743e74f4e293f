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

export class UsageCounter {
  readonly #options: UsageCounterOptions;
  /** Per key and hour, since the last write, by key id: two sellers may have the same one. */
  #counts = new Map<KeyId, Counted[]>();
  #size = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: UsageCounterOptions) {
    this.#options = options;
  }

  /** Counts a request by its response status. */
  count(key: KeyReference, status: number): void {
    this.#add(key, Math.floor(this.#options.clock() / HOUR_MS), 1, status >= 400 ? 1 : 0);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#flush();
    }, KEY_USAGE_INTERVAL_MS).unref();
  }

  /** Writes the counts. Call it after the last `count`. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#flush();
  }

  /** Does not count further keys while the table is full. */
  #add({ sellerId, keyId }: KeyReference, hour: number, requests: number, refusals: number): void {
    const counts = this.#counts.get(keyId) ?? [];
    for (const counted of counts) {
      if (counted.hour !== hour || counted.sellerId !== sellerId) continue;
      counted.requests += requests;
      counted.refusals += refusals;
      return;
    }
    if (this.#size >= KEY_USAGE_ENTRIES_LIMIT) return;
    this.#size += 1;
    counts.push({ sellerId, keyId, hour, requests, refusals });
    this.#counts.set(keyId, counts);
  }

  /** One write at a time; never rejects. */
  #flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => { this.#writing = undefined; });
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#size === 0) return;
    const written = [...this.#counts.values()].flat();
    this.#counts = new Map();
    this.#size = 0;
    try {
      await this.#options.store.noteUsage(written);
    } catch (error) {
      for (const usage of written) this.#add(usage, usage.hour, usage.requests, usage.refusals);
      this.#options.onWriteError(error);
    }
  }
}
