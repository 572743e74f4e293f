/**
 * Wakes those who wait for changes of a catalogue, whichever process makes them, and reads each
 * piece of the history once for all who ask for the same in one turn: many streams of one seller
 * cost little more than one.
 */
import {
  assertChangesLimits, CHANGES_PAGE_SIZE_LIMIT, WAKE_INTERVAL_MS, WAKE_SLICE_WAITERS,
} from './limits.ts';
import type { ChangeType } from '../../domain/catalogue/change.ts';
import type { SellerId } from '../../domain/id.ts';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { Services } from '../../api/route.ts';
import type { AccessStore } from '../../store/access-store.ts';
import type { ChangePage, HistoryStore } from '../../store/history-store.ts';

interface Waiter {
  readonly sellerId: SellerId;
  /** Woken once the catalogue has gone beyond it. */
  readonly position: number;
  wake(isThere: boolean): void;
}

/** A piece of the history, and its text as events: made once for all who read it. */
interface ChangePiece extends ChangePage {
  readonly text: Uint8Array;
}

/** The notifier of an app. */
export function changeNotifier({ store }: Pick<Services, 'store'>): ChangeNotifier {
  return new ChangeNotifier(store);
}

export class ChangeNotifier {
  readonly #store: AccessStore & HistoryStore;
  readonly #waiters = new Set<Waiter>();
  #stopWatching: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Whether a commit came since those who wait were last woken. */
  #isPending = false;
  /** What was read in this turn of the event loop, by what was asked for. */
  readonly #pieces = new Map<string, Promise<ChangePiece>>();

  constructor(store: AccessStore & HistoryStore) {
    assertChangesLimits();
    this.#store = store;
  }

  /** Resolves with true once there are changes after `position`, with false where none come. */
  wait(
    sellerId: SellerId, position: number, timeoutMs: number, signal: AbortSignal,
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isThere: boolean): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        this.#remove(waiter);
        resolve(isThere);
      };
      const giveUp = (): void => end(false);
      const waiter = { sellerId, position, wake: end };
      const timer = setTimeout(giveUp, timeoutMs);
      signal.addEventListener('abort', giveUp);
      if (signal.aborted) giveUp();
      else this.#add(waiter);
    });
  }

  /** What comes after a position, in a piece of up to 1,000; `format` makes the text of it. */
  read(
    sellerId: SellerId, after: number, types: readonly ChangeType[] | undefined,
    format: (page: ChangePage) => string,
  ): Promise<ChangePiece> {
    const key = `${sellerId} ${after} ${types?.join() ?? ''}`;
    const known = this.#pieces.get(key);
    if (known) return known;
    if (this.#pieces.size === 0) setImmediate(() => this.#pieces.clear());
    const query = { after, types, limit: CHANGES_PAGE_SIZE_LIMIT };
    const piece = this.#store.listChanges(sellerId, query)
      .then((page) => ({ ...page, text: Buffer.from(format(page)) }));
    this.#pieces.set(key, piece);
    return piece;
  }

  #add(waiter: Waiter): void {
    this.#waiters.add(waiter);
    this.#stopWatching ??= this.#store.subscribeToCommits(() => this.#noteCommit());
    void this.#look([waiter]); // a change may have come before it was watched for
  }

  #remove(waiter: Waiter): void {
    this.#waiters.delete(waiter);
    if (this.#waiters.size > 0) return;
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  /** Wakes at once after a time of quiet, and then no more often than every interval. */
  #noteCommit(): void {
    this.#isPending = true;
    if (this.#timer) return;
    this.#wakeAll();
    this.#timer = setInterval(() => {
      if (this.#isPending) {
        this.#wakeAll();
        return;
      }
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, WAKE_INTERVAL_MS).unref();
  }

  #wakeAll(): void {
    this.#isPending = false;
    for (const waiters of Map.groupBy(this.#waiters, ({ sellerId }) => sellerId).values()) {
      void this.#look(waiters);
    }
  }

  /** Wakes those of one seller for whom there are changes; all, where that cannot be known. */
  async #look(waiters: readonly Waiter[]): Promise<void> {
    const [first] = waiters;
    if (!first) return;
    const seller = await this.#store.findSeller(first.sellerId).catch(() => undefined);
    const position = seller?.position ?? Infinity;
    const woken = waiters.filter((waiter) => position > waiter.position);
    for (let from = 0; from < woken.length; from += WAKE_SLICE_WAITERS) {
      if (from > 0) await yieldToEventLoop();
      // A piece of this turn may be older. Whoever was woken and found it again would wait again,
      // be woken again, and so on in the same turn for ever.
      this.#pieces.clear();
      for (const waiter of woken.slice(from, from + WAKE_SLICE_WAITERS)) waiter.wake(true);
    }
  }
}
