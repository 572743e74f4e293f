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
import { AppError } from '../../domain/error.ts';
import { BARCODE_PRODUCTS_NAMED_LIMIT } from '../../domain/limits.ts';
import { parseProductId, type ProductId, type SellerId } from '../../domain/id.ts';
import { groupOwners, listGtins, resolveBarcodes } from '../rules/barcode-owners.ts';
import type { Awaitable, HistoryQueries } from '../rules/history/queries.ts';
import { reviewOf } from '../rules/mutations/mutation-review.ts';
import {
  compareRowIds, isStockMovement, mergeImportRow, nameByBarcode,
} from '../rules/product-changes.ts';
import { listOtherIds, StockBatch } from '../rules/stock-batch.ts';
import type { StockLevel } from '../rules/stock-levels.ts';
import type { Actor } from '../write.ts';
import { readText } from '../sql/sql.ts';
import { openTables, openTemporaryItems } from './temporary-database.ts';

type ImportQueries = Pick<
  HistoryQueries, 'findProducts' | 'findProductsBySku' | 'findSeller' | 'listBarcodeOwners'>;

/** `queries` finds products in the catalogue. */
export function openImportDryRun(
  actor: Actor, mode: ImportMode, queries: ImportQueries,
): ImportDryRun {
  const { sellerId } = actor;
  const earlierProducts = openTemporaryItems<NewProduct>();
  const earlierOwners = openBarcodeOwners();

  function tryRow(
    row: ProductRow, before: NewProduct | undefined, isRejected: IsRejected | undefined,
  ): ImportEffect {
    const product = mergeImportRow(row, mode, before);
    if (typeof product === 'string') return product;
    if (before && isSameProduct(before, product)) return 'unchanged';
    if (isRejected?.(before, product)) return 'rejected';
    earlierProducts.set(product.sku, product);
    if (product.barcode !== before?.barcode) {
      if (product.barcode) earlierOwners.set(product.sku, toGtin(product.barcode));
      else earlierOwners.remove(product.sku);
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
        const earlier = earlierOwners.list(gtin);
        return [...new Set([...group.map(({ sku }) => sku), ...earlier])]
          .flatMap((sku) => find(sku) ?? [])
          .filter(({ barcode }) => barcode && toGtin(barcode) === gtin);
      });
      const owners = await findOwners(queries, sellerId, rows, existing);
      const ids = compareRowIds(sellerId, (id) => owners.get(id));
      const reasons: string[] = [];
      const isRejected = actor.review && await openReview(actor, queries, existing, reasons);
      const effects = rows.map((row): ImportEffect => {
        const product = row.sku === undefined ? barcodes.find(row.barcode ?? '') : undefined;
        if (typeof product === 'string') return product;
        const sku = row.sku ?? product?.sku;
        const isMismatch = ids.isMismatch(row, sku && existing.get(sku));
        return isMismatch ? 'mismatch' : tryRow(row, sku && find(sku), isRejected);
      });
      const rejections = reasons.length > 0 ? { reasons } : {};
      return { effects, ...ids.readOutcome(), ...barcodes.readOutcome(), ...rejections };
    },
    async close() {
      earlierProducts.close();
      earlierOwners.close();
    },
  };
}

/** The products that got a barcode from earlier rows; of many with the same one, the first. */
function openBarcodeOwners() {
  const db = openTables(`
    CREATE TABLE owner (sku TEXT PRIMARY KEY, gtin INTEGER NOT NULL) STRICT;
    CREATE INDEX owner_gtin ON owner (gtin)`);
  const insert = db.prepare('INSERT OR REPLACE INTO owner (sku, gtin) VALUES (?, ?)');
  const remove = db.prepare('DELETE FROM owner WHERE sku = ?');
  const list = db.prepare(`
    SELECT sku FROM owner WHERE gtin = ? ORDER BY rowid LIMIT ${BARCODE_PRODUCTS_NAMED_LIMIT + 1}`);
  return {
    set: (sku: Sku, gtin: number) => void insert.run(sku, gtin),
    remove: (sku: Sku) => void remove.run(sku),
    // The cast: `set` wrote it.
    list: (gtin: number) => list.all(gtin).map((row) => readText(row, 'sku') as Sku),
    close: () => db[Symbol.dispose](),
  };
}

