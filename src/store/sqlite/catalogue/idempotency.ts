/**
 * Idempotency records in SQLite. All mutations run one after the other on the writer thread, so the
 * second of two concurrent ones finds the record of the first.
 */
import type { DatabaseSync } from 'node:sqlite';
import { IDEMPOTENCY_LIFE_MS } from '../../limits.ts';
import {
  fingerprintMutation, hashIdempotencyKey, type IdempotencyScope, isRejection, replay,
} from '../../rules/idempotency.ts';
import { IDEMPOTENCY_PRUNE_RECORDS, IDEMPOTENCY_PRUNE_STEP } from '../limits.ts';
import type { SellerId } from '../../../domain/id.ts';
import { readBytes, readText } from '../engine/row.ts';

const PRUNE = `
  DELETE FROM idempotency WHERE (seller_id, key_hash, part) IN (
    SELECT seller_id, key_hash, part FROM idempotency
    WHERE seller_id = ? AND at <= ? ORDER BY at LIMIT ?)`;

/** The oldest records of a seller, up to a time in milliseconds since 1970. */
interface OldRecords {
  readonly sellerId: SellerId;
  readonly before: number;
}

export function idempotencyMutations(db: DatabaseSync) {
  const prune = db.prepare(PRUNE);
  return {
    pruneIdempotency({ sellerId, before }: OldRecords): void {
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

interface IdempotentCall {
  readonly name: string;
  readonly input: unknown;
}

export class IdempotencyRecords {
  readonly #find;
  readonly #insert;
  readonly #prune;

  constructor(db: DatabaseSync) {
    this.#find = db.prepare(`
      SELECT fingerprint, outcome FROM idempotency
      WHERE seller_id = ? AND key_hash = ? AND part = ? AND at > ?`);
    this.#insert = db.prepare(`
      INSERT OR REPLACE INTO idempotency (seller_id, key_hash, part, fingerprint, at, outcome)
      VALUES (?, ?, ?, ?, ?, ?)`);
    this.#prune = db.prepare(PRUNE);
  }

  /**
   * The outcome of `mutate`, or the recorded one if the key was used before. Each new record
   * removes a few old ones, so tables shrink wherever keys are in use.
   * @throws AppError `idempotency_mismatch`
   */
  run(
    { name, input }: IdempotentCall, scope: IdempotencyScope, at: number, mutate: () => unknown,
  ): unknown {
    const { sellerId, part } = scope;
    const fingerprint = fingerprintMutation(name, input);
    const keyHash = hashIdempotencyKey(scope);
    const oldest = at - IDEMPOTENCY_LIFE_MS;
    const row = this.#find.get(sellerId, keyHash, part, oldest);
    if (row) {
      const record = {
        fingerprint: readBytes(row, 'fingerprint'), outcome: readText(row, 'outcome'),
      };
      return replay(record, fingerprint);
    }
    const outcome = mutate();
    if (isRejection(outcome)) return outcome;
    this.#insert.run(sellerId, keyHash, part, fingerprint, at, JSON.stringify(outcome));
    this.#prune.run(sellerId, oldest, IDEMPOTENCY_PRUNE_STEP);
    return outcome;
  }
}
