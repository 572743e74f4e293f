/**
 * Who waits for changes of which catalogue. However many wait, a commit costs one read of
 * positions, and frequent commits share one: the first is noticed immediately, the others once per
 * interval.
 */
import type { SellerId } from '../../../domain/id.ts';
import type { HistoryStore } from '../../history-store.ts';
import { POSITION_READ_INTERVAL_MS } from '../../limits.ts';

/** What an adapter provides. */
export interface Catalogues {
  /** The position of each seller that exists. */
  findPositions(ids: readonly SellerId[]): PositionsById | Promise<PositionsById>;
  readonly watchAll: HistoryStore['watchAll'];
}

type PositionsById = ReadonlyMap<SellerId, number>;

interface Watcher {
  readonly after: number;
  readonly listener: (position: number) => void;
}

export function prepareWatch({ findPositions, watchAll }: Catalogues): HistoryStore['watch'] {
  const watchersBySeller = new Map<SellerId, Set<Watcher>>();
  /** Sellers that have gained a watcher in this event-loop iteration. */
  const added = new Set<SellerId>();
  let stopWatchingAll: (() => void) | undefined;
  let [isPending, isNotifying] = [false, false];

  async function noteCommit(): Promise<void> {
    isPending = true;
    if (isNotifying) return;
    isNotifying = true;
    while (isPending) {
      isPending = false;
      await check([...watchersBySeller.keys()]);
      await new Promise((resolve) => {
        setTimeout(resolve, POSITION_READ_INTERVAL_MS).unref();
      });
    }
    isNotifying = false;
  }

  async function check(ids: readonly SellerId[]): Promise<void> {
    // The listeners' own reads get the error.
    const positions = await Promise.try(() => findPositions(ids)).catch(() => undefined);
    for (const id of ids) {
      const position = positions?.get(id) ?? Infinity;
      for (const watcher of watchersBySeller.get(id) ?? []) {
        if (position <= watcher.after) continue;
        remove(id, watcher);
        watcher.listener(position);
      }
    }
  }

  function remove(sellerId: SellerId, watcher: Watcher): void {
    const watchers = watchersBySeller.get(sellerId);
    if (!watchers?.delete(watcher) || watchers.size > 0) return;
    watchersBySeller.delete(sellerId);
    if (watchersBySeller.size > 0) return;
    stopWatchingAll?.();
    stopWatchingAll = undefined;
  }

  return (sellerId, after, listener) => {
    stopWatchingAll ??= watchAll(() => void noteCommit());
    const watcher = { after, listener };
    const watchers = watchersBySeller.get(sellerId) ?? new Set();
    watchersBySeller.set(sellerId, watchers.add(watcher));
    // A commit may have preceded this call.
    if (added.size === 0) {
      setImmediate(() => {
        const ids = [...added];
        added.clear();
        void check(ids);
      });
    }
    added.add(sellerId);
    return () => remove(sellerId, watcher);
  };
}
