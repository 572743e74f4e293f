/** The history port: the change feed, the stock ledger, and stock levels of the past. */
import type { Change, ChangeType } from '../domain/catalogue/change.ts';
import type { ProductId, SellerId } from '../domain/id.ts';
import type { Sku } from '../domain/catalogue/product-fields.ts';
import type { PageQuery } from './write.ts';

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
  /** All changes up to here were read: continue after it. */
  readonly next: number;
  /** Of the catalogue, when the page was read: beyond `next` if there is more. */
  readonly position: number;
}

/** Which stock movements: every condition that is not undefined must hold. */
export interface MovementFilter {
  /** Of the product with this SKU, and of those that had it when they were deleted. */
  readonly sku?: Sku | undefined;
  readonly productId?: ProductId | undefined;
  readonly source?: string | undefined;
  readonly reason?: string | undefined;
  /** Milliseconds since 1970, inclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** All changes of these types; undefined for changes of any type that moved stock. */
  readonly types?: readonly ChangeType[] | undefined;
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

export interface MovementPage {
  readonly movements: readonly Change[];
  /** Where to continue: as `after`, or as `upTo` of a descending query. */
  readonly next: number | undefined;
  /** The history begins after this position: 0 if nothing was pruned. */
  readonly prunedTo: number;
}

/** The stock of a product at a position. */
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

/** Up to `limit` days from `since`; both count days since 1970, in UTC. */
export interface StockDayQuery {
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

export interface HistoryStore {
  /**
   * The changes after a position. A page may have fewer than `limit` although more follow.
   * @throws AppError `history_pruned` if changes after `after` were removed, `invalid_query` if
   *   the catalogue has not reached `after`
   */
  listChanges(sellerId: SellerId, query: ChangeQuery): Promise<ChangePage>;
  /** The changes that moved stock. A page may have fewer than `limit` although more follow. */
  listMovements(sellerId: SellerId, query: MovementQuery): Promise<MovementPage>;
  /**
   * The last snapshot (`formatProduct`) of each product before a change of it, by the positions of
   * these changes. Leaves out pruned ones, and those too far back in the history.
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
   * The stock of every product at a position, in the order of creation.
   * @throws AppError `history_pruned`, `invalid_query` as `listChanges`
   */
  listStockAt(
    sellerId: SellerId, position: number, query: PageQuery<ProductId>,
  ): Promise<StockLevelPage>;
  /** The days on which stock moved, in order. The first one may be partly pruned. */
  listStockDays(sellerId: SellerId, query: StockDayQuery): Promise<readonly StockDay[]>;
  /**
   * Calls `listener` at once after commits of this process, and within 50 ms after commits of
   * others; one call may stand for several commits. Returns the function that unsubscribes.
   */
  subscribeToCommits(listener: () => void): () => void;
}
