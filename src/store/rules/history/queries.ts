/**
 * The queries that the algorithms of this folder need. Each may be a round trip to a database, so
 * they take many products or positions at once, and no two of them need to read one snapshot:
 * change events are immutable, and the algorithms check in the end what pruning may have removed.
 *
 * The changes of a product form its version chain: each has the position of the previous one.
 */
import type { Change } from '../../../domain/catalogue/change.ts';
import type { ImportRecord, RevertedChanges } from '../../../domain/catalogue/import.ts';
import type { Product, Sku } from '../../../domain/catalogue/product-fields.ts';
import type { StockChange } from '../../../domain/catalogue/stock-change.ts';
import type { ImportId, ProductId, SellerId } from '../../../domain/id.ts';
import type { CatalogueStore } from '../../catalogue-store.ts';
import type { QueriesOf } from '../../sql/port-methods.ts';
import type { MovementFilter, StockLevelAt } from '../../history-store.ts';
import type { TouchedProduct } from '../../temporary/touched-products.ts';
import type { PageQuery } from '../../write.ts';
import type { ChainedChange, Reach } from '../history.ts';
import type { StockLevel } from '../stock-levels.ts';

/** A promise only if the engine has to wait. */
export type Awaitable<Value> = Value | Promise<Value>;

/** After one position, up to and including another. */
export interface Span {
  readonly after: number;
  readonly upTo: number;
}

/** A span of the history, and where the history begins. */
export type KeptSpan = Span & Pick<Reach, 'prunedTo'>;

/** A time in the history of a seller. */
interface TimePosition {
  readonly reach: Reach;
  /** Of the last change at or before the time; `reach.prunedTo` if it was pruned. */
  readonly position: number;
  /** Whether the last change is certain: the one at this time may be pruned. */
  readonly isKnown: boolean;
}

/** Where a query got to in a version chain. */
export interface Followed {
  /** Of the last change that was read. */
  readonly position: number;
  /** Whether the chain need not be followed further: otherwise, continue at `position`. */
  readonly isEnd: boolean;
}

/** What a version chain shows of its product at a position. */
export interface PastVersion extends Followed, Pick<Change, 'type' | 'sku' | 'at'> {
  readonly stock: number;
  readonly snapshot: string | undefined;
  /** Whether it is the first change that the product ever had. */
  readonly isFirst: boolean;
  /** Whether a later change altered more than the stock. */
  readonly isEdited: boolean;
}

export interface FoundSnapshot extends Followed {
  /** `formatProduct`; undefined if there is none until `position`. */
  readonly product: string | undefined;
}

/** A version chain from a change back to the first one of interest, or to its beginning. */
interface ChainStart {
  readonly from: number;
  readonly first: number;
}

/** What a change did to the stock of a product, and its snapshot, which has the price. */
export interface StockEffect extends Pick<Change['movement'], 'before' | 'after'>,
  Pick<Change, 'position' | 'type' | 'productId' | 'sku' | 'at'> {
  readonly snapshot: string | undefined;
}

/** The price of a product now, and the position since when it has it or longer. */
interface CurrentPrice {
  readonly productId: ProductId;
  readonly priceMinor: number;
  readonly since: number;
}

/**
 * Queries on several version chains read about `limit` changes. They return where they got to in
 * the first of these chains, at least one, in order; undefined for a change that is pruned.
 */
