/**
 * Notifies the program which catalogues have changed, after commits of any process. Reads the
 * positions of all sellers, at most once in an interval, so several commits can be one call.
 */
import { formatSellerId, type SellerId } from '../domain/id.ts';
import type { Seller } from '../domain/access/seller.ts';
import type { ErrorReporter } from '../http/response/problem.ts';
import { listAll } from '../store/list-all.ts';
import type { Store } from '../store/store.ts';
import { COMMIT_READ_INTERVAL_MS } from './limits.ts';

/** A catalogue that has changed. */
export interface CatalogueChange {
  /** The id of its seller, `sel_...`. */
  readonly seller: string;
  /** Of its newest change. */
  readonly position: number;
}

/** Returns the function that ends it. */
export async function listenToCommits(
  store: Store, onChange: (change: CatalogueChange) => unknown, report: ErrorReporter,
): Promise<() => void> {
  const positions = new Map<SellerId, number>();
  let timer: NodeJS.Timeout | undefined;
  let isPending = false;
  let isReady = false;
  let isEnded = false;

  async function read(notify: (change: CatalogueChange) => unknown): Promise<void> {
    try {
      const sellers = listAll<SellerId, Seller>((query) => store.listSellers(query));
      for await (const { id, position } of sellers) {
        if (isEnded) return;
        if (position === (positions.get(id) ?? 0)) continue;
        positions.set(id, position);
        await notify({ seller: formatSellerId(id), position });
      }
    } catch (error) {
      isPending = true; // the other sellers
      report({ id: 'on-change', error });
    }
  }

  function noteCommit(): void {
    isPending = true;
    if (timer || !isReady || isEnded) return;
    isPending = false;
    const reading = read(onChange);
    timer = setTimeout(() => void reading.then(() => {
      timer = undefined;
      if (isPending) noteCommit();
    }), COMMIT_READ_INTERVAL_MS).unref();
  }

  const unsubscribe = store.watchAll(noteCommit);
  await read(() => {}); // only remembers the positions
  isReady = true;
  if (isPending) noteCommit();
  return () => {
    isEnded = true;
    unsubscribe();
    clearTimeout(timer);
  };
}
