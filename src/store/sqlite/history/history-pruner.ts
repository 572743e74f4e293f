/** Removes the history that is too old, in small steps, between which other writes have turns. */
import { setTimeout as wait } from 'node:timers/promises';
import { PRUNE_PAUSE_MS, PRUNE_STEP_CHANGES } from '../limits.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { Reader } from '../engine/reader.ts';
import type { Writer } from '../engine/writer.ts';

const SELLERS_PAGE = 100;

/** Removes what is older, of every seller. */
export async function pruneHistory(reader: Reader, writer: Writer, before: number): Promise<void> {
  let after: SellerId | undefined;
  for (;;) {
    const sellers = reader.snapshot().listSellers({ after, limit: SELLERS_PAGE });
    for (const { id } of sellers) await pruneSeller(reader, writer, id, before);
    after = sellers.at(-1)?.id;
    if (sellers.length < SELLERS_PAGE) return;
  }
}

async function pruneSeller(
  reader: Reader, writer: Writer, sellerId: SellerId, before: number,
): Promise<void> {
  const queries = reader.snapshot();
  const { prunedTo } = queries.findReach(sellerId);
  const end = queries.findPositionAt(sellerId, before - 1, prunedTo);
  for (let after = prunedTo; after < end;) {
    const upTo = Math.min(end, after + PRUNE_STEP_CHANGES);
    await writer.run('pruneHistory', { sellerId, after, upTo, before }, undefined, upTo - after);
    after = upTo;
    await wait(PRUNE_PAUSE_MS, undefined, { ref: false });
  }
}
