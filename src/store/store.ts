/**
 * The store port: everything that is kept, as whole units of work. A method that has resolved is
 * durable and all of it happened; one that has rejected changed nothing. Begin and commit never
 * show.
 * Every adapter passes the contract suite in `test/store/contract.ts`.
 */
import type { ApiKey, NewApiKey } from '../domain/api-key.ts';
import type { Currency } from '../domain/currency.ts';
import type { KeyId, KeyReference, ProductId, SellerId } from '../domain/id.ts';
import type { NewProduct, Product } from '../domain/product.ts';
import type { Scope } from '../domain/scope.ts';
import type { NewSeller, Seller } from '../domain/seller.ts';

/** Whose catalogue is changed and by which key. */
export interface Author {
  readonly sellerId: SellerId;
  readonly keyId: KeyId;
}

/** What a key grants, and where its seller's catalogue stands: the one look-up of a request. */
export interface Grant extends Author {
  readonly scopes: readonly Scope[];
  readonly addressRanges: readonly string[];
  /** Milliseconds since 1970; undefined means never. */
  readonly expiresAt: number | undefined;
  readonly currency: Currency;
  readonly position: number;
}

/** Up to `limit` items after `after`, ordered by id. */
export interface PageQuery<Id> {
  readonly after: Id | undefined;
  readonly limit: number;
}

/** A page and the position at which it was read. */
export interface ProductPage {
  readonly products: readonly Product[];
  /** Whether more products follow the last one. */
  readonly hasMore: boolean;
  readonly position: number;
}

/** A product as the history has recorded it. */
export interface RecordedProduct {
  readonly id: ProductId;
  readonly position: number;
  /** The product's JSON at that position (`formatProduct`). */
  readonly json: string;
}

export interface Store {
  /** 32 bytes shared by every process on this store, to sign cursors with. */
  readonly cursorKey: Uint8Array;

  createSeller(seller: NewSeller): Promise<Seller>;
  findSeller(id: SellerId): Promise<Seller | undefined>;
  listSellers(query: PageQuery<SellerId>): Promise<readonly Seller[]>;

  /** @throws AppError `not_found` (no such seller), `limit_reached` (too many live keys) */
  createKey(sellerId: SellerId, hash: string, key: NewApiKey): Promise<ApiKey>;
  listKeys(sellerId: SellerId, query: PageQuery<KeyId>): Promise<readonly ApiKey[]>;
  /**
   * Makes a key like the given one (name, scopes, ranges, length of life) and lets the old one end
   * after `overlapMs`, or earlier where it would have ended anyway.
   * @throws AppError `not_found` (no such key, or not a live one), `limit_reached`
   */
  rotateKey(key: KeyReference, hash: string, overlapMs: number): Promise<ApiKey>;
  /** Ends a key at once; ending it twice changes nothing. @throws AppError `not_found` */
  revokeKey(key: KeyReference): Promise<ApiKey>;
  /** The grant of the key with this hash; undefined where there is none or it was revoked. */
  findGrant(hash: string): Promise<Grant | undefined>;
  /** Notes the last use of a key. */
  noteKeyUse(author: Author, address: string): Promise<void>;

  /** @throws AppError `sku_taken` */
  createProduct(author: Author, product: NewProduct): Promise<RecordedProduct>;
  findProduct(sellerId: SellerId, id: ProductId): Promise<Product | undefined>;
  /** In the order of creation. */
  listProducts(sellerId: SellerId, query: PageQuery<ProductId>): Promise<ProductPage>;

  /** Finishes what is under way, then refuses everything. */
  close(): Promise<void>;
}
