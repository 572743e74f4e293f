/**
 * The access port: sellers, their API keys, and what a key grants; and the usage port: request
 * counts per key and hour.
 */
import type { ApiKey, NewApiKey, StoredSecret } from '../domain/access/api-key.ts';
import type { Requester } from '../domain/access/audit.ts';
import type { Scope } from '../domain/access/caller.ts';
import type {
  NewSeller, Seller, SellerPatch, SellerReference, ShopSettings,
} from '../domain/access/seller.ts';
import type { Currency } from '../domain/catalogue/currency.ts';
import type { KeyId, KeyReference, SellerId } from '../domain/id.ts';
import type { Generation } from '../domain/revision.ts';
import type { Actor, PageQuery, WriteContext } from './write.ts';

/** What a key grants, and its seller's position: the only look-up that authenticates a request. */
export interface Grant extends Actor {
  readonly scopes: readonly Scope[];
  readonly addressRanges: readonly string[];
  readonly rateLimitPerMinute: number | undefined;
  /** Milliseconds since 1970; undefined means never. */
  readonly expiresAt: number | undefined;
  /** The same, in lived time (runtime/clock.ts). */
  readonly livedUntil: number | undefined;
  readonly currency: Currency;
  readonly position: number;
}

/** Who requests it, and the idempotency key. */
interface KeyContext extends Requester, Pick<WriteContext, 'idempotency'> {}

export interface AccessStore {
  /** As it was when the store was opened. It changes only while no process has it open. */
  readonly generation: Generation;
  /** @throws AppError `external_id_taken` */
  createSeller(seller: NewSeller): Promise<Seller>;
  findSeller(seller: SellerReference): Promise<Seller | undefined>;
  /** In creation order, but in any order within a millisecond. */
  listSellers(query: PageQuery<SellerId>): Promise<readonly Seller[]>;
  /**
   * A disabled seller keeps all data but has no access: keys and accounts count as unknown,
   * sessions end, the catalogue does not change, and no webhook is sent. Idempotent.
   * @throws AppError `not_found`
   */
  setSellerDisabled(id: SellerId, isDisabled: boolean): Promise<Seller>;
  /**
   * Deletes all data of a disabled seller, except its id in the audit log of the server. It takes
   * many steps; a call after one that was interrupted continues. Returns when the deletion began,
   * in milliseconds since 1970. Idempotent. @throws AppError `not_found`, `seller_enabled`
   */
  deleteSeller(id: SellerId): Promise<number>;
  /** @throws AppError `not_found`, `external_id_taken` */
  updateSeller(id: SellerId, patch: SellerPatch): Promise<Seller>;
  setShopSettings(
    sellerId: SellerId, settings: Partial<ShopSettings>, by: Requester,
  ): Promise<void>;

  /**
   * Since the secret cannot be shown again, a retry under an idempotency key is rejected.
   * @throws AppError `not_found` (no such seller), `limit_reached` (too many live keys),
   *   `idempotency_mismatch`, `browser_refused` (an account that is no owner any more)
   */
  createKey(
    sellerId: SellerId, secret: StoredSecret, key: NewApiKey, context?: KeyContext,
  ): Promise<ApiKey>;
  findKey(key: KeyReference): Promise<ApiKey | undefined>;
  /** The seller's key with this hash, even if it is revoked or expired. */
  findKeyByHash(sellerId: SellerId, hash: string): Promise<ApiKey | undefined>;
  /** In creation order, oldest first by default. */
  listKeys(
    sellerId: SellerId, query: KeyQuery, isNewestFirst?: boolean,
  ): Promise<readonly ApiKey[]>;
  /**
   * Creates a key with the name, scopes, ranges, rate limit and lifetime of the given one, which
   * expires after `overlapMs`, or at its own expiry if that is earlier.
   * @throws AppError `not_found` (no such key, or it is revoked or expired), `limit_reached`,
   *   `idempotency_mismatch`, `browser_refused`
   */
  rotateKey(
    key: KeyReference, secret: StoredSecret, overlapMs: number, context?: KeyContext,
  ): Promise<ApiKey>;
  /** Takes effect immediately; idempotent. @throws AppError `not_found`, `browser_refused` */
  revokeKey(key: KeyReference, by?: Requester): Promise<ApiKey>;
  /**
   * Undefined for an unknown or revoked key, and if the seller is disabled. Every request needs
   * this, so a store that has the answer at hand returns it without a promise.
   */
  findGrant(hash: string): Grant | undefined | Promise<Grant | undefined>;
  noteKeyUse(actor: Actor, address: string): Promise<void>;
}

interface KeyQuery extends PageQuery<KeyId> {
  /** Only keys that are neither revoked nor expired at this time. */
  readonly liveAt?: number;
}

export interface KeyUsage {
  readonly keyId: KeyId;
  /** Hours since 1970, in UTC. */
  readonly hour: number;
  /** All answered requests, rejected ones included. */
  readonly requests: number;
  /** Requests rejected for any reason. */
  readonly refusals: number;
}

export type CountedUsage = KeyUsage & KeyReference;

export interface UsageStore {
  /** Adds to earlier counts, and removes those older than 8 days. */
  noteUsage(usage: readonly CountedUsage[]): Promise<void>;
  /** Up to `limit` entries from the hour `since` on, newest first. */
  readUsage(
    sellerId: SellerId, query: { readonly since: number; readonly limit: number },
  ): Promise<readonly KeyUsage[]>;
}
