/**
 * Dry runs of imports and stock changes that arrive in batches. A temporary database, in memory
 * while small and then in a file, keeps what earlier batches would have written, so later batches
 * see it, however long the input is. Nothing is written to the catalogue.
 */
import type { NewProduct, Product } from '../../domain/catalogue/product-fields.ts';
import { isSameProduct, type ProductRow } from '../../domain/catalogue/product.ts';
import type { StockChange } from '../../domain/catalogue/stock-change.ts';
import type {
  BarcodeOwner, ImportDryRun, ImportEffect, ImportMode, StockDryRun,
} from '../catalogue-store.ts';
import { parseProductId, type ProductId, type SellerId } from '../../domain/id.ts';
import { groupOwners, listGtins, resolveBarcodes } from '../rules/barcode-owners.ts';
import type { Awaitable, HistoryQueries } from '../rules/history/queries.ts';
import { compareRowIds, mergeImportRow } from '../rules/product-changes.ts';
import { listOtherIds, StockBatch } from '../rules/stock-batch.ts';
import type { StockLevel } from '../rules/stock-levels.ts';
import type { Actor } from '../write.ts';
import { openTemporaryItems } from './temporary-database.ts';

/** `queries` finds products in the catalogue. */
export function openImportDryRun(
  sellerId: SellerId, mode: ImportMode,
  queries: Pick<HistoryQueries, 'findProducts' | 'findProductsBySku'>,
): ImportDryRun {
  const earlierProducts = openTemporaryItems<NewProduct>();

  function tryRow(row: ProductRow, existing: NewProduct | undefined): ImportEffect {
    const before = earlierProducts.find(row.sku) ?? existing;
    const product = mergeImportRow(row, mode, before);
    if (typeof product === 'string') return product;
    if (before && isSameProduct(before, product)) return 'unchanged';
    earlierProducts.set(product.sku, product);
    return before ? 'updated' : 'created';
  }

  return {
    async try(rows) {
      const skus = [...new Set(rows.map(({ sku }) => sku))];
      const existing = await queries.findProductsBySku(sellerId, skus);
      const otherIds = rows.flatMap(({ sku, id }) => {
        const productId = parseProductId(sellerId, id);
        return productId === undefined || productId === existing.get(sku)?.id ? [] : productId;
      });
      const owners = otherIds.length > 0 ? await queries.findProducts(sellerId, otherIds)
        : new Map<ProductId, Product>();
      const ids = compareRowIds(sellerId, (id) => owners.get(id));
      const effects = rows.map((row): ImportEffect => {
        const before = existing.get(row.sku);
        return ids.isMismatch(row, before) ? 'mismatch' : tryRow(row, before);
      });
      return { effects, ...ids.readOutcome() };
    },
    close: async () => earlierProducts.close(),
  };
}

type TriedLevel = Pick<StockLevel, 'stock' | 'position' | 'sequence'>;

/** A dry run writes nothing that could reveal it. */
const NO_ORIGIN = { source: undefined, reason: undefined };

/** `read` and `listOwners` find products in the catalogue, which was at `position`. */
export function openStockDryRun(
  actor: Actor, position: number,
  read: (changes: readonly StockChange[]) => Awaitable<readonly (StockLevel | undefined)[]>,
  listOwners: (gtins: readonly number[]) => Awaitable<readonly BarcodeOwner[]>,
): StockDryRun {
  const earlierLevels = openTemporaryItems<TriedLevel>();
  let last = position;

  /** Sets a level to what earlier batches would have left. */
  function restore(level: StockLevel): void {
    const earlierLevel = earlierLevels.find(String(level.id));
    if (!earlierLevel) return;
    level.stock = earlierLevel.stock;
    level.position = earlierLevel.position;
    // If earlier changes had no sequence, the stored one was not read.
    level.sequence = Math.max(level.sequence, earlierLevel.sequence);
  }

  return {
    async try(changes) {
      const barcodeOwners = groupOwners(await listOwners(listGtins(changes)));
      const levels = await read(resolveBarcodes(actor.sellerId, changes, barcodeOwners));
      for (const level of new Set(levels)) if (level) restore(level);
      const batch = new StockBatch({ actor, origin: NO_ORIGIN, position: last, at: 0 });
      const others = listOtherIds(actor.sellerId, changes, levels);
      const owners = others.size > 0 ? await read([...others.values()]) : [];
      const results = batch.applyAll(changes, levels, others, owners, barcodeOwners);
      for (const { id, stock, position: moved, sequence } of batch.namedLevels) {
        earlierLevels.set(String(id), { stock, position: moved, sequence });
      }
      last += batch.movements.length;
      return { results, position: last };
    },
    close: async () => earlierLevels.close(),
  };
}
