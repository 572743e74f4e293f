/** Follows version chains to their ends, in slices between which others run. */
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import type { Awaitable, Followed } from './queries.ts';

interface FollowOptions<Part extends Followed> {
  /** A query on several chains (see `SnapshotQueries`). */
  readonly follow: (from: readonly number[]) => Awaitable<readonly (Part | undefined)[]>;
  /** Adds what an earlier part of the same chain showed. */
  readonly combine?: (earlier: Part, later: Part) => Part;
  /** Whether the chains after this one need not be followed. */
  readonly isLast?: (part: Part) => boolean;
}

interface Chain<Part> {
  readonly start: number;
  readonly part?: Part | undefined;
}

/** Returns the ends of chains by the positions where they start, without those that are pruned. */
export async function followChains<Part extends Followed>(
  starts: readonly number[], { follow, combine, isLast }: FollowOptions<Part>,
): Promise<ReadonlyMap<number, Part>> {
  const ends = new Map<number, Part>();
  let open: Chain<Part>[] = starts.map((start) => ({ start }));
  while (open.length > 0) {
    const results = await follow(open.map(({ start, part }) => part?.position ?? start));
    const rest: Chain<Part>[] = [];
    let isDone = false;
    for (const [index, { start, part: earlier }] of open.slice(0, results.length).entries()) {
      const result = results[index];
      if (!result || isDone) continue;
      const part = earlier && combine ? combine(earlier, result) : result;
      if (!part.isEnd) rest.push({ start, part });
      else ends.set(start, part);
      isDone = part.isEnd && isLast?.(part) === true;
    }
    open = isDone ? rest : [...rest, ...open.slice(results.length)];
    if (open.length > 0) await yieldToEventLoop();
  }
  return ends;
}
