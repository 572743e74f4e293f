/**
 * Idempotency records: finds, writes and removes them. Mutations of one seller run one at a time,
 * so the second of two concurrent ones finds the record of the first.
 */
import type { SellerId } from '../../domain/id.ts';
import { forgottenUpTo } from '../../runtime/clock.ts';
import { IDEMPOTENCY_LIFE_MS, IDEMPOTENCY_PRUNE_RECORDS } from '../limits.ts';
import {
  fingerprintMutation, hashIdempotencyKey, type IdempotencyScope, type IdentifiedMutation,
  isRejection, replay,
} from '../rules/idempotency.ts';
import { readBytes, readText, type Sql } from './sql.ts';

const FIND_RECORD = `
  SELECT fingerprint, outcome FROM idempotency
  WHERE seller_id = :sellerId AND key_hash = :keyHash AND part = :part AND lived_at > :forgotten`;
const WRITE_RECORD = `
  INSERT INTO idempotency (seller_id, key_hash, part, fingerprint, at, lived_at, outcome)
  VALUES (:sellerId, :keyHash, :part, :fingerprint, :at, :livedAt, :outcome)
  ON CONFLICT (seller_id, key_hash, part) DO UPDATE
  SET fingerprint = excluded.fingerprint, at = excluded.at, lived_at = excluded.lived_at,
    outcome = excluded.outcome`;

/** Removes a seller's oldest records up to a lived time. */
const PRUNE_IDEMPOTENCY = `
  DELETE FROM idempotency
  WHERE seller_id = :sellerId AND (key_hash, part) IN (
    SELECT i.key_hash, i.part FROM idempotency AS i
    WHERE i.seller_id = :sellerId AND i.lived_at <= :before ORDER BY i.lived_at LIMIT :limit)`;

export function idempotencyMutations(sql: Sql) {
  const prune = sql.prepare(PRUNE_IDEMPOTENCY);
  return {
    async pruneIdempotency(
      { sellerId, before }: { readonly sellerId: SellerId; readonly before: number },
    ): Promise<void> {
      await prune.run({ sellerId, before, limit: IDEMPOTENCY_PRUNE_RECORDS });
    },
  };
}

export function idempotencyQueries(sql: Sql) {
  const find = sql.prepare(`
    SELECT 1 AS found FROM idempotency
    WHERE seller_id = :sellerId AND lived_at <= :before LIMIT 1`);
  return {
    hasOldRecords: async (sellerId: SellerId, before: number): Promise<boolean> =>
      await find.get({ sellerId, before }) !== undefined,
  };
}

interface Mutation extends IdentifiedMutation {
  readonly idempotency?: IdempotencyScope | undefined;
}

/**
 * Returns a function that returns the recorded outcome of a mutation, or the outcome of `mutate`,
 * which it records.
 * @param pruned How many expired records each new one removes, so that the table shrinks in use.
 */
export function prepareRunOnce(sql: Sql, lived: () => number, pruned = 0) {
  const find = sql.prepare(FIND_RECORD);
  const write = sql.prepare(WRITE_RECORD);
  const prune = sql.prepare(PRUNE_IDEMPOTENCY);
  return async <Value>(
    mutation: Mutation, at: number, mutate: () => Value | Promise<Value>,
  ): Promise<Value> => {
    const { idempotency: scope } = mutation;
    if (!scope) return mutate();
    const { sellerId, part } = scope;
    const key = { sellerId, keyHash: hashIdempotencyKey(scope), part };
    const livedAt = lived();
    const forgotten = forgottenUpTo(livedAt, IDEMPOTENCY_LIFE_MS);
    const row = await find.get({ ...key, forgotten });
    // The cast: the fingerprint is of this mutation.
    if (row) {
      return replay(readBytes(row, 'fingerprint'), readText(row, 'outcome'), mutation) as Value;
    }
    const value = await mutate();
    if (isRejection(value)) return value;
    const fingerprint = fingerprintMutation(mutation);
    await write.run({ ...key, fingerprint, at, livedAt, outcome: JSON.stringify(value) });
    if (pruned > 0) await prune.run({ sellerId, before: forgotten, limit: pruned });
    return value;
  };
}
