/**
 * The history port: the change feed, the stock ledger, and the catalogue as it was; and the port of
 * import records.
 */
import type { Change, ChangeType } from '../domain/catalogue/change.ts';
import type { ImportId, KeyId, ProductId, SellerId } from '../domain/id.ts';
import type { ProductTarget } from '../domain/catalogue/product.ts';
import type { Product, Sku } from '../domain/catalogue/product-fields.ts';
import type { ProductPage } from './catalogue-store.ts';
import type { ListCount, PageQuery } from './write.ts';
import type { ImportKind, ImportRecord } from '../domain/catalogue/import.ts';

/** Up to `limit` changes after a position. */
export interface ChangeQuery {
  readonly after: number;
  readonly limit: number;
  /** Undefined for all. */
  readonly types?: readonly ChangeType[] | undefined;
  /** Only changes of this import. None match if it has no record. */
  readonly importId?: ImportId | undefined;
}

/** Changes in position order. */
export interface ChangePage {
  readonly changes: readonly Change[];
  /** Changes up to here were read; pass it as the next `after`. */
  readonly next: number;
  /** Of the catalogue when the page was read; greater than `next` if there is more. */
  readonly position: number;
}

/** Stock movements that meet every condition that is not undefined. */
export interface MovementFilter {
  /** Of the product with this SKU, and of deleted products whose last SKU it was. */
  readonly sku?: Sku | undefined;
  readonly productId?: ProductId | undefined;
  readonly source?: string | undefined;
  readonly reason?: string | undefined;
  /** Milliseconds since 1970, inclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** All changes of these types; undefined for changes of any type that moved stock. */
  readonly types?: readonly ChangeType[] | undefined;
  /** Of this import. None match if it has no record. */
  readonly importId?: ImportId | undefined;
  /** Made by this key. */
  readonly keyId?: KeyId | undefined;
}

export interface MovementQuery {
  readonly filter: MovementFilter;
  /** Exclusive. */
  readonly after: number;
  /** Inclusive. */
  readonly upTo: number;
  /** Newest first. */
  readonly isDescending: boolean;
  readonly limit: number;
}

/** Changes of any type, with each import as one entry. */
export interface CollapsedQuery
  extends Omit<MovementQuery, 'filter'>, Pick<MovementFilter, 'since' | 'until'> {
  /** Whether this page continues another one, which has shown an import that `upTo` is within. */
  readonly isContinued: boolean;
}

export interface MovementPage {
  readonly movements: readonly Change[];
  /** Where to continue: as `after`, or as `upTo` of a descending query. */
  readonly next: number | undefined;
  /** The history begins after this position: 0 if nothing was pruned. */
  readonly prunedTo: number;
}

/** The stock of a product at a position; `position` is of its last change until then. */
export type StockLevelAt = Pick<Product, 'id' | 'sku' | 'stock' | 'position'>;

interface StockLevelPage {
  readonly levels: readonly StockLevelAt[];
  readonly hasMore: boolean;
}

/** Up to `limit` days from `since`; both count days since 1970, in UTC. */
interface StockDayQuery {
  readonly since: number;
  readonly limit: number;
}

/** How much stock moved on one day. */
export interface StockDay {
  /** Days since 1970, in UTC. */
  readonly day: number;
  /** Sums stop at 2^53 - 1. */
  readonly unitsIn: number;
  readonly unitsOut: number;
}

/** What the changes of a day added. */
export interface StockDayChange {
  /** Days since 1970, in UTC. */
  readonly day: number;
  readonly units: bigint;
  /** Of the stock, in minor units; undefined if the history no longer has all prices. */
  readonly valueMinor: bigint | undefined;
}

/** Positions up to `upTo`, from a time on, in milliseconds since 1970. */
interface StockSumsQuery extends Pick<MovementQuery, 'after' | 'upTo'> {
  readonly since: number;
}

export interface StockSums {
  /** Days with changes, newest first. The oldest one may be incomplete if not all was read. */
  readonly days: readonly StockDayChange[];
  /** Changes after this position were read. */
  readonly after: number;
  /** Whether they are all since `since`: the others are pruned, or too many. */
  readonly isWhole: boolean;
}

export interface MoversQuery extends StockSumsQuery {
  /** Products in each list. */
  readonly limit: number;
}

/** How many units of a product moved. */
export interface ProductMoves extends Pick<StockDay, 'unitsIn' | 'unitsOut'> {
  readonly productId: ProductId;
  /** The newest one. */
  readonly sku: Sku;
}

export interface TopMovers {
  /** By the units that each list is sorted by, most first. */
  readonly most: Readonly<Record<'unitsIn' | 'unitsOut', readonly ProductMoves[]>>;
  /** Whether all movements were read: none was pruned, and there were not too many. */
  readonly isWhole: boolean;
  /** The time of the oldest change of a stock or price that was read. */
  readonly since: number | undefined;
}

