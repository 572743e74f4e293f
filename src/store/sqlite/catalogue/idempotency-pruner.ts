/**
 * Removes the records of idempotency keys that are too old to be asked for, of sellers who do not
 * come back, too: in small steps, between which other writes have turns.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { IDEMPOTENCY_LIFE_MS } from '../../limits.ts';
import { PRUNE_PAUSE_MS } from '../limits.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { Reader } from '../engine/reader.ts';
import type { Writer } from '../engine/writer.ts';

const SELLERS_PAGE = 100;

/** Removes what is too old at this time, of every seller. */
export async function pruneIdempotency(reader: Reader, writer: Writer, at: number): Promise<void> {
  const before = at - IDEMPOTENCY_LIFE_MS;
  let after: SellerId | undefined;
  for (;;) {
    const sellers = reader.snapshot().listSellers({ after, limit: SELLERS_PAGE });
    for (const { id: sellerId } of sellers) {
      while (reader.snapshot().hasOldRecords(sellerId, before)) {
        await writer.run('pruneIdempotency', { sellerId, before });
        await wait(PRUNE_PAUSE_MS, undefined, { ref: false });
      }
    }
    after = sellers.at(-1)?.id;
    if (sellers.length < SELLERS_PAGE) return;
  }
}
