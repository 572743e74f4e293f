/**
 * The single ordering point: allocates the positions of the current transaction and appends the
 * change events. Nothing else adds events or alters them, except that the pruning of the history
 * removes old ones and relinks the rest. A seller's row is read at its first change and written
 * once, before the commit; the adapter makes sure that no other transaction moves its position.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { AppError } from '../../../domain/error.ts';
import { nextId, type ProductId, type SellerId } from '../../../domain/id.ts';
import { type ChainedChange, timeAfter } from '../history.ts';
import type { StockBatch } from '../stock-batch.ts';

/** A seller at the start of a transaction. */
export interface SellerState {
  /** Of the last change. */
  readonly position: number;
  /** Its time, in milliseconds since 1970; 0 if there is none. */
  readonly lastAt: number;
  readonly lastProductId: number;
  readonly currency: Currency;
  readonly isDisabled: boolean;
}

/** Where an adapter keeps sellers and their history. */
interface HistoryRows {
  findSeller(id: SellerId): SellerState | undefined;
  insertChange(change: ChainedChange): void;
  /** Inserts the movements of a batch, from the position `first`. */
  insertMovements(batch: StockBatch, first: number): void;
}

/** A seller whose position moves in the current transaction. */
export interface MovedSeller extends Pick<SellerState, 'currency' | 'lastAt'> {
  /** Position before the transaction. */
  readonly from: number;
  position: number;
  lastProductId: number;
  /** Units of stock moved in and out. */
  unitsIn: number;
  unitsOut: number;
}

export class PositionAllocator {
  readonly #rows: HistoryRows;
  readonly #touched = new Map<SellerId, MovedSeller>();

  constructor(rows: HistoryRows) {
    this.#rows = rows;
  }

  /**
   * The position of the seller's next event, and the time of changes made now.
   * @throws AppError `not_found`; `key_unknown` if the seller is disabled
   */
  next(sellerId: SellerId, now: number) {
    const { position, lastAt, currency } = this.#touch(sellerId);
    return { position: position + 1, at: timeAfter(lastAt, now), currency };
  }

  /** Position of a seller's last change, including this transaction's. */
  of(sellerId: SellerId): number {
    return this.#touch(sellerId).position;
  }

  currencyOf(sellerId: SellerId): Currency {
    return this.#touch(sellerId).currency;
  }

  /** A new product id, above every id that this seller ever had. */
  takeProductId(sellerId: SellerId, at: number): ProductId {
    const seller = this.#touch(sellerId);
    seller.lastProductId = nextId(seller.lastProductId, at);
    // The origin of every ProductId.
    return seller.lastProductId as ProductId;
  }

  /** Allocates a seller's next position for this event, and appends it. */
  addChange(change: ChainedChange): void {
    const seller = this.#touch(change.sellerId);
    seller.position += 1;
    this.#rows.insertChange(change);
    countUnits(seller, change.movement);
  }

  /** Allocates the next positions for the movements of a batch, and appends them. */
  addMovements(batch: StockBatch): void {
    const seller = this.#touch(batch.context.actor.sellerId);
    this.#rows.insertMovements(batch, seller.position + 1);
    seller.position += batch.movements.length;
    for (const movement of batch.movements) countUnits(seller, movement);
  }

  /** The sellers whose positions have moved. Write them before the commit. */
  listMoved(): readonly (readonly [SellerId, MovedSeller])[] {
    return [...this.#touched].filter(([, { position, from }]) => position !== from);
  }

  /** Forgets the transaction: call it after its commit and after its rollback. */
  clear(): void {
    this.#touched.clear();
  }

  #touch(sellerId: SellerId): MovedSeller {
    const existing = this.#touched.get(sellerId);
    if (existing) return existing;
    const storedSeller = this.#rows.findSeller(sellerId);
    if (!storedSeller) throw new AppError('not_found', 'There is no such seller.');
    const { position, lastAt, lastProductId, currency, isDisabled } = storedSeller;
    // Authentication may have happened before the seller was disabled.
    if (isDisabled) throw new AppError('key_unknown', 'This shop is disabled.');
    const seller = {
      from: position, position, lastAt, lastProductId, currency, unitsIn: 0, unitsOut: 0,
    };
    this.#touched.set(sellerId, seller);
    return seller;
  }
}

function countUnits(
  seller: MovedSeller, { before, after }: { readonly before: number; readonly after: number },
): void {
  if (after > before) seller.unitsIn += after - before;
  else seller.unitsOut += before - after;
}
