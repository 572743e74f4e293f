/**
 * Idempotency records in SQLite. Mutations run one at a time on the writer thread, so the second of
 * two concurrent ones finds the record of the first.
 */
import type { DatabaseSync } from 'node:sqlite';
import { IDEMPOTENCY_LIFE_MS, IDEMPOTENCY_PRUNE_STEP } from '../../limits.ts';
import {
  hashIdempotencyKey, type IdempotencyScope, isRejection, replay,
} from '../../rules/idempotency.ts';
import { FIND_RECORD, PRUNE_IDEMPOTENCY, WRITE_RECORD } from '../../sql/idempotency.ts';
import { readBytes, readText } from '../../sql/row.ts';

/**
 * Returns a function that returns the outcome of `mutate`, or the recorded one if the key was used
 * before; it throws AppError `idempotency_mismatch` if that was for another request. Each new
 * record removes a few expired ones, so tables shrink while keys are in use.
 */
export function prepareRunOnce(db: DatabaseSync) {
  const find = db.prepare(FIND_RECORD);
  const write = db.prepare(WRITE_RECORD);
  const prune = db.prepare(PRUNE_IDEMPOTENCY);
  return (
    scope: IdempotencyScope, fingerprint: Buffer, at: number, mutate: () => unknown,
  ): unknown => {
    const { sellerId, part } = scope;
    const keyHash = hashIdempotencyKey(scope);
    const oldest = at - IDEMPOTENCY_LIFE_MS;
    const row = find.get({ sellerId, keyHash, part, oldest });
    if (row) {
      return replay(readBytes(row, 'fingerprint'), readText(row, 'outcome'), fingerprint);
    }
    const record = (outcome: unknown): unknown => {
      if (isRejection(outcome)) return outcome;
      const text = JSON.stringify(outcome);
      write.run({ sellerId, keyHash, part, fingerprint, at, outcome: text });
      prune.run({ sellerId, before: oldest, limit: IDEMPOTENCY_PRUNE_STEP });
      return outcome;
    };
    const outcome = mutate();
    return outcome instanceof Promise ? outcome.then(record) : record(outcome);
  };
}
