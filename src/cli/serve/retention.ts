/**
 * The retention job of a server: prunes old history, as configured, and idempotency records. A
 * clock may be wrong by years, for example after a flat battery, so a clock that is far ahead of
 * the newest change does not prune history.
 */
import { HISTORY_CLOCK_TRUST_DAYS, HISTORY_PRUNE_INTERVAL_MS } from '../limits.ts';
import { DAY_MS } from '../../domain/time.ts';
import { repeat } from '../../runtime/repeat.ts';
import type { MaintenanceStore } from '../../store/maintenance-store.ts';

/** Starts immediately and repeats hourly; 0 days keep all history. Returns a stop function. */
export function startRetentionJob(
  store: Pick<MaintenanceStore,
    'pruneIdempotency' | 'findNewestTime' | 'findTimeLivedAgo' | 'pruneHistory'>,
  days: number, note: (text: string) => void, clock: () => number = Date.now,
): () => void {
  let isStopped = false;
  let findNow: (() => number) | undefined;
  const job = repeat(async () => {
    try {
      await store.pruneIdempotency();
      if (days === 0) return;
      findNow ??= makeCarefulClock(await store.findNewestTime(), clock, note);
      const ageMs = days * DAY_MS;
      await store.pruneHistory(Math.min(findNow() - ageMs, await store.findTimeLivedAgo(ageMs)));
    } catch (error) {
      // The next run retries it.
      const reason = error instanceof Error ? error.message : String(error);
      if (!isStopped) note(`Old history could not be removed: ${reason}`);
    }
  }, HISTORY_PRUNE_INTERVAL_MS);
  return () => {
    isStopped = true;
    void job.stop();
  };
}

/** A clock that never runs far ahead of the newest change at start plus the time since then. */
function makeCarefulClock(
  newest: number | undefined, clock: () => number, note: (text: string) => void,
): () => number {
  if (newest === undefined) return clock;
  const trusted = newest + HISTORY_CLOCK_TRUST_DAYS * DAY_MS - performance.now();
  return () => {
    const [now, latest] = [clock(), trusted + performance.now()];
    if (now <= latest) return now;
    const [says, last] = [now, newest].map((at) => new Date(at).toISOString());
    note(`The clock says ${says}, but the newest change is from ${last}. History is pruned as if `
      + `it were no later than ${HISTORY_CLOCK_TRUST_DAYS} days after that. If the clock is right, `
      + 'restart the server after the next change.');
    return latest;
  };
}
