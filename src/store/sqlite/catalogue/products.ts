/** Products in SQLite: how they are found and listed, and the mapping of their rows. */
import type { DatabaseSync } from 'node:sqlite';
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import type { ProductTarget } from '../../../domain/catalogue/product.ts';
import type { Product, Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ProductPage } from '../../store.ts';
import type { PageQuery } from '../../write.ts';
import { readCurrency, readInteger, readText, type Row } from '../engine/row.ts';

export const PRODUCT_COLUMNS =
  'id, sku, name, category, price_minor, stock, position, created_at, updated_at';

/** Finds a product of a seller whose currency is known. */
export function prepareFindProduct(db: DatabaseSync) {
  const select = `SELECT ${PRODUCT_COLUMNS} FROM product`;
  const byId = db.prepare(`${select} WHERE seller_id = ? AND id = ?`);
  const bySku = db.prepare(`${select} WHERE seller_id = ? AND sku = ?`);
  return (sellerId: SellerId, currency: Currency, target: ProductTarget): Product | undefined => {
    const row = 'id' in target ? byId.get(sellerId, target.id) : bySku.get(sellerId, target.sku);
    return row && mapProduct(sellerId, currency, row);
  };
}

export function productQueries(db: DatabaseSync) {
  const findSeller = db.prepare(`
    SELECT position, currency, currency_decimals FROM seller WHERE id = ?`);
  const find = prepareFindProduct(db);
  const list = db.prepare(`
    SELECT ${PRODUCT_COLUMNS} FROM product WHERE seller_id = ? AND id > ? ORDER BY id LIMIT ?`);

  return {
    findProduct(sellerId: SellerId, target: ProductTarget): Product | undefined {
      const seller = findSeller.get(sellerId);
      return seller && find(sellerId, readCurrency(seller), target);
    },
    listProducts(sellerId: SellerId, query: PageQuery<ProductId>): ProductPage {
      const seller = findSeller.get(sellerId);
      if (!seller) return { products: [], hasMore: false, position: 0 };
      const currency = readCurrency(seller);
      const rows = list.all(sellerId, query.after ?? 0, query.limit + 1);
      const page = rows.slice(0, query.limit);
      return {
        products: page.map((row) => mapProduct(sellerId, currency, row)),
        hasMore: rows.length > query.limit,
        position: readInteger(seller, 'position'),
      };
    },
  };
}

export function mapProduct(sellerId: SellerId, currency: Currency, row: Row): Product {
  return {
    sellerId,
    // The columns hold what these brands mean.
    id: readInteger(row, 'id') as ProductId,
    sku: readText(row, 'sku') as Sku,
    name: readText(row, 'name'),
    category: readText(row, 'category'),
    priceMinor: readInteger(row, 'price_minor'),
    currency,
    stock: readInteger(row, 'stock'),
    position: readInteger(row, 'position'),
    createdAt: readInteger(row, 'created_at'),
    updatedAt: readInteger(row, 'updated_at'),
  };
}