/** The products whose ids rows have in addition to a SKU of another product. */
async function findOwners(
  queries: ImportQueries, sellerId: SellerId, rows: readonly ProductRow[],
  existing: ReadonlyMap<Sku, Product>,
): Promise<ReadonlyMap<ProductId, Product>> {
  const otherIds = rows.flatMap(({ sku, id }) => {
    const productId = parseProductId(sellerId, id);
    const own = sku === undefined ? undefined : existing.get(sku)?.id;
    return productId === undefined || productId === own ? [] : productId;
  });
  return otherIds.length > 0 ? await queries.findProducts(sellerId, otherIds) : new Map();
}

type IsRejected = (before: NewProduct | undefined, product: NewProduct) => boolean;

/** Reviews rows. A product of an earlier row has a provisional id, position and times. */
async function openReview(
  actor: Actor, queries: Pick<HistoryQueries, 'findSeller'>,
  existing: ReadonlyMap<Sku, Product>, reasons: string[],
): Promise<IsRejected> {
  const { sellerId } = actor;
  const { currency } = await queries.findSeller(sellerId) ?? {};
  if (!currency) throw new AppError('not_found', 'There is no such seller.');
  // The cast makes it an id: no product has it.
  const id = 0 as ProductId;
  const provisional = { sellerId, currency, id, position: 0, createdAt: 0, updatedAt: 0 };
  return (earlier, product) => {
    const base = existing.get(product.sku);
    const before = earlier && { ...provisional, ...base, ...earlier };
    const after = { ...provisional, ...before, ...product };
    const type = !before ? 'created' : isStockMovement(before, after) ? 'stock' : 'updated';
    const reason = actor.review?.ask({ type, actor, before, after, isDryRun: true });
    if (reason !== undefined) reasons.push(reason);
    return reason !== undefined;
  };
}

type TriedLevel = Pick<StockLevel, 'stock' | 'position' | 'sequence'>;

/** A dry run writes nothing that could reveal it. */
const NO_ORIGIN = { source: undefined, reason: undefined };

interface StockQueries extends Pick<HistoryQueries, 'findProducts'> {
  readLevels(changes: readonly StockChange[]): Awaitable<readonly (StockLevel | undefined)[]>;
  listBarcodeOwners(gtins: readonly number[]): Awaitable<readonly BarcodeOwner[]>;
}

/** `queries` find products in the catalogue, which was at `position`. */
export function openStockDryRun(
  actor: Actor, position: number, queries: StockQueries,
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
      const barcodeOwners = groupOwners(await queries.listBarcodeOwners(listGtins(changes)));
      const references = resolveBarcodes(actor.sellerId, changes, barcodeOwners);
      const levels = await queries.readLevels(references);
      for (const level of new Set(levels)) if (level) restore(level);
      const batch = new StockBatch({ actor, origin: NO_ORIGIN, position: last, at: 0 });
      const others = listOtherIds(actor.sellerId, changes, levels);
      const owners = others.size > 0 ? await queries.readLevels([...others.values()]) : [];
      const results = batch.applyAll(changes, levels, others, owners, barcodeOwners);
      await reviewOf(actor)?.tryBatch(queries, batch, last + 1);
      for (const { id, stock, position: moved, sequence } of batch.namedLevels) {
        earlierLevels.set(String(id), { stock, position: moved, sequence });
      }
      last += batch.movements.length;
      return { results, position: last };
    },
    close: async () => earlierLevels.close(),
  };
}
