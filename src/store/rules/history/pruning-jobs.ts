/**
 * Removes every seller's old history and expired idempotency records, in small steps with pauses,
 * so that other mutations are not delayed.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { SellerId } from '../../../domain/id.ts';
import { forgottenUpTo } from '../../../runtime/clock.ts';
import { IDEMPOTENCY_LIFE_MS, PRUNE_PAUSE_MS, PRUNE_STEP_CHANGES } from '../../limits.ts';
import { listAll } from '../../list-all.ts';
import type { RunMutation } from '../mutations/registry.ts';
import type { HistoryQueries } from './queries.ts';

/** Removes every seller's changes before a time, in milliseconds since 1970. */
export function pruneHistory(
  queries: HistoryQueries, run: RunMutation, before: number,
): Promise<void> {
  return pruneEverySeller(queries, async function* (sellerId) {
    const { reach: { prunedTo }, position: end } = await queries.findTime(sellerId, before - 1);
    for (let after = prunedTo; after < end;) {
      const upTo = Math.min(end, after + PRUNE_STEP_CHANGES);
      yield run('pruneHistory', { sellerId, after, upTo, before });
      after = upTo;
    }
  });
}

/** Removes the idempotency records that have expired at this lived time, of all sellers. */
export function pruneIdempotency(
  queries: HistoryQueries, run: RunMutation, lived: number,
): Promise<void> {
  const before = forgottenUpTo(lived, IDEMPOTENCY_LIFE_MS);
  return pruneEverySeller(queries, async function* (sellerId) {
    while (await queries.hasOldRecords(sellerId, before)) {
      yield run('pruneIdempotency', { sellerId, before });
    }
  });
}

/**
 * Deletes a seller in such steps, too.
 * @param forget Called between the first step and the others: deletes what is kept elsewhere.
 */
export async function deleteSeller(
  run: RunMutation, sellerId: SellerId, forget: () => Promise<void> = async () => {},
): Promise<number> {
  let step = await run('deleteSeller', [sellerId]);
  if (!step.isDone) await forget();
  while (!step.isDone) {
    await wait(PRUNE_PAUSE_MS);
    step = await run('deleteSeller', [sellerId]);
  }
  return step.deletedAt;
}

/** Starts each step after the previous one and a pause. */
async function pruneEverySeller(
  queries: HistoryQueries, startSteps: (sellerId: SellerId) => AsyncIterable<void>,
): Promise<void> {
  const sellers = listAll<SellerId, { readonly id: SellerId }>(async (query) =>
    queries.listSellers(query));
  for await (const { id } of sellers) {
    for await (const _ of startSteps(id)) await wait(PRUNE_PAUSE_MS, undefined, { ref: false });
  }
}
