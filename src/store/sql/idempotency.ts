/**
 * Idempotency records: finds, writes and removes them. Mutations of one seller run one at a time,
 * so the second of two concurrent ones finds the record of the first.
 */
import type { SellerId } from '../../domain/id.ts';
import { IDEMPOTENCY_LIFE_MS, IDEMPOTENCY_PRUNE_RECORDS } from '../limits.ts';
import {
  fingerprintMutation, hashIdempotencyKey, type IdempotencyScope, isRejection, replay,
} from '../rules/idempotency.ts';
import { readBytes, readText, type Sql } from './sql.ts';

const FIND_RECORD = `
  SELECT fingerprint, outcome FROM idempotency
  WHERE seller_id = :sellerId AND key_hash = :keyHash AND part = :part AND at > :oldest`;
const WRITE_RECORD = `
  INSERT INTO idempotency (seller_id, key_hash, part, fingerprint, at, outcome)
  VALUES (:sellerId, :keyHash, :part, :fingerprint, :at, :outcome)
  ON CONFLICT (seller_id, key_hash, part) DO UPDATE
  SET fingerprint = excluded.fingerprint, at = excluded.at, outcome = excluded.outcome`;

/** Removes a seller's oldest records up to a time, in milliseconds since 1970. */
const PRUNE_IDEMPOTENCY = `
  DELETE FROM idempotency
  WHERE seller_id = :sellerId AND (key_hash, part) IN (
    SELECT i.key_hash, i.part FROM idempotency AS i
    WHERE i.seller_id = :sellerId AND i.at <= :before ORDER BY i.at LIMIT :limit)`;

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
    SELECT 1 AS found FROM idempotency WHERE seller_id = :sellerId AND at <= :before LIMIT 1`);
  return {
    hasOldRecords: async (sellerId: SellerId, before: number): Promise<boolean> =>
      await find.get({ sellerId, before }) !== undefined,
  };
}

/** A mutation, which its name and input identify in a retry. */
interface Mutation {
  readonly name: string;
  readonly input: unknown;
  readonly idempotency?: IdempotencyScope | undefined;
}

/**
 * Returns a function that returns the recorded outcome of a mutation, or the outcome of `mutate`,
 * which it records.
 * @param pruned How many expired records each new one removes, so that the table shrinks in use.
 */
export function prepareRunOnce(sql: Sql, pruned = 0) {
  const find = sql.prepare(FIND_RECORD);
  const write = sql.prepare(WRITE_RECORD);
  const prune = sql.prepare(PRUNE_IDEMPOTENCY);
  return async <Value>(
    { name, input, idempotency: scope }: Mutation, at: number,
    mutate: () => Value | Promise<Value>,
  ): Promise<Value> => {
    if (!scope) return mutate();
    const { sellerId, part } = scope;
    const key = { sellerId, keyHash: hashIdempotencyKey(scope), part };
    const fingerprint = fingerprintMutation(name, input);
    const oldest = at - IDEMPOTENCY_LIFE_MS;
    const row = await find.get({ ...key, oldest });
    // The cast: the fingerprint is of this mutation.
    if (row) {
      return replay(readBytes(row, 'fingerprint'), readText(row, 'outcome'), fingerprint) as Value;
    }
    const value = await mutate();
    if (isRejection(value)) return value;
    await write.run({ ...key, fingerprint, at, outcome: JSON.stringify(value) });
    if (pruned > 0) await prune.run({ sellerId, before: oldest, limit: pruned });
    return value;
  };
}
