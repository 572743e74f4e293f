/** What all parts of the store port have in common: who changes something, and pages of a list. */
import type { KeyId, SellerId } from '../domain/id.ts';

/** Whose catalogue is changed and by which key. */
export interface Actor {
  readonly sellerId: SellerId;
  readonly keyId: KeyId;
}

/** A change that is being made, and by what its repetition would be known. */
export interface Write extends Actor {
  /** Undefined where the client promises nothing about repetitions. */
  readonly idempotency?: Idempotency | undefined;
  /** Where it was asked for, where that is noted; undefined for the machine itself. */
  readonly address?: string;
}

/**
 * The Idempotency-Key of a request: of the changes that a seller sends with one key, only the first
 * is made, and the others are answered like it. What is made in several units numbers them.
 */
export interface Idempotency {
  readonly key: string;
  /** From 0. */
  readonly part: number;
}

/** Up to `limit` items after `after`, ordered by id. */
export interface PageQuery<Id> {
  readonly after: Id | undefined;
  readonly limit: number;
}
