/**
 * Levels of stock that are remembered from call to call: systems send the same products again and
 * again. They hold as long as the seller's position is the one at which the last call left it,
 * which every transaction reads; so whatever else has changed, in this process or in another, is
 * noticed.
 */
import { STOCK_LEVELS_KEPT } from '../limits.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { LevelTable } from './stock-levels.ts';

interface Kept {
  readonly table: LevelTable;
  readonly position: number;
  /** `Positions.undone` at that time. */
  readonly undone: number;
}

export class StockLevelCache {
  readonly #positions: PositionAllocator;
  readonly #kept = new Map<SellerId, Kept>();
  #size = 0;

  constructor(positions: PositionAllocator) {
    this.#positions = positions;
  }

  /** Takes out what still holds; an empty table where nothing does. */
  take(sellerId: SellerId): LevelTable {
    const kept = this.#remove(sellerId);
    const holds = kept?.position === this.#positions.of(sellerId)
      && kept.undone === this.#positions.rollbackCount;
    return holds ? kept.table : new LevelTable();
  }

  /**
   * Keeps what a call has left, and says whether it does: not what is too large. The seller that
   * was kept longest ago is forgotten first.
   */
  keep(sellerId: SellerId, table: LevelTable): boolean {
    if (table.size > STOCK_LEVELS_KEPT) return false;
    const position = this.#positions.of(sellerId);
    this.#kept.set(sellerId, { table, position, undone: this.#positions.rollbackCount });
    this.#size += table.size;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= STOCK_LEVELS_KEPT) break;
      this.#remove(oldest);
    }
    return true;
  }

  #remove(sellerId: SellerId): Kept | undefined {
    const kept = this.#kept.get(sellerId);
    if (kept) this.#size -= kept.table.size;
    this.#kept.delete(sellerId);
    return kept;
  }
}
