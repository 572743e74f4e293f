/**
 * Loads the rows that a mutation names by the queries of any adapter, to run it without a
 * transaction. They need not be of one snapshot, so its outcome may never happen.
 */
import { toGtin } from '../../../domain/catalogue/barcode.ts';
import type { StockSync } from '../../../domain/catalogue/stock-sync.ts';
import { formatProductId, type ProductId, type SellerId } from '../../../domain/id.ts';
import { AppError } from '../../../domain/error.ts';
import { BARCODE_PRODUCTS_NAMED_LIMIT } from '../../../domain/limits.ts';
import { STOCKTAKE_STEP_PRODUCTS } from '../../limits.ts';
import { groupOwners, resolveBarcodes } from '../barcode-owners.ts';
import type { HistoryQueries } from '../history/queries.ts';
import { type LoadedSeller, makeLoadedSeller } from './loaded-seller.ts';
import { type CatalogueCall, NamedRows } from './named-rows.ts';

/** Above every id of a product. The ids of new products are taken when they are written. */
const LAST_PRODUCT_ID = 2 ** 52;

/** @throws AppError `not_found` if there is no such seller */
export async function loadNamed(
  queries: HistoryQueries, sellerId: SellerId, call: CatalogueCall,
): Promise<LoadedSeller> {
  const rows = new NamedRows();
  rows.add(sellerId, call);
  const [found, { position }] =
    await Promise.all([queries.findSeller(sellerId), queries.findReach(sellerId)]);
  if (!found) throw new AppError('not_found', 'There is no such seller.');
  const state = {
    position, currency: found.currency, lastAt: 0, lastProductId: LAST_PRODUCT_ID,
    isDisabled: false,
  };
  const seller = makeLoadedSeller(state, true, undefined);
  if (rows.isStock) await loadLevels(queries, sellerId, call, rows, seller);
  else await loadProducts(queries, sellerId, rows, seller);
  return seller;
}

async function loadProducts(
  queries: HistoryQueries, sellerId: SellerId, { skus, ids, gtins, deleted }: NamedRows,
  { products }: LoadedSeller,
): Promise<void> {
  const owners = gtins.size > 0 ? await queries.listBarcodeOwners(sellerId, [...gtins]) : [];
  const allIds = new Set([...ids, ...owners.map(({ id }) => id)]);
  const [bySku, byId, deletions] = await Promise.all([
    queries.findProductsBySku(sellerId, [...skus]),
    allIds.size > 0 ? queries.findProducts(sellerId, [...allIds]) : new Map<ProductId, never>(),
    deleted.size > 0 ? queries.findLastDeletions(sellerId, [...deleted])
      : new Map<ProductId, never>(),
  ]);
  products.expect(skus, ids, gtins);
  for (const product of [...bySku.values(), ...byId.values()]) products.load(product);
  for (const [id, position] of deletions) products.noteDeletion(id, position);
  for (const [gtin, group] of groupOwners(owners)) {
    if (group.length <= BARCODE_PRODUCTS_NAMED_LIMIT) continue;
    products.loadCrowded(group.flatMap(({ id }) => byId.get(id) ?? [])
      .filter(({ barcode }) => barcode && toGtin(barcode) === gtin));
  }
}

const NO_CHANGES: Pick<StockSync, 'changes' | 'source' | 'faulty'> = {
  changes: [], source: undefined,
};

async function loadLevels(
  queries: HistoryQueries, sellerId: SellerId, { input }: CatalogueCall, rows: NamedRows,
  { levels }: LoadedSeller,
): Promise<void> {
  // The cast: which members an input has depends on its mutation.
  const { sync = NO_CHANGES } = input as { readonly sync?: typeof NO_CHANGES };
  const { changes, source, faulty = [] } = sync;
  const owners = await queries.listBarcodeOwners(sellerId, [...rows.gtins]);
  for (const owner of owners) levels.loadOwner(owner);
  const references = [
    ...resolveBarcodes(sellerId, changes, groupOwners(owners)), ...faulty,
    ...[...rows.ids].map((id) => ({ id: formatProductId(sellerId, id) })),
  ];
  for (const level of await queries.readLevels(sellerId, references, source)) {
    if (!level) continue;
    levels.load(level);
    const { id, sequence } = level;
    if (source !== undefined && sequence >= 0) levels.loadSequence({ id, source, sequence });
  }
  if (!rows.isStocktake) return;
  for (let after: ProductId | undefined; ;) {
    const page = await queries.listLevels(sellerId, { after, limit: STOCKTAKE_STEP_PRODUCTS });
    for (const level of page) if (level.stock > 0) levels.load(level);
    if (page.length < STOCKTAKE_STEP_PRODUCTS) return;
    after = page.at(-1)?.id;
  }
}
