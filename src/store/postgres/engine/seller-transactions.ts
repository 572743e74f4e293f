/**
 * Runs mutations of shared SQL, each in a transaction of its own. It locks its seller first, so
 * that what it reads stays as it is; one without a seller relies on unique keys.
 */
import type { SellerId } from '../../../domain/id.ts';
import type { Moment } from '../../../runtime/clock.ts';
import type { IdempotencyScope } from '../../rules/idempotency.ts';
import { prepareRunOnce } from '../../sql/idempotency.ts';
import type { Sql } from '../../sql/sql.ts';
import { POSTGRES_CONFLICT_ATTEMPTS } from '../limits.ts';
import { BEGIN, COMMIT, type Statement } from '../wire/statement-run.ts';
import type { Pool } from '../wire/pool.ts';
import {
  explainFailure, isConflict, isOutcomeUnknown, isUniqueViolation, unknownOutcome,
} from './failures.ts';
import { sqlOf } from '../sql.ts';

/** A mutation: its name and input identify it for retries. */
interface SharedMutation<Value> {
  readonly name: string;
  readonly input: unknown;
  /** Whose rows it changes; undefined if it creates the seller, or changes no seller's. */
  readonly sellerId: SellerId | undefined;
  readonly idempotency?: IdempotencyScope | undefined;
  /** Executed once the seller is locked, in the same round trip. */
  readonly first?: readonly Statement[];
  run(sql: Sql, now: Moment): Value | Promise<Value>;
}

/** Resolves when the mutation is durable. */
export type RunTransaction = <Value>(mutation: SharedMutation<Value>) => Promise<Value>;

export function prepareRunTransaction(pool: Pool, now: () => Moment): RunTransaction {
  /** The last mutation of each seller, which the next one waits for without a connection. */
  const last = new Map<SellerId, Promise<void>>();

  function transact<Value>(mutation: SharedMutation<Value>): Promise<Value> {
    const { sellerId, first = [] } = mutation;
    return pool.use(async (connection) => {
      const at = now();
      const sql = sqlOf(connection);
      await connection.run([BEGIN, ...(sellerId === undefined ? [] : [
        { text: 'SELECT FROM seller WHERE id = $1 FOR UPDATE', values: [sellerId] },
      ]), ...first]);
      const runOnce = prepareRunOnce(sql, () => at.lived);
      const value = await runOnce(mutation, at.wall, () => mutation.run(sql, at));
      await connection.run([COMMIT]).catch((error: unknown) => {
        throw isOutcomeUnknown(error) ? unknownOutcome(error) : error;
      });
      return value;
    });
  }

  async function retry<Value>(mutation: SharedMutation<Value>): Promise<Value> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await transact(mutation);
      } catch (error) {
        // A row that another transaction has inserted will be found now.
        const isRetried = isConflict(error) || isUniqueViolation(error);
        if (isRetried && attempt < POSTGRES_CONFLICT_ATTEMPTS) continue;
        throw explainFailure(error);
      }
    }
  }

  return (mutation) => {
    const { sellerId } = mutation;
    if (sellerId === undefined) return retry(mutation);
    const value = (last.get(sellerId) ?? Promise.resolve()).then(() => retry(mutation));
    const end = value.then(() => {}, () => {}).then(() => {
      if (last.get(sellerId) === end) last.delete(sellerId);
    });
    last.set(sellerId, end);
    return value;
  };
}
