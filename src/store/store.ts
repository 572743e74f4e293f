/**
 * The store port: everything that is kept, as whole units of work. A method that has resolved is
 * durable and all of it happened; one that has rejected changed nothing, unless its error says that
 * this is not known. Begin and commit never show. Every adapter passes the contract suite in
 * `test/store/contract.ts`.
 */
import type { ApiKey, NewApiKey } from '../domain/access/api-key.ts';
import type { Currency } from '../domain/catalogue/currency.ts';
import type { KeyId, KeyReference, ProductId, SellerId } from '../domain/id.ts';
import type { Precondition } from '../domain/precondition.ts';
import type {
  ProductFilter, ProductQuery, ProductSort,
} from '../domain/catalogue/product-query.ts';
import type { ProductPatch, ProductRow, ProductTarget } from '../domain/catalogue/product.ts';
import type { NewProduct, Product } from '../domain/catalogue/product-fields.ts';
import type { Scope } from '../domain/access/caller.ts';
import type { NewSeller, Seller } from '../domain/access/seller.ts';
import type { PortalStore } from './account-store.ts';
import type { StockStore } from './history-store.ts';
import type { StoreMetrics } from './store-metrics.ts';
import type { UsageStore } from './usage-store.ts';
import type { WebhookStore } from './webhook-store.ts';
import type { Actor, Idempotency, PageQuery, WriteContext } from './write.ts';

/** What a key grants, and where its seller's catalogue stands: the one look-up of a request. */
export interface Grant extends Actor {
  readonly scopes: readonly Scope[];
  readonly addressRanges: readonly string[];
  /** Milliseconds since 1970; undefined means never. */
  readonly expiresAt: number | undefined;
  readonly currency: Currency;
  readonly position: number;
}

/** A page and the position at which it was read. */
export interface ProductPage {
  readonly products: readonly Product[];
  /** Whether more products follow the last one. */
  readonly hasMore: boolean;
  readonly position: number;
}

/** What became of a product that was written. */
export interface WrittenProduct {
  readonly effect: 'created' | 'updated' | 'unchanged';
  readonly id: ProductId;
  /** Position of the product's last change: where it is unchanged, one that was taken before. */
  readonly position: number;
  /** The product's JSON at that position (`formatProduct`). */
  readonly json: string;
  /** Whether this change was made before, under the same idempotency key, and not again. */
  readonly isReplay: boolean;
}

/**
 * `upsert` sets the members that a row has, and keeps those that it leaves out; `create` rejects
 * existing products as `taken`.
 */
export type ImportMode = 'upsert' | 'create';
/** `incomplete`: a new product for which neither the row nor its defaults have every member. */
export type ImportEffect = 'created' | 'updated' | 'unchanged' | 'taken' | 'incomplete';

/** What became of the products of one unit of an import, in their order. */
export interface ImportedProducts {
  readonly effects: readonly ImportEffect[];
  /** Of the catalogue, after them. */
  readonly position: number;
  readonly isReplay: boolean;
}

/** An import that is tried and not made: a product that comes twice counts as there. */
export interface ImportDryRun {
  try(products: readonly ProductRow[]): Promise<readonly ImportEffect[]>;
  close(): Promise<void>;
}

/** What the products of a catalogue come to: exact, however large it is. */
export interface CatalogueTotals {
  readonly products: number;
  /** In stock, of all products together. */
  readonly units: bigint;
  /** Their prices together, in minor units. */
  readonly valueMinor: bigint;
}

/** Every product that a query finds, as they all stood at one position. */
export interface ProductExport {
  readonly position: number;
  /** Read it to its end or return it: it holds a snapshot open. */
  readonly pages: AsyncGenerator<readonly Product[], void, void>;
}

export interface Store extends StockStore, WebhookStore, PortalStore, UsageStore {
  /** 32 bytes shared by every process on this store, to sign cursors with. */
  readonly cursorKey: Uint8Array;

  createSeller(seller: NewSeller): Promise<Seller>;
  findSeller(id: SellerId): Promise<Seller | undefined>;
  listSellers(query: PageQuery<SellerId>): Promise<readonly Seller[]>;
  /**
   * A seller who is disabled keeps everything and may do nothing: keys and accounts are as if there
   * were none, sessions end, nothing is changed any more and no webhook is sent. Twice is as once.
   * @throws AppError `not_found`
   */
  setSellerDisabled(id: SellerId, isDisabled: boolean): Promise<Seller>;