export interface HistoryQueries
  extends QueriesOf<Pick<CatalogueStore, 'findProducts' | 'listBarcodeOwners'>> {
  /** @throws AppError `not_found` */
  findReach(sellerId: SellerId): Awaitable<Reach>;
  findSeller(sellerId: SellerId): Awaitable<Pick<Product, 'currency'> | undefined>;
  listSellers(query: PageQuery<SellerId>): Awaitable<readonly { readonly id: SellerId }[]>;
  /** `at`: milliseconds since 1970. @throws AppError `not_found` if the seller does not exist */
  findTime(sellerId: SellerId, at: number): Awaitable<TimePosition>;
  /** Milliseconds since 1970; 0 or undefined if there is none. */
  findNewestTime(): Awaitable<number | undefined>;
  findImports(
    sellerId: SellerId, ids: readonly ImportId[],
  ): Awaitable<ReadonlyMap<ImportId, ImportRecord>>;
  /** The span that has the changes of an import; undefined if there are none. */
  findImportSpan(sellerId: SellerId, id: ImportId): Awaitable<Span | undefined>;

  /** The changes at these positions that are not pruned, in their order. */
  listChangesAt(sellerId: SellerId, positions: readonly number[]): Awaitable<readonly Change[]>;
  /** Movements of any product. Scans the span. */
  scanMovements(
    sellerId: SellerId, span: Span, filter: MovementFilter, isDescending: boolean, limit: number,
  ): Awaitable<readonly Change[]>;
  /** The same, counted. */
  countMovements(sellerId: SellerId, span: Span, filter: MovementFilter): Awaitable<number>;
  /** Changes without those of imports, except the last change of each import. */
  scanCollapsed(
    sellerId: SellerId, span: Span, isDescending: boolean, limit: number,
  ): Awaitable<readonly Change[]>;
  /** Changes of a span, newest first. */
  scanStock(sellerId: SellerId, span: Span, limit: number): Awaitable<readonly StockEffect[]>;
  /** The products of the selected changes, with their positions, in order. Scans the range. */
  listTouched(sellerId: SellerId, range: RevertedChanges): Awaitable<readonly TouchedProduct[]>;

  /** The last changes of the products that a filter names by SKU, id, or both. */
  findNewest(
    sellerId: SellerId, filter: MovementFilter, limit: number,
  ): Awaitable<readonly number[]>;
  /** From a change back to the first one after a position, newest first. */
  listVersions(
    sellerId: SellerId, from: number, after: number, limit: number,
  ): Awaitable<readonly Pick<ChainedChange, 'position' | 'previousPosition'>[]>;
  /** Follows chains to the last snapshot before each of these changes. */
  findSnapshots(
    sellerId: SellerId, from: readonly number[], limit: number,
  ): Awaitable<readonly (FoundSnapshot | undefined)[]>;
  /**
   * Follows chains back to a position. May end at a product that is newer than the position, since
   * all further ones are newer, too, if the chains are in the order of creation.
   */
  findVersions(
    sellerId: SellerId, from: readonly number[], position: number, limit: number,
  ): Awaitable<readonly (PastVersion | undefined)[]>;
  /**
   * The changes of chains, newest first. The last chain may be incomplete; without any change, the
   * first one was pruned.
   */
  listChains(
    sellerId: SellerId, chains: readonly ChainStart[], limit: number,
  ): Awaitable<readonly (readonly ChainedChange[])[]>;

  findProductsBySku(sellerId: SellerId, skus: readonly Sku[]): Awaitable<ReadonlyMap<Sku, Product>>;
  /** Of those of these products that exist. */
  listCurrentPrices(
    sellerId: SellerId, ids: readonly ProductId[],
  ): Awaitable<readonly CurrentPrice[]>;
  readLevels(
    sellerId: SellerId, changes: readonly StockChange[], source: string | undefined,
  ): Awaitable<readonly (StockLevel | undefined)[]>;
  /** In the order of ids. */
  listLevels(sellerId: SellerId, query: PageQuery<ProductId>): Awaitable<readonly StockLevel[]>;
  /**
   * The last levels of products that exist or were deleted after `position`, by id. A product that
   * a revert created again is listed once for each of its deletions, too: any of its levels begins
   * a chain to the same past.
   */
  listLastLevels(
    sellerId: SellerId, after: number, position: number, limit: number,
  ): Awaitable<readonly StockLevelAt[]>;
  /** The first deletions of products after a position, and the products before it. */
  findDeletionsAfter(
    sellerId: SellerId, ids: readonly ProductId[], position: number,
  ): Awaitable<ReadonlyMap<ProductId, { readonly position: number; readonly snapshot: string }>>;
  /** The positions of the last deletions of these products; some may exist again. */
  findLastDeletions(
    sellerId: SellerId, ids: readonly ProductId[],
  ): Awaitable<ReadonlyMap<ProductId, number>>;
  /** The product of the first deletion after a position that freed this SKU. */
  findSkuDeletionAfter(
    sellerId: SellerId, sku: Sku, position: number,
  ): Awaitable<ProductId | undefined>;
  /** The first product in a span that gave up this SKU for another one. Scans the span. */
  findRename(sellerId: SellerId, sku: Sku, span: Span): Awaitable<ProductId | undefined>;

  /** Whether a seller has idempotency records until a time, in milliseconds since 1970. */
  hasOldRecords(sellerId: SellerId, before: number): Awaitable<boolean>;
}
