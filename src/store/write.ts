/** Types shared by the store ports: actors, idempotent writes, and pages of a list. */
import type { KeyId, SellerId } from '../domain/id.ts';

/** The seller, key and address of a write. */
export interface Actor {
  readonly sellerId: SellerId;
  readonly keyId: KeyId;
  /** Who acts without a key: 1..100 code points, if given. */
  readonly actorName?: string | undefined;
  /** For the audit log; undefined for the machine itself. */
  readonly address?: string;
}

/** The actor of a mutation, and its idempotency key. */
export interface WriteContext extends Actor {
  /** Undefined if the client sent no Idempotency-Key. */
  readonly idempotency?: Idempotency | undefined;
}

/**
 * The Idempotency-Key of a request. The first mutation under a key is applied; retries return its
 * recorded outcome. A request with several mutations numbers them.
 */
export interface Idempotency {
  readonly key: string;
  /** Which of the request's mutations, from 0. */
  readonly part: number;
}

/** Up to `limit` items after `after`, ordered by id. */
export interface PageQuery<Id> {
  readonly after: Id | undefined;
  readonly limit: number;
}
