/**
 * Evaluates a batch of stock changes in order: the outcome of each, and the change events to write.
 * Writes nothing itself, so a dry run is the same evaluation without the write.
 */
import {
  isFailure, evaluateStockChange, type StockChange, type StockResult,
} from '../../domain/catalogue/stock-change.ts';
import {
  isOverZeroLimit, type StockOrigin, type StockSync,
} from '../../domain/catalogue/stock-sync.ts';
import type { SyncedStock } from '../catalogue-store.ts';
import type { ChangeActor, NewChange } from './history.ts';
import type { StockLevel } from './stock-levels.ts';

interface BatchContext {
  readonly actor: ChangeActor;
  readonly origin: StockOrigin;
  /** Of the catalogue before the batch. */
  readonly position: number;
  /** The time of the changes, milliseconds since 1970. */
  readonly at: number;
}

export class StockBatch {
  readonly #context: BatchContext;
  /** To be written to the history. */
  readonly changes: NewChange[] = [];
  /** The products that were named and exist. */
  readonly named = new Set<StockLevel>();

  constructor(context: BatchContext) {
    this.#context = context;
  }

  apply(change: StockChange, level: StockLevel | undefined): StockResult {
    if (!level) return { status: 'not_found', sku: change.sku };
    this.named.add(level);
    const { stock: previous, id, sku } = level;
    const { status, stock } = evaluateStockChange(change, previous, level.sequence);
    if (!isFailure(status) && change.sequence !== undefined) {
      level.sequence = change.sequence;
      level.isSequenceMoved = true;
    }
    if (status === 'ok') this.#move(level, stock, change);
    return { status, id, sku, previous, stock, position: level.position };
  }

  /** Counts a product as named even though its change is invalid. */
  markNamed(level: StockLevel | undefined): void {
    if (level) this.named.add(level);
  }

  #move(level: StockLevel, stock: number, { reason, sequence }: StockChange): void {
    const { actor: { sellerId, keyId, actorName: actor, importId }, origin, position, at } =
      this.#context;
    const { id: productId, sku, stock: before, position: previousPosition } = level;
    level.stock = stock;
    level.position = position + this.changes.length + 1;
    level.at = at;
    level.isMoved = true;
    this.changes.push({
      sellerId, keyId, actor, importId, productId, sku, type: 'stock',
      position: level.position, at: level.at, product: undefined, previousPosition,
      movement: {
        before, after: stock, reason: reason ?? origin.reason, source: origin.source, sequence,
      },
    });
  }
}

/** The evaluated changes of a sync. */
interface Evaluated {
  readonly results: readonly StockResult[];
  readonly named: ReadonlySet<StockLevel>;
  /** Products in stock that a stocktake does not name. */
  readonly missing: number;
}

/** One failure rejects an atomic sync; a stocktake must not zero more products than its limit. */
export function findRejection(
  { isAtomic, completion, faulty = [] }: StockSync, { results, named, missing }: Evaluated,
): SyncedStock['rejection'] {
  const hasFailed = faulty.length > 0 || results.some(({ status }) => isFailure(status));
  if (isAtomic && hasFailed) return 'failures';
  if (!completion) return undefined;
  const inStock = missing + countInStock(named);
  return isOverZeroLimit(missing, inStock, completion.zeroLimitPercent) ? 'zero_limit' : undefined;
}

/** How many of these products were in stock before the batch. */
export function countInStock(levels: ReadonlySet<StockLevel>): number {
  let count = 0;
  for (const { stockBefore } of levels) if (stockBefore > 0) count += 1;
  return count;
}
