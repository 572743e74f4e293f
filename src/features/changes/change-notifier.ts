/**
 * Notifies requests and streams that wait for changes of a catalogue, made by any process. Readers
 * of the same history page in one event-loop iteration share one read, so many streams of one
 * seller cost little more than one.
 */
import {
  CHANGES_PAGE_SIZE_LIMIT, WAKE_INTERVAL_MS, WAKE_SLICE_WAITERS,
} from './limits.ts';
import { formatChange } from '../../domain/catalogue/change.ts';
import type { SellerId } from '../../domain/id.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { Services } from '../../api/route.ts';
import type { AccessStore } from '../../store/access-store.ts';
import type { ChangePage, ChangeQuery, HistoryStore } from '../../store/history-store.ts';

interface Waiter {
  readonly sellerId: SellerId;
  /** The waiter is woken once the catalogue is past this position. */
  readonly position: number;
  wake(isThere: boolean): void;
}

/** A page of the history with its Server-Sent Events, shared by all readers. */
interface RenderedPage extends ChangePage {
  readonly text: Uint8Array;
}

export function changeNotifier({ store }: Pick<Services, 'store'>): ChangeNotifier {
  return new ChangeNotifier(store);
}

export class ChangeNotifier {
  readonly #store: AccessStore & HistoryStore;
  readonly #waiters = new Set<Waiter>();
  #stopWatching: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether there was a commit since the last wake-up. */
  #isPending = false;
  /** Pages read in this event-loop iteration, by query. */
  readonly #pages = new Map<string, Promise<RenderedPage>>();

  constructor(store: AccessStore & HistoryStore) {
    this.#store = store;
  }

  /** Resolves with true once there are changes after `position`, with false on timeout or abort. */
  async wait(
    sellerId: SellerId, position: number, timeoutMs: number, signal: AbortSignal,
  ): Promise<boolean> {
    if (signal.aborted) return false;
    const { promise, resolve: wake } = Promise.withResolvers<boolean>();
    const cancel = (): void => wake(false);
    const timer = setTimeout(cancel, timeoutMs);
    signal.addEventListener('abort', cancel);
    const waiter = { sellerId, position, wake };
    this.#waiters.add(waiter);
    this.#stopWatching ??= this.#store.subscribeToCommits(() => this.#noteCommit());
    void this.#wakeSeller([waiter]); // a change may have preceded the subscription
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      this.#waiters.delete(waiter);
      if (this.#waiters.size === 0) {
        this.#stopWatching?.();
        this.#stopWatching = undefined;
      }
    }
  }

  /** The next page, of up to 1,000 changes, after a position. */
  read(
    sellerId: SellerId, { after, types, importId }: Omit<ChangeQuery, 'limit'>,
  ): Promise<RenderedPage> {
    const key = `${sellerId} ${after} ${types?.join() ?? ''} ${importId ?? ''}`;
    const known = this.#pages.get(key);
    if (known) return known;
    if (this.#pages.size === 0) setImmediate(() => this.#pages.clear());
    const query = { after, types, importId, limit: CHANGES_PAGE_SIZE_LIMIT };
    const page = this.#store.listChanges(sellerId, query)
      .then((found) => ({ ...found, text: Buffer.from(formatEvents(found)) }));
    this.#pages.set(key, page);
    return page;
  }

  /** Wakes immediately after a quiet interval, and then at most once per interval. */
  #noteCommit(): void {
    this.#isPending = true;
    if (this.#timer) return;
    this.#wakeAll();
    this.#timer = setInterval(() => {
      if (this.#isPending) this.#wakeAll();
      else {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }, WAKE_INTERVAL_MS).unref();
  }

  #wakeAll(): void {
    this.#isPending = false;
    for (const waiters of Map.groupBy(this.#waiters, ({ sellerId }) => sellerId).values()) {
      void this.#wakeSeller(waiters);
    }
  }

  /** Wakes a seller's waiters that have changes, or all of them if the position cannot be read. */
  async #wakeSeller(waiters: readonly Waiter[]): Promise<void> {
    const [first] = waiters;
    if (!first) return;
    const seller = await this.#store.findSeller(first.sellerId).catch(() => undefined);
    const position = seller?.position ?? Infinity;
    const woken = waiters.filter((waiter) => position > waiter.position);
    for (let from = 0; from < woken.length; from += WAKE_SLICE_WAITERS) {
      if (from > 0) await yieldToEventLoop();
      // A page of this iteration may be older than the change. A waiter that read it again would
      // wait and be woken again, forever within one iteration.
      this.#pages.clear();
      for (const waiter of woken.slice(from, from + WAKE_SLICE_WAITERS)) waiter.wake(true);
    }
  }
}

/** The last id is the page's `next`, even if its last changes have other types. */
function formatEvents({ changes, next }: ChangePage): string {
  const events = changes.map((change) =>
    `id: ${change.position}\ndata: ${formatChange(change)}\n\n`);
  const isPassed = changes.at(-1)?.position !== next;
  return events.join('') + (isPassed ? `id: ${next}\n\n` : '');
}
