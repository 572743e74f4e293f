/**
 * Counts each key's requests and rejected requests. Counts stay in memory and are written at an
 * interval, so a request costs one table look-up. If the process is killed, the counts since the
 * last write are lost.
 */
import { KEY_USAGE_ENTRIES_LIMIT, KEY_USAGE_INTERVAL_MS } from './limits.ts';
import type { KeyReference } from '../domain/id.ts';
import { HOUR_MS } from '../domain/time.ts';
import type { CountedUsage, UsageStore } from '../store/usage-store.ts';

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
  /** Per key and hour, since the last write. */
  #counts = new Map<string, Counted>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: UsageCounterOptions) {
    this.#options = options;
  }

  /** Counts a request by its response status. */
  count({ sellerId, keyId }: KeyReference, status: number): void {
    const hour = Math.floor(this.#options.clock() / HOUR_MS);
    this.#add({ sellerId, keyId, hour, requests: 1, refusals: status >= 400 ? 1 : 0 });
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
  #add(usage: CountedUsage): void {
    const { sellerId, keyId, hour, requests, refusals } = usage;
    const name = `${sellerId} ${keyId} ${hour}`;
    const known = this.#counts.get(name);
    if (known) {
      known.requests += requests;
      known.refusals += refusals;
    } else if (this.#counts.size < KEY_USAGE_ENTRIES_LIMIT) {
      this.#counts.set(name, usage);
    }
  }

  /** One write at a time; never rejects. */
  #flush(): Promise<void> {
    this.#writing ??= this.#write().finally(() => { this.#writing = undefined; });
    return this.#writing;
  }

  async #write(): Promise<void> {
    const counts = this.#counts;
    if (counts.size === 0) return;
    this.#counts = new Map();
    try {
      await this.#options.store.noteUsage([...counts.values()]);
    } catch (error) {
      for (const usage of counts.values()) this.#add(usage);
      this.#options.onWriteError(error);
    }
  }
}
