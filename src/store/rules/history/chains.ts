/** Follows version chains to their ends, in slices between which others run. */
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type { Awaitable, Followed } from './queries.ts';

interface FollowOptions<Found extends Followed> {
  /** A query on several chains (see `SnapshotQueries`). */
  readonly follow: (from: readonly number[]) => Awaitable<readonly (Found | undefined)[]>;
  /** Adds what an earlier part of the same chain showed. */
  readonly combine?: (earlier: Found, later: Found) => Found;
  /** Whether the chains after this one need not be followed. */
  readonly isLast?: (found: Found) => boolean;
}

interface Chain<Found> {
  readonly start: number;
  readonly found?: Found | undefined;
}

/** Returns the ends of chains by the positions where they start, without those that are pruned. */
export async function followChains<Found extends Followed>(
  starts: readonly number[], { follow, combine, isLast }: FollowOptions<Found>,
): Promise<ReadonlyMap<number, Found>> {
  const ends = new Map<number, Found>();
  let open: Chain<Found>[] = starts.map((start) => ({ start }));
  while (open.length > 0) {
    const results = await follow(open.map(({ start, found }) => found?.position ?? start));
    const rest: Chain<Found>[] = [];
    let isDone = false;
    for (const [index, { start, found: earlier }] of open.slice(0, results.length).entries()) {
      const result = results[index];
      if (!result || isDone) continue;
      const found = earlier && combine ? combine(earlier, result) : result;
      if (!found.isEnd) rest.push({ start, found });
      else ends.set(start, found);
      isDone = found.isEnd && isLast?.(found) === true;
    }
    open = isDone ? rest : [...rest, ...open.slice(results.length)];
    if (open.length > 0) await yieldToEventLoop();
  }
  return ends;
}