export interface HistoryStore {
  /**
   * The changes after a position. A page may have fewer than `limit` even if more follow.
   * @throws AppError `history_pruned` if changes after `after` were removed which may match,
   *   `invalid_query` if the catalogue has not reached `after`
   */
  listChanges(sellerId: SellerId, query: ChangeQuery): Promise<ChangePage>;
  /** The changes that moved stock. A page may have fewer than `limit` even if more follow. */
  listMovements(sellerId: SellerId, query: MovementQuery): Promise<MovementPage>;
  /**
   * How many changes the filter selects within the positions, which this may read in part only.
   * Undefined if that takes too long to find out.
   */
  countMovements(
    sellerId: SellerId, query: Omit<MovementQuery, 'isDescending' | 'limit'>,
  ): Promise<ListCount | undefined>;
  /**
   * The changes of any type, with each import as one entry: its last change. If `upTo` is within an
   * import, the first descending page begins with the change of the import there. A page may have
   * fewer than `limit` even if more follow.
   */
  listCollapsedChanges(sellerId: SellerId, query: CollapsedQuery): Promise<MovementPage>;
  /**
   * For each change, by position: the last snapshot (`formatProduct`) of its product before it.
   * Omits snapshots that are pruned or too far back in the history.
   */
  findPreviousSnapshots(
    sellerId: SellerId, positions: readonly number[],
  ): Promise<ReadonlyMap<number, string>>;
  /**
   * Position of the last change at or before a time, milliseconds since 1970.
   * @throws AppError `history_pruned`
   */
  findPositionAt(sellerId: SellerId, at: number): Promise<number>;
  /**
   * The stock of every product at a position, in creation order.
   * @throws AppError `history_pruned`, `invalid_query` as `listChanges`
   */
  listStockAt(
    sellerId: SellerId, position: number, query: PageQuery<ProductId>,
  ): Promise<StockLevelPage>;
  /**
   * Every product as it was at a position, in creation order.
   * @throws AppError as `listStockAt`
   */
  listProductsAt(
    sellerId: SellerId, position: number, query: PageQuery<ProductId>,
  ): Promise<ProductPage>;
  /**
   * A product as it was at a position; by SKU, the product that had it then. If that product was
   * renamed later, or if none had it, this reads the changes since then.
   * @throws AppError as `listStockAt`
   */
  findProductAt(
    sellerId: SellerId, target: ProductTarget, position: number,
  ): Promise<Product | undefined>;
  /** Reads the history in slices, which takes seconds for a million changes. */
  sumStockChanges(sellerId: SellerId, query: StockSumsQuery): Promise<StockSums>;
  /** The products with the most units moved in and out. Reads a limited number of changes. */
  listTopMovers(sellerId: SellerId, query: MoversQuery): Promise<TopMovers>;
  /** The days on which stock moved, in order. The first one may be partly pruned. */
  listStockDays(sellerId: SellerId, query: StockDayQuery): Promise<readonly StockDay[]>;
  /**
   * Calls `listener` once, when the seller's catalogue is past the position `after`, with its
   * position then: soon if it already is, usually immediately after a commit of this process, and
   * at the latest 100 ms (SQLite: 50 ms) after any commit. Calls it with `Infinity` if there is no
   * such seller or the position cannot be read, so that the listener's own read gets the error.
   * Returns the function that ends the wait. To continue, watch again from the new position.
   */
  watch(sellerId: SellerId, after: number, listener: (position: number) => void): () => void;
  /**
   * Calls `listener` after commits of any process, with the delays of `watch`; one call may cover
   * several commits. Earlier commits are not reported: read after this call. Costs a poll in an
   * interval even if nobody writes; `watch` is cheaper where the seller is known. Returns the
   * function that ends it.
   */
  watchAll(listener: () => void): () => void;
}

/** Newest first; with `after`, oldest first. */
interface ImportQuery {
  /** Exclusive; undefined for the newest. */
  readonly before: ImportId | undefined;
  /** Only records after this one; instead of `before`. */
  readonly after?: ImportId | undefined;
  readonly limit: number;
  /** Undefined for all. */
  readonly kind?: ImportKind | undefined;
}

export interface ImportStore {
  /** Undefined if there is none, or if it was removed with the history. */
  findImport(sellerId: SellerId, id: ImportId): Promise<ImportRecord | undefined>;
  listImports(sellerId: SellerId, query: ImportQuery): Promise<readonly ImportRecord[]>;
  /** Of all, or of one kind: undefined if there are too many records to find out. */
  countImports(sellerId: SellerId, kind: ImportKind | undefined): Promise<ListCount | undefined>;
  /** The newest imports whose file name or source contains the text, in any case. */
  searchImports(sellerId: SellerId, text: string, limit: number): Promise<readonly ImportRecord[]>;
}
