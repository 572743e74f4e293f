/**
 * Idempotency records in SQLite. Mutations run one at a time on the writer thread, so the second of
 * two concurrent ones finds the record of the first.
 */
import type { DatabaseSync } from 'node:sqlite';
import { IDEMPOTENCY_LIFE_MS } from '../../limits.ts';
import {
  hashIdempotencyKey, type IdempotencyScope, isRejection, replay,
} from '../../rules/idempotency.ts';
import { IDEMPOTENCY_PRUNE_RECORDS, IDEMPOTENCY_PRUNE_STEP } from '../limits.ts';
import type { SellerId } from '../../../domain/id.ts';
import { readBytes, readText } from '../engine/row.ts';

const PRUNE = `
  DELETE FROM idempotency WHERE (seller_id, key_hash, part) IN (
    SELECT seller_id, key_hash, part FROM idempotency
    WHERE seller_id = ? AND at <= ? ORDER BY at LIMIT ?)`;

export function idempotencyMutations(db: DatabaseSync) {
  const prune = db.prepare(PRUNE);
  return {
    /** Removes a seller's oldest records, up to a time in milliseconds since 1970. */
    pruneIdempotency(
      { sellerId, before }: { readonly sellerId: SellerId; readonly before: number },
    ): void {
      prune.run(sellerId, before, IDEMPOTENCY_PRUNE_RECORDS);
    },
  };
}

export function idempotencyQueries(db: DatabaseSync) {
  const find = db.prepare('SELECT 1 FROM idempotency WHERE seller_id = ? AND at <= ? LIMIT 1');
  return {
    hasOldRecords: (sellerId: SellerId, before: number): boolean =>
      find.get(sellerId, before) !== undefined,
  };
}

/**
 * Returns a function that returns the outcome of `mutate`, or the recorded one if the key was used
 * before; it throws AppError `idempotency_mismatch` if that was for another request. Each new
 * record removes a few expired ones, so tables shrink while keys are in use.
 */
export function prepareRunOnce(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT fingerprint, outcome FROM idempotency
    WHERE seller_id = ? AND key_hash = ? AND part = ? AND at > ?`);
  const insert = db.prepare(`
    INSERT OR REPLACE INTO idempotency (seller_id, key_hash, part, fingerprint, at, outcome)
    VALUES (?, ?, ?, ?, ?, ?)`);
  const prune = db.prepare(PRUNE);
  return (
    scope: IdempotencyScope, fingerprint: Buffer, at: number, mutate: () => unknown,
  ): unknown => {
    const { sellerId, part } = scope;
    const keyHash = hashIdempotencyKey(scope);
    const oldest = at - IDEMPOTENCY_LIFE_MS;
    const row = find.get(sellerId, keyHash, part, oldest);
    if (row) {
      return replay(readBytes(row, 'fingerprint'), readText(row, 'outcome'), fingerprint);
    }
    const outcome = mutate();
    if (isRejection(outcome)) return outcome;
    insert.run(sellerId, keyHash, part, fingerprint, at, JSON.stringify(outcome));
    prune.run(sellerId, oldest, IDEMPOTENCY_PRUNE_STEP);
    return outcome;
  };
}
