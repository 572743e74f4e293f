/**
 * The store port: everything that is kept, as whole units of work. A method that has resolved is
 * durable and all of it happened; one that has rejected changed nothing. Begin and commit never
 * show.
 * Every adapter passes the contract suite in `test/store/contract.ts`.
 */
import type { ApiKey, NewApiKey } from '../domain/api-key.ts';
import type { Change, ChangeType } from '../domain/change.ts';
import type { Currency } from '../domain/currency.ts';
import type { KeyId, KeyReference, ProductId, SellerId } from '../domain/id.ts';
import type { Precondition } from '../domain/precondition.ts';
import type { ProductFilter, ProductQuery, ProductSort } from '../domain/product-query.ts';
import type {
  NewProduct, Product, ProductPatch, ProductTarget, Sku,
} from '../domain/product.ts';
import type { Scope } from '../domain/scope.ts';
import type { NewSeller, Seller } from '../domain/seller.ts';
import type { StockChange, StockResult } from '../domain/stock-change.ts';
import type { StockSync } from '../domain/stock-sync.ts';

/** Whose catalogue is changed and by which key. */
export interface Author {
  readonly sellerId: SellerId;
  readonly keyId: KeyId;
}

/** A change that is being made, and by what its repetition would be known. */
export interface Write extends Author {
  /** Undefined where the client promises nothing about repetitions. */
  readonly idempotency?: Idempotency | undefined;
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

/** `create` leaves the products that are there alone, and counts them as `taken`. */
export type ImportMode = 'upsert' | 'create';
export type ImportEffect = 'created' | 'updated' | 'unchanged' | 'taken';

/** What became of the products of one unit of an import, in their order. */
export interface ImportedProducts {
  readonly effects: readonly ImportEffect[];
  /** Of the catalogue, after them. */
  readonly position: number;
  readonly isReplay: boolean;
}

/** An import that is tried and not made: a product that comes twice counts as there. */
export interface ImportPreview {
  try(products: readonly NewProduct[]): Promise<readonly ImportEffect[]>;
  close(): Promise<void>;
}

/** Every product that a query finds, as they all stood at one position. */
export interface ProductExport {
  readonly position: number;
  /** Read it to its end or return it: it holds a snapshot open. */
  readonly pages: AsyncGenerator<readonly Product[], void, void>;
}

/** What became of a call that changes stock. */
export interface SyncedStock {
  /** In the order of the changes. */
  readonly results: readonly StockResult[];
  /** Products that a full count did not name, and that were in stock. */
  readonly zeroed: number;
  /** Why nothing was changed; undefined where the call was made, or tried. */
  readonly refusal: 'failures' | 'zero_limit' | undefined;
  /** Of the catalogue, after it; where it was tried, as if it had been made. */
  readonly position: number;
  readonly isReplay: boolean;
}

/** Calls that change stock, tried one after the other and not made. */
export interface StockTrial {
  try(changes: readonly StockChange[]): Promise<Pick<SyncedStock, 'results' | 'position'>>;
  close(): Promise<void>;
}

/** Up to `limit` changes after a position. */
export interface ChangeQuery {
  readonly after: number;
  readonly limit: number;
  /** Undefined for all. */
  readonly types?: readonly ChangeType[] | undefined;
}

/** Changes in the order of their positions. */
export interface ChangePage {
  readonly changes: readonly Change[];
  /** All changes up to here were looked at: where to go on. */
  readonly next: number;
  /** Of the catalogue, when the page was read: there is more where it is beyond `next`. */
  readonly position: number;
}

/** Which movements of stock; conditions that are undefined are not asked for. */
export interface MovementFilter {
  /** Of the product that has this SKU, and of those that had it when they were deleted. */
  readonly sku?: Sku | undefined;
  readonly productId?: ProductId | undefined;
  readonly source?: string | undefined;
  readonly reason?: string | undefined;
  /** Milliseconds since 1970, inclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export interface MovementQuery {
  readonly filter: MovementFilter;
  /** Those after this position, and up to that one. */
  readonly after: number;
  readonly upTo: number;
  /** Newest first. */
  readonly isDescending: boolean;
  readonly limit: number;
}

export interface MovementPage {
  readonly movements: readonly Change[];
  /** The position with which to go on: as `after`, or as `upTo` of a descending query. */
  readonly next: number | undefined;
}

/** The stock of a product as it stood. */
export interface StockLevelAt {
  readonly id: ProductId;
  readonly sku: Sku;
  readonly stock: number;
  /** Of its last change until then. */
  readonly position: number;
}

export interface StockLevelPage {
  readonly levels: readonly StockLevelAt[];
  readonly hasMore: boolean;
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
  createProduct(write: Write, product: NewProduct): Promise<WrittenProduct>;
  /** Creates the product, or replaces the one that has its SKU. @throws `precondition_failed` */
  putProduct(
    write: Write, product: NewProduct, precondition: Precondition,
  ): Promise<WrittenProduct>;
  /** @throws AppError `not_found`, `precondition_failed`, `sku_taken` */
  patchProduct(
    write: Write, target: ProductTarget, patch: ProductPatch, precondition: Precondition,
  ): Promise<WrittenProduct>;
  /** The SKU is free again; no id is given twice. @throws `not_found`, `precondition_failed` */
  deleteProduct(
    write: Write, target: ProductTarget, precondition: Precondition,
  ): Promise<{ readonly isReplay: boolean }>;
  /** Writes up to 1,000 products as one unit; none is refused but those that are `taken`. */
  importProducts(
    write: Write, products: readonly NewProduct[], mode: ImportMode,
  ): Promise<ImportedProducts>;
  previewImport(sellerId: SellerId, mode: ImportMode): ImportPreview;
  /** Changes the stock of products, as one unit; or says what would become of it (`isDryRun`). */
  syncStock(write: Write, sync: StockSync, isDryRun: boolean): Promise<SyncedStock>;
  /**
   * For changes of one source that come in parts: each is tried on what the ones before would have
   * made of a catalogue that stands at `position`.
   */
  tryStock(author: Author, position: number, source: string | undefined): StockTrial;

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
  /** @throws AppError `unavailable`, as above, and where too many exports are under way */
  exportProducts(
    sellerId: SellerId, filter: ProductFilter, sort: ProductSort, position: number,
  ): Promise<ProductExport>;

