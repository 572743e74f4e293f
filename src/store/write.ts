/** What the store ports have in common: who writes, retries of a write, and pages of a list. */
import type { KeyId, SellerId } from '../domain/id.ts';

/** Whose catalogue is changed, by which key, and from where. */
export interface Actor {
  readonly sellerId: SellerId;
  readonly keyId: KeyId;
  /** For the audit log; undefined for the machine itself. */
  readonly address?: string;
}

/** Who makes a mutation, and how a retry of it is recognised. */
export interface WriteContext extends Actor {
  /** Undefined if the client sent no Idempotency-Key. */
  readonly idempotency?: Idempotency | undefined;
}

/**
 * The Idempotency-Key of a request: the first mutation under a key is made, and retries are
 * answered with its recorded outcome. A request that makes several mutations numbers them.
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
