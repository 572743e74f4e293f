/**
 * The mutations that change the stock of many products. A batch is evaluated in memory, and then
 * written completely or not at all. Synchronous, as `product-mutations.ts`.
 */
import { formatProductId, type SellerId } from '../../../domain/id.ts';
import type {
  ProductReference, StockChange, StockResult,
} from '../../../domain/catalogue/stock-change.ts';
import {
  isOverZeroLimit, type StockOrigin, type StockSync,
} from '../../../domain/catalogue/stock-sync.ts';
import type { BarcodeOwner, SyncedStock, ZeroingBatch } from '../../catalogue-store.ts';
import { countResults, type OpenRecord, type WriteActor } from './import-records.ts';
import { type BarcodeOwners, groupOwners, listGtins, resolveBarcodes } from '../barcode-owners.ts';
import { findRejection, listOtherIds, StockBatch } from '../stock-batch.ts';
import type { LevelTable, StockLevel, StockLevelCache } from '../stock-levels.ts';
import { encodeResults } from '../stock-outcome.ts';
import type { PositionAllocator } from './position-allocator.ts';

/** Where an adapter keeps stock levels. */
export interface StockRows {
  /**
   * The level of each change's product, undefined if the seller has no such product. Levels missing
   * from `table` are read and added to it.
   */
  readLevels(
    sellerId: SellerId, changes: readonly (StockChange | ProductReference)[],
    source: string | undefined, table?: LevelTable,
  ): readonly (StockLevel | undefined)[];
  /** As of `CatalogueStore`. */
  listBarcodeOwners(sellerId: SellerId, gtins: readonly number[]): readonly BarcodeOwner[];
  /** Stores the moved levels and sequence numbers of a batch, at the latest when flushed. */
  update(sellerId: SellerId, levels: Iterable<StockLevel>, source: string | undefined): void;
  /** Makes earlier updates visible to the reads of this interface. */
  flush(): void;
  /** Products in stock that are not among `namedLevels`. */
  countMissing(sellerId: SellerId, namedLevels: ReadonlySet<StockLevel>): number;
  /** In pages. A page may be updated before the next one is read. */
  listMissing(
    sellerId: SellerId, namedLevels: ReadonlySet<StockLevel>,
  ): Iterable<readonly StockLevel[]>;
}

/** The names of the members are hashed (rules/idempotency.ts). */
interface SyncInput {
  readonly actor: WriteActor;
  readonly sync: StockSync;
  readonly isDryRun: boolean;
}

/** As above, except that `generated` is not hashed. */
interface ZeroInput extends StockOrigin, Pick<ZeroingBatch, 'zeroLimitPercent'> {
  readonly actor: WriteActor;
  readonly generated: Pick<ZeroingBatch, 'products' | 'total'>;
}

/** `cache`: clear it after every rollback. */
export function stockMutations(
  rows: StockRows, positions: PositionAllocator, openRecord: OpenRecord, cache: StockLevelCache,
) {
  const writer = { rows, positions };
  return {
    syncStock(input: SyncInput, now: number) {
      const { sync, sync: { changes, faulty = [] }, isDryRun } = input;
      const { actor, actor: { sellerId }, close } = openRecord(input.actor, now);
      const { at } = positions.next(sellerId, now);
      const before = positions.of(sellerId);
      const table = cache.get(sellerId, before);
      // Levels come from the table, and evaluation changes them even if the batch is not written.
      if (table.size === 0 || isDryRun || sync.isAtomic || sync.completion) rows.flush();
      const owners = groupOwners(rows.listBarcodeOwners(sellerId, listGtins(changes)));
      const references = [...resolveBarcodes(sellerId, changes, owners), ...faulty];
      const levels = rows.readLevels(sellerId, references, sync.source, table);
      const batch = new StockBatch({ actor, origin: sync, position: before, at });
      const results = applyChanges(rows, batch, changes, levels, owners);
      for (const level of levels.slice(changes.length)) batch.markNamed(level);
      const { namedLevels } = batch;
      const missing = sync.completion ? rows.countMissing(sellerId, namedLevels) : 0;
      const listMissing = () => rows.listMissing(sellerId, namedLevels);
      const rejection = findRejection(sync, { results, namedLevels, missing, listMissing });
      if (!rejection && !isDryRun) {
        write(writer, batch, sync.source);
        if (missing > 0) zeroMissing(writer, batch);
        else if (!cache.put(sellerId, table, positions.of(sellerId))) rows.flush();
      }
      const unwritten = isDryRun && !rejection ? batch.movements.length + missing : 0;
      const position = positions.of(sellerId) + unwritten;
      const importId = rejection || isDryRun ? undefined : close(countResults(results, missing));
      const encoded = encodeResults(results, changes);
      return { results: encoded, zeroed: missing, rejection, position, isReplay: false, importId };
    },

    /** Sets the products to 0 that a streamed stocktake did not name. */
    zeroStock(input: ZeroInput, now: number): SyncedStock {
      const { source, reason, zeroLimitPercent, generated: { products, total } } = input;
      const { actor, close } = openRecord(input.actor, now);
      const { sellerId } = actor;
      const { at } = positions.next(sellerId, now);
      const position = positions.of(sellerId);
      if (total && isOverZeroLimit(total.missing, total.inStock, zeroLimitPercent)) {
        const zeroed = total.missing;
        return { results: [], zeroed, rejection: 'zero_limit', position, isReplay: false };
      }
      const changes = products.map((id) => ({ id: formatProductId(sellerId, id), set: 0 }));
      const levels = rows.readLevels(sellerId, changes, undefined);
      const batch = new StockBatch({ actor, origin: { source, reason }, position, at });
      const results = products.map((id, index) =>
        ({ ...batch.apply({ set: 0 }, levels[index]), id }));
      write(writer, batch, undefined);
      const zeroed = batch.movements.length;
      return {
        results, zeroed, rejection: undefined, position: positions.of(sellerId), isReplay: false,
        importId: close(countResults([], zeroed)),
      };
    },
  };
}

function applyChanges(
  rows: StockRows, batch: StockBatch, changes: readonly StockChange[],
  levels: readonly (StockLevel | undefined)[], barcodeOwners: BarcodeOwners,
): StockResult[] {
  const { sellerId } = batch.context.actor;
  const others = listOtherIds(sellerId, changes, levels);
  // Not from the table of levels: reading those again would reset their sequence numbers.
  const owners = others.size > 0 ? rows.readLevels(sellerId, [...others.values()], undefined) : [];
  return batch.applyAll(changes, levels, others, owners, barcodeOwners);
}

interface Writer {
  readonly rows: StockRows;
  readonly positions: PositionAllocator;
}

function write({ rows, positions }: Writer, batch: StockBatch, source: string | undefined): void {
  const { actor } = batch.context;
  actor.checks?.checkMovements(batch, positions.of(actor.sellerId) + 1);
  rows.update(actor.sellerId, batch.namedLevels, source);
  positions.addMovements(batch);
}

/** Sets all products in stock to 0 that a batch does not name, page by page. */
function zeroMissing(writer: Writer, { context, namedLevels }: StockBatch): void {
  const { rows, positions } = writer;
  const { sellerId } = context.actor;
  rows.flush();
  for (const missing of rows.listMissing(sellerId, namedLevels)) {
    const batch = new StockBatch({ ...context, position: positions.of(sellerId) });
    for (const level of missing) batch.apply({ set: 0 }, level);
    write(writer, batch, undefined);
    rows.flush();
  }
}