  /**
   * What happened after a position. A page may hold fewer changes than there are.
   * @throws AppError `history_pruned` where changes after `after` are not kept any more,
   *   `invalid_query` where the catalogue has not come to `after`
   */
  listChanges(sellerId: SellerId, query: ChangeQuery): Promise<ChangePage>;
  /**
   * The history filtered to what moved stock, from where it is kept on. A page may hold fewer
   * movements than there are.
   */
  listMovements(sellerId: SellerId, query: MovementQuery): Promise<MovementPage>;
  /** Position of the last change at this time or before, milliseconds since 1970. */
  findPositionAt(sellerId: SellerId, at: number): Promise<number>;
  /**
   * The stock of every product as it stood at a position, in the order of their creation.
   * @throws AppError `history_pruned`, `invalid_query` as above
   */
  listStockAt(
    sellerId: SellerId, position: number, query: PageQuery<ProductId>,
  ): Promise<StockLevelPage>;
  /**
   * Calls `listener` within 50 ms after each commit of any process, and at once after one of this
   * process; once for several. Call what it returns to end that.
   */
  watchCommits(listener: () => void): () => void;

  /**
   * Removes the changes before a time (milliseconds since 1970), in small steps; but never what
   * the catalogue as it stands could not be told without.
   */
  pruneHistory(before: number): Promise<void>;

  /** Finishes what is under way, then refuses everything. */
  close(): Promise<void>;
}
