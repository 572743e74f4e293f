/**
 * The changes of one call, gone through in order: what becomes of each, and what is to be written.
 * Nothing is written here.
 */
import {
  isFailure, judgeStockChange, type StockChange, type StockResult,
} from '../../../domain/catalogue/stock-change.ts';
import type { StockOrigin, StockSync } from '../../../domain/catalogue/stock-sync.ts';
import type { SyncedStock } from '../../catalogue-store.ts';
import type { Actor } from '../../write.ts';
import type { NewChange } from './history-writer.ts';
import type { StockLevel } from './stock-levels.ts';

/** What the changes of a run have in common. */
interface BatchContext {
  readonly actor: Actor;
  readonly origin: StockOrigin;
  /** The last position that is taken, and the time of the run. */
  readonly position: number;
  readonly at: number;
}

export class StockBatch {
  readonly #context: BatchContext;
  /** Rows of the history to be written. */
  readonly changes: NewChange[] = [];
  /** The products that were named and are there. */
  readonly named = new Set<StockLevel>();

  constructor(context: BatchContext) {
    this.#context = context;
  }

  apply(change: StockChange, level: StockLevel | undefined): StockResult {
    if (!level) return { status: 'not_found', sku: change.sku };
    this.named.add(level);
    const { stock: previous, id, sku } = level;
    const { status, stock } = judgeStockChange(change, previous, level.sequence);
    if (!isFailure(status) && change.sequence !== undefined) {
      level.sequence = change.sequence;
      level.isSequenceMoved = true;
    }
    if (status === 'ok') this.#move(level, stock, change);
    return { status, id, sku, previous, stock, position: level.position };
  }

  /** Counts a product as named, though nothing is to become of it. */
  markNamed(level: StockLevel | undefined): void {
    if (level) this.named.add(level);
  }

  #move(level: StockLevel, stock: number, { reason, sequence }: StockChange): void {
    const { actor: { sellerId, keyId }, origin, position, at } = this.#context;
    const { id: productId, sku, stock: before, position: prior } = level;
    level.stock = stock;
    level.position = position + this.changes.length + 1;
    level.at = at;
    level.isMoved = true;
    this.changes.push({
      sellerId, keyId, productId, sku, type: 'stock', position: level.position, at: level.at,
      product: undefined, previousPosition: prior,
      movement: {
        before, after: stock, reason: reason ?? origin.reason, source: origin.source, sequence,
      },
    });
  }
}

/** A call of all or nothing fails with one change; a full count, where it would empty too much. */
export function findRejection(
  { isAtomic, completion, faulty = [] }: StockSync, results: readonly StockResult[],
  unnamed: number, named: ReadonlySet<StockLevel>,
): SyncedStock['rejection'] {
  const hasFailed = faulty.length > 0 || results.some(({ status }) => isFailure(status));
  if (isAtomic && hasFailed) return 'failures';
  if (!completion) return undefined;
  const inStock = unnamed + [...named].filter(({ stockBefore }) => stockBefore > 0).length;
  return unnamed * 100 > inStock * completion.zeroLimitPercent ? 'zero_limit' : undefined;
}
