/** The part of the store port that moves stock, and that tells what happened. */
import type { Change, ChangeType } from '../domain/catalogue/change.ts';
import type { ProductId, SellerId } from '../domain/id.ts';
import type { Sku } from '../domain/catalogue/product-fields.ts';
import type { StockChange, StockResult } from '../domain/catalogue/stock-change.ts';
import type { StockSync } from '../domain/catalogue/stock-sync.ts';
import type { Actor, PageQuery, WriteContext } from './write.ts';

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
export interface StockDryRun {
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

/** Which movements of stock: all conditions hold; one that is undefined is not asked for. */
export interface MovementFilter {
  /** Of the product that has this SKU, and of those that had it when they were deleted. */
  readonly sku?: Sku | undefined;
  readonly productId?: ProductId | undefined;
  readonly source?: string | undefined;
  readonly reason?: string | undefined;
  /** Milliseconds since 1970, inclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** All changes of these types; undefined for those of any type that moved stock. */
  readonly types?: readonly ChangeType[] | undefined;
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
  /** The history begins after this position: 0 where nothing of it was removed for its age. */
  readonly prunedTo: number;
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

/** Up to `limit` days from `since` on; both count days since 1970, in UTC. */
export interface StockDayQuery {
  readonly since: number;
  readonly limit: number;
}

/** How much stock moved on one day, by all changes together. */
export interface StockDay {
  /** Days since 1970, in UTC. */
  readonly day: number;
  /** What came in, and what went out: neither counts beyond 2^53 - 1. */
  readonly unitsIn: number;
  readonly unitsOut: number;
}

export interface StockStore {
  /** Changes the stock of products, as one unit; or says what would become of it (`isDryRun`). */
  syncStock(write: WriteContext, sync: StockSync, isDryRun: boolean): Promise<SyncedStock>;
  /**
   * For changes of one source that come in parts: each is tried on what the ones before would have
   * made of a catalogue that stands at `position`.
   */
  dryRunStock(actor: Actor, position: number, source: string | undefined): StockDryRun;

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
  /**
   * The JSON of products (`formatProduct`) as they were last described before changes of theirs, by
   * the positions of the changes. Those that are not kept any more are left out, and those for
   * which much of the history would have to be read.
   */
  findPreviousSnapshots(
    sellerId: SellerId, positions: readonly number[],
  ): Promise<ReadonlyMap<number, string>>;
  /**
   * Position of the last change at this time or before, milliseconds since 1970.
   * @throws AppError `history_pruned` where that is not kept any more
   */
  findPositionAt(sellerId: SellerId, at: number): Promise<number>;
  /**
   * The stock of every product as it stood at a position, in the order of their creation.
   * @throws AppError `history_pruned`, `invalid_query` as above
   */
  listStockAt(
    sellerId: SellerId, position: number, query: PageQuery<ProductId>,
  ): Promise<StockLevelPage>;
  /**
   * The days on which stock moved, in their order, from where the history is kept on: of the first
   * one, a part may be missing.
   */
  listStockDays(sellerId: SellerId, query: StockDayQuery): Promise<readonly StockDay[]>;
  /**
   * Calls `listener` within 50 ms after each commit of any process, and at once after one of this
   * process; once for several. Call what it returns to end that.
   */
  subscribeToCommits(listener: () => void): () => void;

  /**
   * The time of the newest change and event that is kept, of any seller; undefined where there is
   * none. It tells a clock that is far ahead from one that is right.
   */
  findNewestTime(): Promise<number | undefined>;
  /**
   * Removes the changes before a time (milliseconds since 1970), in small steps; but never what
   * the catalogue as it stands could not be told without.
   */
  pruneHistory(before: number): Promise<void>;
}
