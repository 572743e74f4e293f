/** Products in SQLite: find and list queries. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ProductTarget } from '../../../domain/catalogue/product.ts';
import type { Product, Sku } from '../../../domain/catalogue/product-fields.ts';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { BARCODE_PRODUCTS_NAMED_LIMIT } from '../../../domain/limits.ts';
import type { BarcodeOwner, CatalogueStore } from '../../catalogue-store.ts';
import type { QueriesOf } from '../../sql/port-methods.ts';
import { decodeProduct, PRODUCT_COLUMNS, type ProductRow } from '../../sql/product-rows.ts';
import { IS_GTIN } from '../../sql/product-filter.ts';
import { readCurrency, readId, readInteger, readText } from '../../sql/sql.ts';

/** Prepares a query whose first columns are those of a product; its rows are arrays. */
export function prepareSelect(db: DatabaseSync, from: string): StatementSync {
  const statement = db.prepare(`SELECT ${PRODUCT_COLUMNS.join(', ')} ${from}`);
  statement.setReturnArrays(true);
  return statement;
}

/** Finds a product of a seller whose currency is known. */
export function prepareFindProduct(db: DatabaseSync) {
  const byId = prepareSelect(db, 'FROM product WHERE seller_id = ? AND id = ?');
  const bySku = prepareSelect(db, 'FROM product WHERE seller_id = ? AND sku = ?');
  return (sellerId: SellerId, currency: Currency, target: ProductTarget): Product | undefined => {
    const row = 'id' in target ? byId.get(sellerId, target.id) : bySku.get(sellerId, target.sku);
    // The cast: prepareSelect asks for arrays.
    return row && decodeProduct({ sellerId, currency }, row as unknown as ProductRow);
  };
}

const WITH_BARCODE = `
  FROM product AS p INDEXED BY product_barcode
  WHERE p.seller_id = ? AND ${IS_GTIN} = ? ORDER BY p.id LIMIT ${BARCODE_PRODUCTS_NAMED_LIMIT + 1}`;

/** Finds the products of a seller that have a barcode. */
export function prepareFindByBarcode(db: DatabaseSync) {
  const list = prepareSelect(db, WITH_BARCODE);
  return (sellerId: SellerId, currency: Currency, gtin: number): readonly Product[] =>
    // The cast: prepareSelect asks for arrays.
    (list.all(sellerId, gtin) as unknown as ProductRow[])
      .map((row) => decodeProduct({ sellerId, currency }, row));
}

/** Returns a function that finds the products with barcodes, as of `CatalogueStore`. */
export function prepareListBarcodeOwners(db: DatabaseSync) {
  const list = db.prepare(`SELECT p.id, p.sku ${WITH_BARCODE}`);
  return (sellerId: SellerId, gtins: readonly number[]): readonly BarcodeOwner[] =>
    gtins.flatMap((gtin) => list.all(sellerId, gtin).map((row) => ({
      gtin, id: readId<ProductId>(row, 'id'),
      sku: readText(row, 'sku') as Sku, // the column holds SKUs
    })));
}

/** Lists all rows in id order. */
export function prepareListProducts(db: DatabaseSync) {
  const list = prepareSelect(db, 'FROM product WHERE seller_id = ? AND id > ? ORDER BY id LIMIT ?');
  return (sellerId: SellerId, after: number, limit: number): readonly ProductRow[] =>
    // The cast: prepareSelect asks for arrays.
    list.all(sellerId, after, limit) as unknown as ProductRow[];
}

export function productQueries(db: DatabaseSync) {
  const findSeller = db.prepare(`
    SELECT position, currency, currency_decimals FROM seller WHERE id = ?`);
  const find = prepareFindProduct(db);
  const listAll = prepareListProducts(db);
  const listPart = prepareSelect(db, `
    FROM product INDEXED BY product_archived
    WHERE seller_id = ? AND archived = ? AND id > ? ORDER BY id LIMIT ?`);

  /** One by one, which is as quick as one statement for all. */
  function findAll<Key>(
    sellerId: SellerId, keys: readonly Key[], name: (key: Key) => ProductTarget,
  ): ReadonlyMap<Key, Product> {
    const products = new Map<Key, Product>();
    const seller = findSeller.get(sellerId);
    if (!seller) return products;
    const currency = readCurrency(seller);
    for (const key of keys) {
      const product = find(sellerId, currency, name(key));
      if (product) products.set(key, product);
    }
    return products;
  }

  return {
    listBarcodeOwners: prepareListBarcodeOwners(db),
    findProducts: (sellerId, ids) => findAll(sellerId, ids, (id) => ({ id })),
    findProductsBySku: (sellerId: SellerId, skus: readonly Sku[]) =>
      findAll(sellerId, skus, (sku) => ({ sku })),
    findProduct(sellerId, target) {
      const seller = findSeller.get(sellerId);
      return seller && find(sellerId, readCurrency(seller), target);
    },
    listProducts(sellerId, { after, limit, archived }) {
      const seller = findSeller.get(sellerId);
      if (!seller) return { products: [], hasMore: false, position: 0 };
      const currency = readCurrency(seller);
      const first = after ?? 0;
      const rows = archived === 'any' ? listAll(sellerId, first, limit + 1)
        // The cast: prepareSelect asks for arrays.
        : listPart.all(sellerId, Number(archived === true), first, limit + 1) as
          unknown as ProductRow[];
      const page = rows.slice(0, limit);
      return {
        products: page.map((row) => decodeProduct({ sellerId, currency }, row)),
        hasMore: rows.length > limit,
        position: readInteger(seller, 'position'),
      };
    },
  } satisfies Partial<QueriesOf<CatalogueStore>> & Record<string, unknown>;
}
