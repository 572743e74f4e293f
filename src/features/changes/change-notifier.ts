/**
 * Notifies requests and streams that wait for changes of a catalogue, made by any process. Readers
 * of the same history page in one event-loop iteration share one read, so many streams of one
 * seller cost little more than one.
 */
import { addAbortListener } from 'node:events';
import { CHANGES_PAGE_SIZE_LIMIT, WAKE_SLICE_WAITERS } from './limits.ts';
import { formatItems } from '../../api/list.ts';
import { type Change, formatChange } from '../../domain/catalogue/change.ts';
import type { SellerId } from '../../domain/id.ts';
import { type Generation, toRevision } from '../../domain/revision.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { Services } from '../../api/route.ts';
import type { ChangePage, ChangeQuery } from '../../store/history-store.ts';

interface Waiter {
  /** The waiter is woken once the catalogue is past this position. */
  readonly position: number;
  wake(isThere: boolean): void;
}

/** The waiters of a seller share a watch of its catalogue. */
interface WaitingSeller {
  readonly waiters: Set<Waiter>;
  /** The position that is watched; infinite without a watch. */
  watched: number;
  stopWatching: () => void;
}

/** A page of the history as JSON. */
interface FormattedPage {
  readonly changes: readonly { readonly position: number; readonly json: string }[];
  /** As in `ChangePage`. */
  readonly next: number;
}

/** A page of the history with its Server-Sent Events, shared by all readers. */
interface RenderedPage extends ChangePage {
  readonly text: Uint8Array;
}

export function changeNotifier({ store }: Pick<Services, 'store'>): ChangeNotifier {
  return new ChangeNotifier(store);
}

export class ChangeNotifier {
  readonly #store: Services['store'];
  readonly #sellers = new Map<SellerId, WaitingSeller>();
  /** Pages read in this event-loop iteration, by query. */
  readonly #pages = new Map<string, Promise<RenderedPage>>();

  constructor(store: Services['store']) {
    this.#store = store;
  }

  /** Resolves with true once there are changes after `position`, with false on timeout or abort. */
  async wait(
    sellerId: SellerId, position: number, timeoutMs: number, signal: AbortSignal,
  ): Promise<boolean> {
    if (signal.aborted) return false;
    const { promise, resolve: wake } = Promise.withResolvers<boolean>();
    using _timer = setTimeout(wake, timeoutMs, false);
    using _listener = addAbortListener(signal, () => wake(false));
    const waiter = { position, wake };
    const seller = this.#sellers.get(sellerId)
      ?? { waiters: new Set(), watched: Infinity, stopWatching: () => {} };
    this.#sellers.set(sellerId, seller);
    seller.waiters.add(waiter);
    try {
      this.#watch(sellerId, seller, position);
      return await promise;
    } finally {
      seller.waiters.delete(waiter);
      if (seller.waiters.size === 0) {
        seller.stopWatching();
        this.#sellers.delete(sellerId);
      }
    }
  }

  /** The next page, of up to 1,000 changes, after a position; fewer if they are very long. */
  read(
    sellerId: SellerId, { after, types, importId }: Omit<ChangeQuery, 'limit'>,
  ): Promise<RenderedPage> {
    const key = `${sellerId} ${after} ${types?.join() ?? ''} ${importId ?? ''}`;
    const pending = this.#pages.get(key);
    if (pending) return pending;
    if (this.#pages.size === 0) setImmediate(() => this.#pages.clear());
    const query = { after, types, importId, limit: CHANGES_PAGE_SIZE_LIMIT };
    const page = this.#store.listChanges(sellerId, query)
      .then((changePage) => {
        const formatted = formatPage(changePage);
        const text = Buffer.from(formatEvents(formatted, this.#store.generation));
        return { ...changePage, next: formatted.next, text };
      });
    this.#pages.set(key, page);
    return page;
  }

  #watch(sellerId: SellerId, seller: WaitingSeller, position: number): void {
    if (position >= seller.watched) return;
    seller.stopWatching();
    seller.watched = position;
    seller.stopWatching = this.#store.watch(sellerId, position, (reached) => {
      seller.watched = Infinity;
      const { true: woken = [], false: others = [] } =
        Object.groupBy(seller.waiters, (waiter) => `${waiter.position < reached}`);
      for (const waiter of others) this.#watch(sellerId, seller, waiter.position);
      void this.#wake(woken);
    });
  }

  async #wake(woken: readonly Waiter[]): Promise<void> {
    for (let from = 0; from < woken.length; from += WAKE_SLICE_WAITERS) {
      if (from > 0) await yieldToEventLoop();
      // A page of this iteration may be older than the change. A waiter that read it again would
      // wait and be woken again, forever within one iteration.
      this.#pages.clear();
      for (const waiter of woken.slice(from, from + WAKE_SLICE_WAITERS)) waiter.wake(true);
    }
  }
}

/** A page as JSON. It ends early if its products are very long. */
export function formatPage({ changes, next }: ChangePage): FormattedPage {
  const { texts, last } = formatItems(changes, formatChange);
  const formatted = texts.map((json, index) => {
    // The cast: there are as many changes, or more.
    const { position } = changes[index] as Change;
    return { position, json };
  });
  return { changes: formatted, next: last?.position ?? next };
}

/** The last id is the page's `next`, even if its last changes have other types. */
function formatEvents({ changes, next }: FormattedPage, generation: Generation): string {
  const idOf = (position: number): string => `id: ${toRevision(generation, position)}\n`;
  const events = changes.map(({ position, json }) => `${idOf(position)}data: ${json}\n\n`);
  const isPassed = changes.at(-1)?.position !== next;
  return events.join('') + (isPassed ? `${idOf(next)}\n` : '');
}
