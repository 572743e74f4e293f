/**
 * Stock levels in memory, while a batch of stock changes is evaluated, and kept between batches:
 * systems sync the same products again and again. Kept levels are valid as long as the seller's
 * position is the one at which the last batch left it, which every transaction reads. So changes of
 * other mutations, in this process or another, are noticed.
 */
import type { Sku } from '../../domain/catalogue/product-fields.ts';
import type { ProductReference } from '../../domain/catalogue/stock-change.ts';
import { parseProductId, type ProductId, type SellerId } from '../../domain/id.ts';
import { STOCK_LEVELS_KEPT } from '../limits.ts';

/** The stock of one product, as the changes of a batch are evaluated. */
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
  /** The source's last applied sequence number, or -1; and whether the batch moved it. */
  sequence: number;
  isSequenceMoved: boolean;
}

/** Resets what a level knows of the batch before. */
export function startBatch(level: StockLevel): void {
  level.stockBefore = level.stock;
  level.isMoved = false;
  level.sequence = -1;
  level.isSequenceMoved = false;
}

export function parseNamedId(sellerId: SellerId, id: string | undefined): ProductId | undefined {
  return id === undefined ? undefined : parseProductId(sellerId, id);
}

/** Levels of one seller, by SKU and by id. */
export class LevelTable {
  readonly #byId = new Map<ProductId, StockLevel>();
  readonly #bySku = new Map<Sku, StockLevel>();

  get size(): number {
    return this.#byId.size;
  }

  add(level: StockLevel): void {
    if (this.#byId.has(level.id)) return;
    this.#byId.set(level.id, level);
    this.#bySku.set(level.sku, level);
  }

  findById(id: ProductId | undefined): StockLevel | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }

  find(sellerId: SellerId, { sku, id }: ProductReference): StockLevel | undefined {
    return sku === undefined ? this.findById(parseNamedId(sellerId, id)) : this.#bySku.get(sku);
  }
}

/** Where the transaction of this process is. */
interface Progress {
  /** Position of a seller's last change, those of the transaction included. */
  of(sellerId: SellerId): number;
  /** How often something was rolled back. */
  readonly rollbackCount: number;
}

interface KeptLevels {
  readonly table: LevelTable;
  readonly position: number;
  readonly rollbackCount: number;
}

export class StockLevelCache {
  readonly #progress: Progress;
  readonly #kept = new Map<SellerId, KeptLevels>();
  #size = 0;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  /** Removes and returns the levels that are still valid; an empty table if none are. */
  take(sellerId: SellerId): LevelTable {
    const kept = this.#remove(sellerId);
    const isValid = kept?.position === this.#progress.of(sellerId)
      && kept.rollbackCount === this.#progress.rollbackCount;
    return isValid ? kept.table : new LevelTable();
  }

  /** Keeps the levels after a batch, unless there are too many. Returns whether it did. */
  keep(sellerId: SellerId, table: LevelTable): boolean {
    if (table.size > STOCK_LEVELS_KEPT) return false;
    const { rollbackCount } = this.#progress;
    this.#kept.set(sellerId, { table, position: this.#progress.of(sellerId), rollbackCount });
    this.#size += table.size;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= STOCK_LEVELS_KEPT) break;
      this.#remove(oldest);
    }
    return true;
  }

  #remove(sellerId: SellerId): KeptLevels | undefined {
    const kept = this.#kept.get(sellerId);
    if (kept) this.#size -= kept.table.size;
    this.#kept.delete(sellerId);
    return kept;
  }
}
