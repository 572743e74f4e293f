/**
 * How the processes of a store keep its lived time (runtime/clock.ts) across restarts. Each adds
 * what it lives through, and takes over the total if that is more. That needs no lease: none of the
 * readings is ahead of the time that has passed, so neither is the greatest.
 */
import { LIVED_TIME_INTERVAL_MS, type LivedTime } from '../../runtime/clock.ts';
import type { livedTimeQueries } from '../sql/lived-time.ts';
import type { RunMutation } from './mutations/registry.ts';

/** Continues the lived time of a store. A crash loses what was lived since it was last stored. */
export async function openLivedTime(
  lived: LivedTime, queries: ReturnType<typeof livedTimeQueries>, run: RunMutation,
) {
  const adopt = async (): Promise<void> => lived.adopt(await queries.findLivedTime());
  const keepLivedTime = (): Promise<void> => run('keepLivedTime', []).then(adopt);
  await adopt();
  const timer = setInterval(() => {
    keepLivedTime().catch(() => {}); // tried again after the interval
  }, LIVED_TIME_INTERVAL_MS).unref();
  const findTimeLivedAgo = (livedMs: number): Promise<number> =>
    queries.findTimeLivedAt(lived.read() - livedMs);
  return {
    methods: { now: lived.now, keepLivedTime, findTimeLivedAgo }, stop: () => clearInterval(timer),
  };
}
