/**
 * Idempotency records: what was answered under an Idempotency-Key
 * (draft-ietf-httpapi-idempotency-key-header-07). Only a hash of the key is stored, since a client
 * may send a secret by mistake. A record commits with its change; all changes run one after the
 * other on the writer thread, so the second of two concurrent ones finds it. Rejections leave no
 * record: they changed nothing, and a retry may succeed.
 */
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { IDEMPOTENCY_LIFE_MS } from '../../limits.ts';
import { IDEMPOTENCY_PRUNE_RECORDS, IDEMPOTENCY_PRUNE_STEP } from '../limits.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { Idempotency } from '../../write.ts';
import { readBytes, readText } from '../engine/row.ts';

/** The key of a change, and whose it is. */
export interface IdempotencyScope extends Idempotency {
  readonly sellerId: SellerId;
}

const PRUNE = `
  DELETE FROM idempotency WHERE (seller_id, key_hash, part) IN (
    SELECT seller_id, key_hash, part FROM idempotency
    WHERE seller_id = ? AND at <= ? ORDER BY at LIMIT ?)`;

/** The oldest records of a seller, and when they end: milliseconds since 1970. */
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
    // Each new record takes a few old ones away, so their number falls wherever keys are in use.
    this.#prune = db.prepare(PRUNE);
  }

  /**
   * What `run` returns; or, where the key was used before, what it returned then.
   * @throws AppError `idempotency_mismatch` where it was used for something else
   */
  run(
    { sellerId, key, part }: IdempotencyScope, asked: unknown, at: number, run: () => unknown,
  ): unknown {
    const fingerprint = createHash('sha256').update(JSON.stringify(asked)).digest();
    const oldest = at - IDEMPOTENCY_LIFE_MS;
    const keyHash = hashIdempotencyKey(sellerId, key);
    const record = this.#find.get(sellerId, keyHash, part, oldest);
    if (record) {
      if (fingerprint.equals(readBytes(record, 'fingerprint'))) {
        // What units return are objects, and this is the JSON of one.
        return { ...JSON.parse(readText(record, 'outcome')) as object, isReplay: true };
      }
      const detail = 'This Idempotency-Key was sent before, with another request.';
      throw new AppError('idempotency_mismatch', `${detail} Take a new key for a new request.`);
    }
    const outcome = run();
    if (isRejection(outcome)) return outcome;
    this.#insert.run(sellerId, keyHash, part, fingerprint, at, JSON.stringify(outcome));
    this.#prune.run(sellerId, oldest, IDEMPOTENCY_PRUNE_STEP);
    return outcome;
  }
}

/** With the seller, so that equal keys of two sellers have different hashes. */
function hashIdempotencyKey(sellerId: SellerId, key: string): Uint8Array {
  return createHash('sha256').update(`${sellerId}:${key}`).digest();
}

/** Most units refuse by throwing; one that has more to tell says so in what it returns. */
function isRejection(outcome: unknown): boolean {
  return typeof outcome === 'object' && outcome !== null && 'rejection' in outcome
    && outcome.rejection !== undefined;
}
