/**
 * Notices commits: those of this node immediately, those of others by polling. One query per
 * interval reads the positions of all watched catalogues.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { repeat } from '../../../runtime/repeat.ts';
import { type Catalogues, prepareWatch } from './catalogue-watchers.ts';
import type { HistoryStore } from '../../history-store.ts';
import { COMMIT_WATCH_ALL_INTERVAL_MS, COMMIT_WATCH_INTERVAL_MS } from '../../limits.ts';

const RETRY_MS = 250;
/** @param findSum Finds a value that every commit of any catalogue changes. */
export function openWatching(
  findPositions: Catalogues['findPositions'], findSum: () => Promise<unknown>,
) {
  const polls = new Set<ReturnType<typeof repeat>>();
  let isClosed = false;

  function poll(task: () => void | Promise<void>, intervalMs: number): () => void {
    const started = repeat(async () => task(), intervalMs);
    polls.add(started);
    return () => {
      polls.delete(started);
      void started.stop();
    };
  }

  const watch = prepareWatch({
    watchAll: (listener) => poll(listener, COMMIT_WATCH_INTERVAL_MS),
    /** Waits while the database is away: an error would end every live stream. */
    async findPositions(ids) {
      for (;;) {
        try {
          return await findPositions(ids);
        } catch (error) {
          if (isClosed) throw error;
          await wait(RETRY_MS, undefined, { ref: false });
        }
      }
    },
  });
  return {
    watch,
    watchAll(listener) {
      let last: unknown;
      return poll(async () => {
        const sum = await findSum();
        if (sum === last) return;
        last = sum;
        listener(); // the first time, too: others may have committed before the answer
      }, COMMIT_WATCH_ALL_INTERVAL_MS);
    },
    /** Call it after each commit of this node. */
    noteCommit(): void {
      for (const { runNow } of polls) runNow();
    },
    close(): void {
      isClosed = true;
      for (const { stop } of polls) void stop();
      polls.clear();
    },
  } satisfies Pick<HistoryStore, 'watch' | 'watchAll'> & Record<string, unknown>;
}
