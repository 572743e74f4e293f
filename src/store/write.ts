/** Types shared by the store ports: actors, idempotent writes, and pages of a list. */
import type { ChangeType } from '../domain/catalogue/change.ts';
import type { ImportCounts, NewImport } from '../domain/catalogue/import.ts';
import type { Product } from '../domain/catalogue/product-fields.ts';
import type { Generation } from '../domain/revision.ts';
import type { AccountId, ImportId, KeyId, SellerId } from '../domain/id.ts';

/** The seller, key and address of a write. */
export interface Actor {
  readonly sellerId: SellerId;
  readonly keyId: KeyId;
  /** Who acts without a key: 1..100 code points, if given. */
  readonly actorName?: string | undefined;
  /** Of the catalogue, for preconditions. Not recorded. */
  readonly generation?: Generation;
  /** The portal account that acts. Webhooks are changed only if it is an owner. Not recorded. */
  readonly accountId?: AccountId | undefined;
  /** For the audit log; undefined for the machine itself. */
  readonly address?: string | undefined;
  /** Decides on each change of a product before it is written. Not recorded. */
  readonly review?: Review | undefined;
}

/** A change to be reviewed. */
export interface ChangeToReview {
  readonly type: ChangeType;
  readonly actor: Actor;
  readonly before: Product | undefined;
  /** Of a deletion, the last state. */
  readonly after: Product;
  /** Of a change of stock. */
  readonly reason?: string | undefined;
  readonly source?: string | undefined;
  readonly isDryRun: boolean;
}

/** Reviews changes before they are written (`rules/review.ts`). */
export interface Review {
  /** Returns why a change is rejected. An error means that nothing may be written. */
  ask(change: ChangeToReview): string | undefined;
}

/** The part of an import that one mutation writes. */
export interface ImportPart {
  /** Undefined in the first part: it creates the record, and its outcome has the id. */
  readonly id: ImportId | undefined;
  readonly record: NewImport;
  /** Rows that the mutation does not see, such as `failed` ones. */
  readonly counts: ImportCounts;
  readonly isLast: boolean;
}

/** The import of an outcome; undefined if the mutation was not part of one. */
export interface ImportReference {
  readonly importId?: ImportId | undefined;
}

/** The actor of a mutation, its idempotency key, and the import that it is part of. */
export interface WriteContext extends Actor {
  /** Undefined if the client sent no Idempotency-Key. */
  readonly idempotency?: Idempotency | undefined;
  /** For mutations that return an `ImportReference`. */
  readonly import?: ImportPart | undefined;
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

/** How many entries a list has. */
export interface ListCount {
  readonly count: number;
  /** Whether there are no more. */
  readonly isExact: boolean;
}

/** Up to `limit` items after `after`, ordered by id. */
export interface PageQuery<Id> {
  readonly after: Id | undefined;
  readonly limit: number;
}
