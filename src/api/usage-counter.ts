/**
 * Counts the requests of each key, and how many of them were refused. Counts are kept in memory and
 * written now and then, so a request costs no more than a look into a table; what was counted since
 * is lost where the process is killed.
 */
import { KEY_USAGE_ENTRIES_LIMIT, KEY_USAGE_INTERVAL_MS } from './limits.ts';
import type { KeyReference } from '../domain/id.ts';
import { HOUR_MS } from '../domain/time.ts';
import type { CountedUsage, UsageStore } from '../store/usage-store.ts';

interface UsageCounterOptions {
  readonly store: UsageStore;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Told of counts that could not be written: they go with the next ones. */
  readonly onUnwritten: (error: unknown) => void;
}

type Counted = { -readonly [Member in keyof CountedUsage]: CountedUsage[Member] };

export class UsageCounter {
  readonly #options: UsageCounterOptions;
  /** Of each key in each hour, since the last write. */
  #counts = new Map<string, Counted>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: UsageCounterOptions) {
    this.#options = options;
  }

  /** Counts a request that is answered with this status. */
  note({ sellerId, keyId }: KeyReference, status: number): void {
    const hour = Math.floor(this.#options.clock() / HOUR_MS);
    this.#add({ sellerId, keyId, hour, requests: 1, refusals: status >= 400 ? 1 : 0 });
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#flush();
    }, KEY_USAGE_INTERVAL_MS).unref();
  }

  /** Writes what was counted: call it when nothing is counted any more. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#flush();
  }

  /** Where there are as many keys as are counted, more are not. */
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
      this.#options.onUnwritten(error);
    }
  }
}
