/**
 * Delivery of webhooks in SQLite: one process at a time delivers for all sellers, the holder of a
 * lock file. The system releases the lock when the process ends, even by kill -9; another one has
 * it within `WEBHOOK_LOCK_INTERVAL_MS`. Without webhooks there is neither a lock nor a poll.
 */
import type { HistoryStore } from '../../history-store.ts';
import type { DeliveryMember, DueQuery } from '../../webhook-store.ts';
import type { Reader } from '../engine/reader.ts';
import { tryLock } from '../files/atomic-file.ts';
import { type OpenFile, openBeside } from '../files/open-files.ts';
import { WEBHOOK_LOCK_INTERVAL_MS } from '../limits.ts';

interface DeliveryOptions {
  readonly lockFile: string;
  /** The files of the catalogue, as the writer has opened them. */
  readonly openFiles: readonly OpenFile[];
  readonly reader: Reader;
  readonly watchAll: HistoryStore['watchAll'];
}

interface Lease {
  readonly signal: AbortSignal;
  end(): void;
}

export function openDelivery(options: DeliveryOptions) {
  const members = new Set<ReturnType<typeof openMember>>();
  return {
    async join(onDue: () => void): Promise<DeliveryMember> {
      const member = openMember(options, onDue);
      members.add(member);
      return {
        ...member,
        async leave() {
          members.delete(member);
          member.end();
        },
      };
    },
    /** Call it after the creation of a webhook, which may be the first. */
    noteWebhook() {
      for (const member of members) member.tryCheck();
    },
    /** Ends all leases. */
    close() {
      for (const member of members) member.end();
    },
  };
}

function openMember(
  { lockFile, openFiles, reader: { queries }, watchAll }: DeliveryOptions, onDue: () => void,
) {
  let lease: Lease | undefined;

  function acquire(): Lease | undefined {
    const lock = openBeside(openFiles, () => tryLock(lockFile));
    if (!lock) return undefined;
    const unwatch = watchAll(onDue);
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

  /** Has the lease if there are webhooks and no other process has it. */
  function check(): void {
    const isNeeded = queries.hasWebhooks();
    if (isNeeded === (lease !== undefined)) return;
    lease?.end();
    lease = isNeeded ? acquire() : undefined;
    if (lease) onDue();
  }

  /** Ignores errors: the next look-up of due webhooks gets them. */
  function tryCheck(): void {
    try {
      check();
    } catch {
      // Tried again after the interval.
    }
  }

  const timer = setInterval(tryCheck, WEBHOOK_LOCK_INTERVAL_MS).unref();
  tryCheck();
  return {
    tryCheck,
    async listDueWebhooks(query: DueQuery) {
      check();
      const signal = lease?.signal;
      return !signal ? []
        : queries.listDueWebhooks(query).map((webhook) => ({ webhook, lease: signal }));
    },
    findNextRetry: async (after: number) => lease && queries.findNextRetry(after),
    readMetrics: () =>
      ({ leases: lease ? 1 : 0, oldestMessageAt: lease && findOldestMessageTime(queries) }),
    end() {
      clearInterval(timer);
      lease?.end();
      lease = undefined;
    },
  };
}

/** Undefined, too, while the catalogue cannot be read: other metrics say so. */
function findOldestMessageTime(queries: Reader['queries']): number | undefined {
  try {
    return queries.findOldestMessageTime();
  } catch {
    return undefined;
  }
}