  /**
   * The log of keys names where each was asked for: an `address` is empty for the machine itself.
   * Each key has a secret of its own, so that none is like another one: of those that are made with
   * one idempotency key the first is made, and the others are refused.
   * @throws AppError `not_found` (no such seller), `limit_reached` (too many live keys),
   *   `idempotency_mismatch`
   */
  createKey(
    sellerId: SellerId, hash: string, key: NewApiKey, address?: string, idempotency?: Idempotency,
  ): Promise<ApiKey>;
  findKey(key: KeyReference): Promise<ApiKey | undefined>;
  /** In the order of creation, or the other way round. */
  listKeys(
    sellerId: SellerId, query: PageQuery<KeyId>, isNewestFirst?: boolean,
  ): Promise<readonly ApiKey[]>;
  /**
   * Makes a key like the given one (name, scopes, ranges, length of life) and lets the old one end
   * after `overlapMs`, or earlier where it would have ended anyway.
   * @throws AppError `not_found` (no such key, or not a live one), `limit_reached`, and
   *   `idempotency_mismatch` as above
   */
  rotateKey(
    key: KeyReference, hash: string, overlapMs: number, address?: string, idempotency?: Idempotency,
  ): Promise<ApiKey>;
  /** Ends a key at once; ending it twice changes nothing. @throws AppError `not_found` */
  revokeKey(key: KeyReference, address?: string): Promise<ApiKey>;
  /**
   * The grant of the key with this hash; undefined where there is none, it was revoked, or its
   * seller is disabled.
   */
  findGrant(hash: string): Promise<Grant | undefined>;
  /** Notes the last use of a key. */
  noteKeyUse(actor: Actor, address: string): Promise<void>;

  /** @throws AppError `sku_taken` */
  createProduct(write: WriteContext, product: NewProduct): Promise<WrittenProduct>;
  /** Creates the product, or replaces the one that has its SKU. @throws `precondition_failed` */
  putProduct(
    write: WriteContext, product: NewProduct, precondition: Precondition,
  ): Promise<WrittenProduct>;
  /** @throws AppError `not_found`, `precondition_failed`, `sku_taken` */
  patchProduct(
    write: WriteContext, target: ProductTarget, patch: ProductPatch, precondition: Precondition,
  ): Promise<WrittenProduct>;
  /** The SKU is free again; no id is given twice. @throws `not_found`, `precondition_failed` */
  deleteProduct(
    write: WriteContext, target: ProductTarget, precondition: Precondition,
  ): Promise<{ readonly isReplay: boolean }>;
  /** Writes up to 1,000 rows as one unit; those that are `taken` or `incomplete` change nothing. */
  importProducts(
    write: WriteContext, products: readonly ProductRow[], mode: ImportMode,
  ): Promise<ImportedProducts>;
  dryRunImport(sellerId: SellerId, mode: ImportMode): ImportDryRun;
  findProduct(sellerId: SellerId, target: ProductTarget): Promise<Product | undefined>;
  /** In the order of creation. */
  listProducts(sellerId: SellerId, query: PageQuery<ProductId>): Promise<ProductPage>;
  /**
   * Answers from a projection of the catalogue that has come to `position` or beyond.
   * @throws AppError `unavailable`, with how far it is, where that takes too long
   */
  searchProducts(
    sellerId: SellerId, query: ProductQuery, position: number,
  ): Promise<ProductPage>;
  /** At `position` or beyond. @throws AppError `unavailable`, as above */
  readTotals(sellerId: SellerId, position: number): Promise<CatalogueTotals>;
  /**
   * How many products have no more than `stockMax` in stock, counted no further than to `limit`.
   * @throws AppError `unavailable`, as above
   */
  countLowStock(
    sellerId: SellerId, stockMax: number, position: number, limit: number,
  ): Promise<number>;
  /** @throws AppError `unavailable`, as above, and where too many exports are under way */
  exportProducts(
    sellerId: SellerId, filter: ProductFilter, sort: ProductSort, position: number,
  ): Promise<ProductExport>;

  /** Forgets, in small steps, what is too old to be asked for under its idempotency key. */
  pruneIdempotency(): Promise<void>;

  /** How this store is doing: a look at its files, and no query. */
  readMetrics(): Promise<StoreMetrics>;

  /** Finishes what is under way, then refuses everything. */
  close(): Promise<void>;
}
