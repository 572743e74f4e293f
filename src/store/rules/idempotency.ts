/**
 * Idempotency (draft-ietf-httpapi-idempotency-key-header-07): recognises a retry and returns the
 * recorded outcome. A record commits with its mutation. Only hashes of keys are stored, since a
 * client may send a secret by mistake. Rejections leave no record: they changed nothing, and a
 * retry may succeed.
 */
import { createHash } from 'node:crypto';
import { AppError } from '../../domain/error.ts';
import type { SellerId } from '../../domain/id.ts';
import type { Idempotency } from '../write.ts';

/** An idempotency key, with its seller. */
export interface IdempotencyScope extends Idempotency {
  readonly sellerId: SellerId;
}

/**
 * Identifies a mutation. Excludes the actor, since any API key of the seller may retry, and
 * generated values, which differ in every attempt. The names and the order of the other members
 * are hashed: they must never change.
 */
export function fingerprintMutation(name: string, input: unknown): Buffer {
  // Mutations that take an idempotency key have objects as their input.
  const { actor: _, generated: __, ...rest } = input as { actor?: unknown; generated?: unknown };
  return createHash('sha256').update(JSON.stringify([name, rest])).digest();
}

/** Includes the seller, so equal keys of two sellers have different hashes. */
export function hashIdempotencyKey({ sellerId, key }: IdempotencyScope): Uint8Array {
  return createHash('sha256').update(`${sellerId}:${key}`).digest();
}

/**
 * The recorded outcome, if the retry has the recorded fingerprint.
 * @throws AppError `idempotency_mismatch` if the key was used for another request
 */
export function replay(recorded: Uint8Array, outcome: string, fingerprint: Buffer): unknown {
  // Mutations return objects, so the outcome is the JSON of one.
  if (fingerprint.equals(recorded)) return { ...JSON.parse(outcome) as object, isReplay: true };
  const detail = 'This Idempotency-Key was already used for another request.';
  throw new AppError('idempotency_mismatch', `${detail} Use a new key for each new request.`);
}

/** Most mutations reject by throwing; the others return a `rejection` in their outcome. */
export function isRejection(outcome: unknown): boolean {
  // The cast: a member of any value but null and undefined can be read.
  return (outcome as { readonly rejection?: unknown } | null | undefined)?.rejection !== undefined;
}
