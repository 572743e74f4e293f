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

export class CatalogueWatchers {
  readonly #catalogues: Catalogues;
  readonly #watchers = new Map<SellerId, Set<Watcher>>();
  /** Sellers that have gained a watcher in this event-loop iteration. */
  readonly #added = new Set<SellerId>();
  #stopWatchingAll: (() => void) | undefined;
  #isPending = false;
  #isNotifying = false;

  constructor(catalogues: Catalogues) {
    this.#catalogues = catalogues;
  }

  /** As `HistoryStore.watch`. */
  watch(sellerId: SellerId, after: number, listener: Watcher['listener']): () => void {
    this.#stopWatchingAll ??= this.#catalogues.watchAll(() => void this.#noteCommit());
    const watcher = { after, listener };
    const watchers = this.#watchers.get(sellerId) ?? new Set();
    this.#watchers.set(sellerId, watchers.add(watcher));
    // A commit may have preceded this call.
    if (this.#added.size === 0) setImmediate(() => void this.#checkAdded());
    this.#added.add(sellerId);
    return () => this.#remove(sellerId, watcher);
  }

  async #checkAdded(): Promise<void> {
    const added = [...this.#added];
    this.#added.clear();
    await this.#check(added);
  }

  async #noteCommit(): Promise<void> {
    this.#isPending = true;
    if (this.#isNotifying) return;
    this.#isNotifying = true;
    while (this.#isPending) {
      this.#isPending = false;
      await this.#check([...this.#watchers.keys()]);
      await new Promise((resolve) => {
        setTimeout(resolve, POSITION_READ_INTERVAL_MS).unref();
      });
    }
    this.#isNotifying = false;
  }

  async #check(ids: readonly SellerId[]): Promise<void> {
    // The listeners' own reads get the error.
    const positions = await Promise.try(() => this.#catalogues.findPositions(ids))
      .catch(() => undefined);
    for (const id of ids) {
      const position = positions?.get(id) ?? Infinity;
      for (const watcher of this.#watchers.get(id) ?? []) {
        if (position <= watcher.after) continue;
        this.#remove(id, watcher);
        watcher.listener(position);
      }
    }
  }

  #remove(sellerId: SellerId, watcher: Watcher): void {
    const watchers = this.#watchers.get(sellerId);
    if (!watchers?.delete(watcher) || watchers.size > 0) return;
    this.#watchers.delete(sellerId);
    if (this.#watchers.size > 0) return;
    this.#stopWatchingAll?.();
    this.#stopWatchingAll = undefined;
  }
}
