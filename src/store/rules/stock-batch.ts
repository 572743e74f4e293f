/**
 * Evaluates a batch of stock changes in order: the outcome of each, and the change events to write.
 * Writes nothing itself, so a dry run is the same evaluation without the write.
 */
import {
  isFailure, evaluateStockChange, type ProductReference, type StockChange, type StockResult,
  type StockStatus,
} from '../../domain/catalogue/stock-change.ts';
import { AppError } from '../../domain/error.ts';
import { explainUnknownSku, foldSku, unclearSku } from '../../domain/catalogue/spreadsheet-sku.ts';
import {
  isOverZeroLimit, type StockOrigin, type StockSync,
} from '../../domain/catalogue/stock-sync.ts';
import type { SyncedStock } from '../catalogue-store.ts';
import type { Sku } from '../../domain/catalogue/product-fields.ts';
import { parseProductId, type SellerId } from '../../domain/id.ts';
import { type BarcodeOwners, findOwners } from './barcode-owners.ts';
import type { ChangeActor } from './history.ts';
import type { PlannedMovement } from './review.ts';
import type { StockLevel } from './stock-levels.ts';

const NOTHING = 'nothing was changed';

interface BatchContext {
  readonly actor: ChangeActor;
  readonly origin: StockOrigin;
  /** Of the catalogue before the batch. */
  readonly position: number;
  /** The time of the changes, milliseconds since 1970. */
  readonly at: number;
}

/** A change event of a batch; the events have consecutive positions. */
interface StockMovement extends PlannedMovement {
  readonly sequence: number | undefined;
}

export class StockBatch {
  readonly context: BatchContext;
  /** To be written to the history. */
  readonly movements: StockMovement[] = [];
  /** Levels of the products that were named and exist. */
  readonly namedLevels = new Set<StockLevel>();

  constructor(context: BatchContext) {
    this.context = context;
  }

  /**
   * Applies changes in order. A change whose id is that of another product than its SKU is invalid,
   * and one whose barcode several products have is ambiguous.
   * @param others What `listOtherIds` returns. @param owners Their levels, as copies.
   */
  applyAll(
    changes: readonly StockChange[], levels: readonly (StockLevel | undefined)[],
    others: ReturnType<typeof listOtherIds>, owners: readonly (StockLevel | undefined)[],
    barcodeOwners: BarcodeOwners,
  ): StockResult[] {
    const ownersByIndex = new Map([...others.keys()].map((index, at) => [index, owners[at]]));
    return changes.map((change, index): StockResult => {
      const owner = ownersByIndex.get(index);
      if (owner) return { status: 'invalid', id: owner.id, sku: owner.sku };
      const level = levels[index];
      if (level || change.barcode === undefined) return this.apply(change, level);
      const named = findOwners(change, barcodeOwners);
      return named.length > 1 ? { status: 'ambiguous', skus: named.map(({ sku }) => sku) }
        : { status: 'not_found' };
    });
  }

  apply(change: StockChange, level: StockLevel | undefined): StockResult {
    if (!level) return { status: 'not_found', sku: change.sku };
    this.namedLevels.add(level);
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
    if (level) this.namedLevels.add(level);
  }

  #move(level: StockLevel, stock: number, { reason, sequence }: StockChange): void {
    const { origin, position, at } = this.context;
    const { id: productId, sku, stock: before, position: previousPosition } = level;
    this.movements.push({
      productId, sku, before, after: stock, previousPosition, reason: reason ?? origin.reason,
      sequence,
    });
    level.stock = stock;
    level.position = position + this.movements.length;
    level.at = at;
    level.isMoved = true;
  }
}

/** References by the ids that changes have in addition to a SKU of another product, by index. */
export function listOtherIds(
  sellerId: SellerId, changes: readonly StockChange[],
  levels: readonly (StockLevel | undefined)[],
): ReadonlyMap<number, ProductReference> {
  return new Map(changes.flatMap(({ sku, id }, index) => {
    if (sku === undefined || id === undefined) return [];
    const productId = parseProductId(sellerId, id);
    const isOther = productId !== undefined && productId !== levels[index]?.id;
    return isOther ? [[index, { id }] as const] : [];
  }));
}

/** The evaluated changes of a sync. */
interface Evaluated {
  readonly results: readonly StockResult[];
  readonly namedLevels: ReadonlySet<StockLevel>;
  /** Products in stock that a stocktake does not name. */
  readonly missing: number;
  listMissing(): Iterable<readonly StockLevel[]>;
}

/**
 * One failure rejects an atomic sync; a stocktake must not zero more products than its limit.
 * @throws AppError `sync_refused` if a change may mean a product that it would set to 0: by an
 *   unknown SKU, or a barcode that is not that of one product
 */
export function findRejection(
  { changes, isAtomic, completion, faulty = [] }: StockSync, evaluated: Evaluated,
): SyncedStock['rejection'] {
  const { results, namedLevels, missing } = evaluated;
  const hasFailed = faulty.length > 0 || results.some(({ status }) => isFailure(status));
  if (isAtomic && hasFailed) return 'failures';
  if (!completion) return undefined;
  const inStock = missing + countInStock(namedLevels);
  // First, since a change that does not say which product it means adds to the missing ones.
  if (missing > 0) assertDistinct(changes, evaluated);
  return isOverZeroLimit(missing, inStock, completion.zeroLimitPercent) ? 'zero_limit' : undefined;
}

function assertDistinct(
  changes: readonly StockChange[], { results, listMissing }: Evaluated,
): void {
  const unknown = new Map<string, Sku>();
  for (const [index, { status, sku }] of results.entries()) {
    const { barcode } = changes[index] ?? {};
    if (barcode !== undefined && isUnidentified(status)) throw unclearBarcode(barcode, status);
    if (status !== 'not_found' || typeof sku !== 'string') continue;
    const reason = explainUnknownSku(sku);
    if (reason !== undefined) throw unclearSku(describe(sku), NOTHING, { reason });
    unknown.set(foldSku(sku), sku);
  }
  if (unknown.size === 0) return;
  for (const levels of listMissing()) {
    for (const { sku } of levels) {
      const sent = unknown.get(foldSku(sku));
      if (sent !== undefined) throw unclearSku(describe(sent), NOTHING, { product: sku });
    }
  }
}

/** Whether a change by barcode does not say which product it means. */
export function isUnidentified(status: StockStatus): boolean {
  return status === 'not_found' || status === 'ambiguous';
}

function unclearBarcode(barcode: string, status: StockStatus): AppError {
  const owners = status === 'ambiguous' ? 'Several products have' : 'No product has';
  return new AppError('sync_refused',
    `${describe(barcode)} does not identify its product, so ${NOTHING}. ${owners} this barcode. `
    + 'Name the product by its SKU, and send the stocktake again.');
}

function describe(name: string): string {
  return `The change of ${JSON.stringify(name)}`;
}

/** How many of these products were in stock before the batch. */
export function countInStock(levels: ReadonlySet<StockLevel>): number {
  let count = 0;
  for (const { stockBefore } of levels) if (stockBefore > 0) count += 1;
  return count;
}
