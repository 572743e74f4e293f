/**
 * The rows of one transaction in memory, for adapters to which each statement is a round trip. The
 * mutations of a batch run on rows that were loaded before; what they write is sent afterwards, all
 * at once.
 */
import { randomInt } from 'node:crypto';
import type { ImportRecord } from '../../../domain/catalogue/import.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { ChainedChange } from '../history.ts';
import { type CatalogueMutations, catalogueMutations } from '../mutations/catalogue-mutations.ts';
import type { ImportProgress, ImportRows } from '../mutations/import-records.ts';
import { PositionAllocator } from '../mutations/position-allocator.ts';
import type { RevertRows } from '../mutations/revert-mutations.ts';
import type { StockRows } from '../mutations/stock-mutations.ts';
import { countInStock, type StockBatch } from '../stock-batch.ts';
import { LevelTable, type StockLevelCache } from '../stock-levels.ts';
import type { LoadedSeller } from './loaded-seller.ts';

/** Batch numbers are exact in JavaScript and unlikely to be drawn twice. */
const BATCH_LIMIT = 2 ** 48 - 1;

/** An idempotency record to insert. */
interface NewRecord extends IdempotencyRecord {
  readonly sellerId: SellerId;
  readonly keyHash: Uint8Array;
  readonly part: number;
}

/** A recorded outcome. */
export interface IdempotencyRecord {
  readonly fingerprint: Uint8Array;
  /** As JSON. */
  readonly outcome: string;
}

export class WorkingSet {
  readonly sellers: ReadonlyMap<SellerId, LoadedSeller>;
  /** Which every change of the transaction carries, so that it can be found. */
  readonly batch = randomInt(BATCH_LIMIT);
  readonly positions: PositionAllocator;
  /** Rows to insert, apart from those of the sellers. Movements follow each other from `first`. */
  readonly changes: ChainedChange[] = [];
  readonly movements: { readonly stock: StockBatch; readonly first: number }[] = [];
  readonly imports: ImportRecord[] = [];
  readonly records: NewRecord[] = [];

  constructor(sellers: ReadonlyMap<SellerId, LoadedSeller>) {
    this.sellers = sellers;
    this.positions = new PositionAllocator({
      findSeller: (id) => this.#get(id).state,
      insertChange: (change) => this.#insertChange(change),
      insertMovements: (stock, first) => void this.movements.push({ stock, first }),
    });
  }

  /** Changes whenever a mutation writes. */
  get size(): number {
    const { changes, movements, imports, records } = this;
    return changes.length + movements.length + imports.length + records.length;
  }

  /** The mutations of the catalogue, by name. */
  prepareMutations(cache: StockLevelCache): CatalogueMutations {
    const [products, stock, imports] =
      [this.#productRows(), this.#stockRows(), this.#importRows()];
    return catalogueMutations({ products, stock, imports }, this.positions, cache);
  }

  #productRows(): RevertRows {
    return {
      find: (sellerId, target) => this.#get(sellerId).products.find(target),
      findByBarcode: (sellerId, gtin) => this.#get(sellerId).products.findByBarcode(gtin),
      findLastDeletion: (sellerId, id) => this.#get(sellerId).products.findDeletion(id),
      insert: (product) => this.#get(product.sellerId).products.insert(product),
      update: (product, isMovement) =>
        this.#get(product.sellerId).products.update(product, isMovement),
      remove: (product) => this.#get(product.sellerId).products.remove(product),
    };
  }

  #stockRows(): StockRows {
    return {
      readLevels: (sellerId, changes, source, table = new LevelTable()) =>
        this.#get(sellerId).levels.read(sellerId, changes, source, table),
      listBarcodeOwners: (sellerId, gtins) => this.#get(sellerId).levels.listOwners(gtins),
      update: (sellerId, levels, source) => this.#get(sellerId).levels.write(levels, source),
      flush: () => {}, // reads see what was written
      countMissing: (sellerId, namedLevels) =>
        this.#get(sellerId).levels.countInStock() - countInStock(namedLevels),
      listMissing: (sellerId, namedLevels) =>
        [this.#get(sellerId).levels.listInStock(new Set([...namedLevels].map(({ id }) => id)))],
    };
  }

  #importRows(): ImportRows {
    return {
      findLastId: (sellerId) => this.#get(sellerId).imports.readLastId(),
      findCounts: (sellerId, id) => this.#get(sellerId).imports.findCounts(id),
      insert: (record) => this.#insertImport(record),
      update: (sellerId, id, progress: ImportProgress) =>
        this.#get(sellerId).imports.update(id, progress),
    };
  }

  #get(sellerId: SellerId): LoadedSeller {
    const seller = this.sellers.get(sellerId);
    if (!seller) throw new TypeError('The seller was not loaded.');
    return seller;
  }

  #insertChange(change: ChainedChange): void {
    this.changes.push(change);
    const { sellerId, type, productId, position } = change;
    if (type === 'deleted') this.#get(sellerId).products.noteDeletion(productId, position);
  }

  #insertImport(record: ImportRecord): void {
    this.imports.push(record);
    this.#get(record.sellerId).imports.noteInsert(record.id, record.counts);
  }
}
