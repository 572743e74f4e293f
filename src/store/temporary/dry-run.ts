/**
 * Dry runs of imports and stock changes that arrive in batches. A temporary database, in memory
 * while small and then in a file, keeps what earlier batches would have written, so later batches
 * see it, however long the input is. Nothing is written to the catalogue.
 */
import { toGtin } from '../../domain/catalogue/barcode.ts';
import type { NewProduct, Product, Sku } from '../../domain/catalogue/product-fields.ts';
import { isSameProduct, type ProductRow } from '../../domain/catalogue/product.ts';
import type { StockChange } from '../../domain/catalogue/stock-change.ts';
import type {
  BarcodeOwner, ImportDryRun, ImportEffect, ImportMode, StockDryRun,
} from '../catalogue-store.ts';
import { BARCODE_PRODUCTS_NAMED_LIMIT } from '../../domain/limits.ts';
import { parseProductId, type ProductId, type SellerId } from '../../domain/id.ts';
import { groupOwners, listGtins, resolveBarcodes } from '../rules/barcode-owners.ts';
import type { Awaitable, HistoryQueries } from '../rules/history/queries.ts';
import { compareRowIds, mergeImportRow, nameByBarcode } from '../rules/product-changes.ts';
import { listOtherIds, StockBatch } from '../rules/stock-batch.ts';
import type { StockLevel } from '../rules/stock-levels.ts';
import type { Actor } from '../write.ts';
import { openTemporaryItems } from './temporary-database.ts';

/** `queries` finds products in the catalogue. */
export function openImportDryRun(
  sellerId: SellerId, mode: ImportMode,
  queries: Pick<HistoryQueries, 'findProducts' | 'findProductsBySku' | 'listBarcodeOwners'>,
): ImportDryRun {
  const earlierProducts = openTemporaryItems<NewProduct>();
  /** The SKUs of products that got a barcode from an earlier row. */
  const earlierSkus = openTemporaryItems<readonly Sku[]>();

  function tryRow(row: ProductRow, before: NewProduct | undefined): ImportEffect {
    const product = mergeImportRow(row, mode, before);
    if (typeof product === 'string') return product;
    if (before && isSameProduct(before, product)) return 'unchanged';
    earlierProducts.set(product.sku, product);
    if (product.barcode && product.barcode !== before?.barcode) {
      const gtin = String(toGtin(product.barcode));
      earlierSkus.set(gtin, [...earlierSkus.find(gtin) ?? [], product.sku]);
    }
    return before ? 'updated' : 'created';
  }

  return {
    async try(rows) {
      const named = rows.filter(({ sku }) => sku === undefined);
      const gtins = new Set(named.map(({ barcode }) => toGtin(barcode ?? '')));
      const byGtin = groupOwners(await queries.listBarcodeOwners(sellerId, [...gtins]));
      const skus = [...[...byGtin.values()].flat(), ...rows].flatMap(({ sku }) => sku ?? []);
      const existing = await queries.findProductsBySku(sellerId, [...new Set(skus)]);
      const find = (sku: Sku): NewProduct | undefined =>
        earlierProducts.find(sku) ?? existing.get(sku);
      const barcodes = nameByBarcode((gtin): readonly Pick<NewProduct, 'sku'>[] => {
        const group = byGtin.get(gtin) ?? [];
        if (group.length > BARCODE_PRODUCTS_NAMED_LIMIT) return group;
        const earlier = earlierSkus.find(String(gtin)) ?? [];
        return [...new Set([...group.map(({ sku }) => sku), ...earlier])]
          .flatMap((sku) => find(sku) ?? [])
          .filter(({ barcode }) => barcode && toGtin(barcode) === gtin);
      });
      const otherIds = rows.flatMap(({ sku, id }) => {
        const productId = parseProductId(sellerId, id);
        const own = sku === undefined ? undefined : existing.get(sku)?.id;
        return productId === undefined || productId === own ? [] : productId;
      });
      const owners = otherIds.length > 0 ? await queries.findProducts(sellerId, otherIds)
        : new Map<ProductId, Product>();
      const ids = compareRowIds(sellerId, (id) => owners.get(id));
      const effects = rows.map((row): ImportEffect => {
        const product = row.sku === undefined ? barcodes.find(row.barcode ?? '') : undefined;
        if (typeof product === 'string') return product;
        const sku = row.sku ?? product?.sku;
        const isMismatch = ids.isMismatch(row, sku && existing.get(sku));
        return isMismatch ? 'mismatch' : tryRow(row, sku && find(sku));
      });
      return { effects, ...ids.readOutcome(), ...barcodes.readOutcome() };
    },
    async close() {
      earlierProducts.close();
      earlierSkus.close();
    },
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
