/**
 * The stock levels of one seller in a transaction. Levels that a batch evaluates are copies, since
 * an evaluation changes them even if the batch is rejected; what is written replaces the loaded
 * ones.
 */
import type { ProductReference, StockChange } from '../../../domain/catalogue/stock-change.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import type { BarcodeOwner } from '../../catalogue-store.ts';
import {
  copyLevel, LevelTable, startBatch, type StockLevel, type StoredLevel,
} from '../stock-levels.ts';

/** The last sequence number that a source applied to a product. */
export interface StoredSequence {
  readonly id: ProductId;
  readonly source: string;
  readonly sequence: number;
}

/** A mutation needs rows that were not loaded: it runs again on a seller that is locked. */
export class NotLoadedError extends Error {
  override readonly name = 'NotLoadedError';
}

export class LoadedLevels {
  /** Whether all levels that the mutations name were loaded. */
  readonly #isComplete: boolean;
  readonly #levels = new LevelTable<StoredLevel>();
  readonly #sequences = new Map<string, StoredSequence>();
  readonly #owners: BarcodeOwner[] = [];
  readonly #written = new Map<ProductId, StoredLevel>();
  readonly #writtenSequences = new Map<string, StoredSequence>();

  constructor(isComplete: boolean) {
    this.#isComplete = isComplete;
  }

  load(level: StoredLevel): void {
    this.#levels.set(level);
  }

  loadSequence(sequence: StoredSequence): void {
    this.#sequences.set(keyOf(sequence), sequence);
  }

  /** A product with a barcode that the mutations name. */
  loadOwner(owner: BarcodeOwner): void {
    this.#owners.push(owner);
  }

  /** As `StockRows.listBarcodeOwners`. */
  listOwners(gtins: readonly number[]): readonly BarcodeOwner[] {
    if (gtins.length > 0 && !this.#isComplete) throw new NotLoadedError();
    const named = new Set(gtins);
    return this.#owners.filter(({ gtin }) => named.has(gtin));
  }

  /** As `StockRows.readLevels`. */
  read(
    sellerId: SellerId, changes: readonly (StockChange | ProductReference)[],
    source: string | undefined, table: LevelTable,
  ): readonly (StockLevel | undefined)[] {
    const levels = changes.map((change) => {
      const cached = table.find(sellerId, change);
      if (cached) return cached;
      const level = this.#levels.find(sellerId, change);
      if (level) table.add(copyLevel(level));
      else if (!this.#isComplete) throw new NotLoadedError();
      return table.find(sellerId, change);
    });
    for (const level of levels) if (level) startBatch(level);
    if (source === undefined) return levels;
    for (const level of levels) {
      if (!level) continue;
      level.sequence = this.#sequences.get(keyOf({ id: level.id, source }))?.sequence ?? -1;
    }
    return levels;
  }

  write(levels: Iterable<StockLevel>, source: string | undefined): void {
    for (const { id, sku, stock, position, at, isMoved, sequence, isSequenceMoved } of levels) {
      if (isMoved) {
        const level = { id, sku, stock, position, at };
        this.load(level);
        this.#written.set(id, level);
      }
      if (source === undefined || !isSequenceMoved) continue;
      const storedSequence = { id, source, sequence };
      this.loadSequence(storedSequence);
      this.#writtenSequences.set(keyOf(storedSequence), storedSequence);
    }
  }

  /** Of all products, if they were loaded. */
  countInStock(): number {
    return this.#levels.values().reduce((count, { stock }) => (stock > 0 ? count + 1 : count), 0);
  }

  /** Of all products in stock but these, if all were loaded, in the order of their ids. */
  listInStock(except: ReadonlySet<ProductId>): readonly StockLevel[] {
    return [...this.#levels.values()].filter(({ id, stock }) => stock > 0 && !except.has(id))
      .sort((one, other) => one.id - other.id).map(copyLevel);
  }

  /** What to write: the last level of each product, and the last number of each source. */
  listWritten() {
    return { levels: [...this.#written.values()], sequences: [...this.#writtenSequences.values()] };
  }
}

function keyOf({ id, source }: Pick<StoredSequence, 'id' | 'source'>): string {
  return `${id} ${source}`;
}
