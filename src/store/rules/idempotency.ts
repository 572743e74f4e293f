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

/** A mutation that may be a retry. */
export interface IdentifiedMutation {
  readonly name: string;
  readonly input: unknown;
}

/**
 * Identifies a mutation, in any order of its members. Excludes the actor, since any API key of the
 * seller may retry, and generated values, which differ in every attempt. The names of the other
 * members are hashed: they must never change.
 */
export function fingerprintMutation(mutation: IdentifiedMutation): Buffer {
  return hash([mutation.name, sortMembers(readHashed(mutation))]);
}

/** Includes the seller, so equal keys of two sellers have different hashes. */
export function hashIdempotencyKey({ sellerId, key }: IdempotencyScope): Uint8Array {
  return createHash('sha256').update(`${sellerId}:${key}`).digest();
}

/**
 * The recorded outcome, if the retry has the recorded fingerprint.
 * @throws AppError `idempotency_mismatch` if the key was used for another request
 */
export function replay(
  recorded: Uint8Array, outcome: string, mutation: IdentifiedMutation,
): unknown {
  // Records of earlier versions have the hash of the members in the order in which they were sent.
  const isRetry = fingerprintMutation(mutation).equals(recorded)
    || hash([mutation.name, readHashed(mutation)]).equals(recorded);
  // Mutations return objects, so the outcome is the JSON of one.
  if (isRetry) return { ...JSON.parse(outcome) as object, isReplay: true };
  throw new AppError('idempotency_mismatch', MISMATCH);
}

const MISMATCH = 'This Idempotency-Key was already used for another request, which was applied. '
  + 'Nothing was changed now. If this is a retry with other values, do not send it with a new key, '
  + 'which would apply it again: first read what the other request changed. Send a new key with '
  + 'each new request.';

/** Most mutations reject by throwing; the others return a `rejection` in their outcome. */
export function isRejection(outcome: unknown): boolean {
  // The cast: a member of any value but null and undefined can be read.
  return (outcome as { readonly rejection?: unknown } | null | undefined)?.rejection !== undefined;
}

function hash(value: unknown): Buffer {
  return createHash('sha256').update(JSON.stringify(value)).digest();
}

function readHashed({ input }: IdentifiedMutation): object {
  // Mutations that take an idempotency key have objects as their input.
  const { actor: _, generated: __, ...rest } = input as { actor?: unknown; generated?: unknown };
  return rest;
}

/**
 * In a new product, null is the same as no value; in a patch or a row, it removes one. The names
 * are those of parsed values, never a client's. A loop, since a batch may have 10,000 changes.
 */
function sortMembers(value: unknown, isNewProduct = false): unknown {
  if (Array.isArray(value)) return value.map((item) => sortMembers(item));
  if (typeof value !== 'object' || value === null) return value;
  // The cast: any object can be read by name, and its values stay unknown.
  const members = value as Readonly<Record<string, unknown>>;
  const sorted: Record<string, unknown> = {};
  for (const name of Object.keys(members).sort()) {
    if (members[name] === null && isNewProduct) continue;
    sorted[name] = sortMembers(members[name], name === 'product');
  }
  return sorted;
}
