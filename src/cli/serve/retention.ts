/**
 * Lets a server forget what is too old: history, as its setting says, and idempotency keys. A clock
 * may be wrong by years, such as where the battery of the machine is empty: for the history, one
 * that is far ahead of all that is known to have happened does not count.
 */
import { HISTORY_CLOCK_TRUST_DAYS, HISTORY_PRUNE_INTERVAL_MS } from '../limits.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { MaintenanceStore } from '../../store/maintenance-store.ts';

/** Begins at once and looks again every hour; 0 days keep all history. What it returns ends it. */
export function startRetentionJob(
  store: Omit<MaintenanceStore, 'readMetrics' | 'close'>, days: number,
  note: (text: string) => void, clock: () => number = Date.now,
): () => void {
  let isUnderWay = false;
  let isEnded = false;
  let findNow: (() => number) | undefined;
  const prune = async (): Promise<void> => {
    if (isUnderWay) return;
    isUnderWay = true;
    try {
      await store.pruneIdempotency();
      if (days === 0) return;
      findNow ??= makeCarefulClock(await store.findNewestTime(), clock, note);
      await store.pruneHistory(findNow() - days * DAY_MS);
    } catch (error) {
      // What could not be removed now is tried again.
      const reason = error instanceof Error ? error.message : String(error);
      if (!isEnded) note(`What is too old could not be removed: ${reason}`);
    } finally {
      isUnderWay = false;
    }
  };
  void prune();
  const timer = setInterval(() => void prune(), HISTORY_PRUNE_INTERVAL_MS).unref();
  return () => {
    isEnded = true;
    clearInterval(timer);
  };
}

/** Goes no faster than the time since the start, from the newest that had happened until then. */
function makeCarefulClock(
  newest: number | undefined, clock: () => number, note: (text: string) => void,
): () => number {
  if (newest === undefined) return clock;
  const trusted = newest + HISTORY_CLOCK_TRUST_DAYS * DAY_MS - performance.now();
  return () => {
    const [now, latest] = [clock(), trusted + performance.now()];
    if (now <= latest) return now;
    const [says, last] = [now, newest].map((at) => new Date(at).toISOString());
    note(`The clock says ${says}, and the newest change is of ${last}: history is removed as if it `
      + `were no later than ${HISTORY_CLOCK_TRUST_DAYS} days after that. If the clock is right, `
      + 'start the server again after the next change.');
    return latest;
  };
}
