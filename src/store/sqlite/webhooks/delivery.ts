/**
 * Delivery of webhooks in SQLite: one process at a time delivers for all sellers, the holder of a
 * lock file. The system releases the lock when the process ends, even by kill -9; another one has
 * it within `WEBHOOK_LOCK_INTERVAL_MS`. Without webhooks there is neither a lock nor a poll.
 */
import type { HistoryStore } from '../../history-store.ts';
import type { DeliveryMember, WebhookStore } from '../../webhook-store.ts';
import type { Reader } from '../engine/reader.ts';
import { tryLock } from '../files/atomic-file.ts';
import { WEBHOOK_LOCK_INTERVAL_MS } from '../limits.ts';

interface DeliveryOptions {
  readonly lockFile: string;
  readonly reader: Reader;
  readonly watchAll: HistoryStore['watchAll'];
}

interface Lease {
  readonly signal: AbortSignal;
  end(): void;
}

interface Delivery {
  readonly join: WebhookStore['joinDelivery'];
  /** Call it after the creation of a webhook, which may be the first. */
  readonly noteWebhook: () => void;
  /** Ends all leases. */
  readonly close: () => void;
}

export function openDelivery(options: DeliveryOptions): Delivery {
  const members = new Set<LockMember>();
  return {
    async join(onDue) {
      const member = new LockMember(options, onDue);
      members.add(member);
      return {
        listDueWebhooks: async (query) => member.listDueWebhooks(query),
        findNextRetry: async (after) => member.findNextRetry(after),
        async leave() {
          members.delete(member);
          member.leave();
        },
      };
    },
    noteWebhook() {
      for (const member of members) member.tryCheck();
    },
    close() {
      for (const member of members) member.leave();
    },
  };
}

type Query<Name extends keyof DeliveryMember> = Parameters<DeliveryMember[Name]>[0];

class LockMember {
  readonly #options: DeliveryOptions;
  readonly #onDue: () => void;
  readonly #timer: NodeJS.Timeout;
  #lease: Lease | undefined;

  constructor(options: DeliveryOptions, onDue: () => void) {
    this.#options = options;
    this.#onDue = onDue;
    this.#timer = setInterval(() => this.tryCheck(), WEBHOOK_LOCK_INTERVAL_MS).unref();
    this.tryCheck();
  }

  listDueWebhooks(query: Query<'listDueWebhooks'>) {
    this.#check();
    const lease = this.#lease?.signal;
    if (!lease) return [];
    const due = this.#options.reader.queries.listDueWebhooks(query);
    return due.map((webhook) => ({ webhook, lease }));
  }

  findNextRetry(after: number): number | undefined {
    return this.#lease && this.#options.reader.queries.findNextRetry(after);
  }

  /** Ignores errors: the next look-up of due webhooks gets them. */
  tryCheck(): void {
    try {
      this.#check();
    } catch {
      // Tried again after the interval.
    }
  }

  leave(): void {
    clearInterval(this.#timer);
    this.#lease?.end();
    this.#lease = undefined;
  }

  /** Has the lease if there are webhooks and no other process has it. */
  #check(): void {
    const isNeeded = this.#options.reader.queries.hasWebhooks();
    if (isNeeded === (this.#lease !== undefined)) return;
    this.#lease?.end();
    this.#lease = isNeeded ? this.#acquire() : undefined;
    if (this.#lease) this.#onDue();
  }

  #acquire(): Lease | undefined {
    const lock = tryLock(this.#options.lockFile);
    if (!lock) return undefined;
    const unwatch = this.#options.watchAll(this.#onDue);
    const controller = new AbortController();
    return {
      signal: controller.signal,
      end() {
        unwatch();
        controller.abort();
        lock[Symbol.dispose]();
      },
    };
  }
}
