/**
 * Stock levels in memory while a batch of stock changes is evaluated, and cached between batches,
 * since systems sync the same products repeatedly. Cached levels are valid only while the seller's
 * position, which every transaction reads, is the one that the last batch left. So changes by other
 * mutations, in this process or another, invalidate them.
 */
import type { Sku } from '../../domain/catalogue/product-fields.ts';
import type { ProductReference } from '../../domain/catalogue/stock-change.ts';
import { parseProductId, type ProductId, type SellerId } from '../../domain/id.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import { STOCK_LEVELS_KEPT } from '../limits.ts';

/** The stock of one product while a batch is evaluated. */
export interface StockLevel {
  readonly id: ProductId;
  readonly sku: Sku;
  /** Before the batch. */
  stockBefore: number;
  /** After the changes so far: the stock, and position and time of the last change. */
  stock: number;
  position: number;
  at: number;
  isMoved: boolean;
  /** The source's last applied sequence number, or -1, and whether the batch changed it. */
  sequence: number;
  isSequenceMoved: boolean;
}

/** A level as it is stored. */
export type StoredLevel = Pick<StockLevel, 'id' | 'sku' | 'stock' | 'position' | 'at'>;

/** The level that a batch evaluates, and changes even if it is rejected. */
export function copyLevel({ id, sku, stock, position, at }: StoredLevel): StockLevel {
  return {
    id, sku, stockBefore: stock, stock, position, at, isMoved: false, sequence: -1,
    isSequenceMoved: false,
  };
}

/** Resets the state of the previous batch. */
export function startBatch(level: StockLevel): void {
  level.stockBefore = level.stock;
  level.isMoved = false;
  level.sequence = -1;
  level.isSequenceMoved = false;
}

/** Levels of one seller, by SKU and by id. */
export class LevelTable<Level extends StoredLevel = StockLevel> {
  readonly #byId = new Map<ProductId, Level>();
  readonly #bySku = new Map<Sku, Level>();

  get size(): number {
    return this.#byId.size;
  }

  values(): MapIterator<Level> {
    return this.#byId.values();
  }

  /** Adds the level of a product, unless the table has one. */
  add(level: Level): void {
    if (!this.#byId.has(level.id)) this.set(level);
  }

  /** Adds the level of a product, or replaces it. */
  set(level: Level): void {
    this.#byId.set(level.id, level);
    this.#bySku.set(level.sku, level);
  }

  findById(id: ProductId | undefined): Level | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }

  find(sellerId: SellerId, { sku, id }: ProductReference): Level | undefined {
    return sku === undefined ? this.findById(parseProductId(sellerId, id)) : this.#bySku.get(sku);
  }
}

interface CachedLevels {
  readonly table: LevelTable;
  readonly position: number;
}

export class StockLevelCache {
  readonly #cached =
    new BoundedMap<SellerId, CachedLevels>(STOCK_LEVELS_KEPT, ({ table }) => table.size);

  /** Removes and returns the levels cached at this position; an empty table if there are none. */
  get(sellerId: SellerId, position: number): LevelTable {
    const cached = this.#cached.get(sellerId);
    this.drop(sellerId);
    return cached?.position === position ? cached.table : new LevelTable();
  }

  /** Caches the levels of a batch unless there are too many. Returns whether it did. */
  put(sellerId: SellerId, table: LevelTable, position: number): boolean {
    if (table.size > STOCK_LEVELS_KEPT) return false;
    this.#cached.set(sellerId, { table, position });
    return true;
  }

  /** Forgets a seller's levels. */
  drop(sellerId: SellerId): void {
    this.#cached.delete(sellerId);
  }

  /** Call it after every rollback: the same position may be reached by other changes. */
  clear(): void {
    this.#cached.clear();
  }
}
