/**
 * Removes every seller's old history and expired idempotency records, in small steps with pauses,
 * so that other mutations are not delayed.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { SellerId } from '../../../domain/id.ts';
import { IDEMPOTENCY_LIFE_MS } from '../../limits.ts';
import type { Reader } from '../engine/reader.ts';
import type { Writer } from '../engine/writer.ts';
import { PRUNE_PAUSE_MS, PRUNE_STEP_CHANGES } from '../limits.ts';

const SELLERS_PAGE = 100;

/** Removes every seller's changes before a time, in milliseconds since 1970. */
export function pruneHistory(reader: Reader, writer: Writer, before: number): Promise<void> {
  return pruneEverySeller(reader, function* (sellerId) {
    const queries = reader.snapshot();
    const { prunedTo } = queries.findReach(sellerId);
    const end = queries.findPositionAt(sellerId, before - 1, prunedTo);
    for (let after = prunedTo; after < end;) {
      const upTo = Math.min(end, after + PRUNE_STEP_CHANGES);
      const step = { sellerId, after, upTo, before };
      yield writer.run('pruneHistory', step, undefined, upTo - after);
      after = upTo;
    }
  });
}

/** Removes the idempotency records that have expired by this time, also of inactive sellers. */
export function pruneIdempotency(reader: Reader, writer: Writer, at: number): Promise<void> {
  const before = at - IDEMPOTENCY_LIFE_MS;
  return pruneEverySeller(reader, function* (sellerId) {
    while (reader.snapshot().hasOldRecords(sellerId, before)) {
      yield writer.run('pruneIdempotency', { sellerId, before });
    }
  });
}

/** Starts each step after the previous one and a pause. */
async function pruneEverySeller(
  reader: Reader, startSteps: (sellerId: SellerId) => Iterable<Promise<void>>,
): Promise<void> {
  let after: SellerId | undefined;
  for (;;) {
    const sellers = reader.snapshot().listSellers({ after, limit: SELLERS_PAGE });
    for (const { id } of sellers) {
      for (const step of startSteps(id)) {
        await step;
        await wait(PRUNE_PAUSE_MS, undefined, { ref: false });
      }
    }
    after = sellers.at(-1)?.id;
    if (sellers.length < SELLERS_PAGE) return;
  }
}
