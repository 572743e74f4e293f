/**
 * Products in SQLite, and the history: every change takes the next position of its seller and
 * writes its row of history in the same transaction.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Currency } from '../../domain/currency.ts';
import { AppError } from '../../domain/error.ts';
import type { ProductId, SellerId } from '../../domain/id.ts';
import { formatProduct, type NewProduct, type Product, type Sku } from '../../domain/product.ts';
import type { Author, PageQuery, ProductPage, RecordedProduct } from '../store.ts';
import type { Positions } from './positions.ts';
import { readCurrency, readInteger, readText, type Row } from './row.ts';

const COLUMNS = 'id, sku, name, category, price_minor, stock, position, created_at, updated_at';

export function productUnits(db: DatabaseSync, positions: Positions) {
  const insert = db.prepare(`
    INSERT INTO product (seller_id, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (seller_id, sku) DO NOTHING`);
  const insertChange = db.prepare(`
    INSERT INTO change (seller_id, position, type, product_id, key_id, at,
      stock_before, stock_after, product)
    VALUES (?, ?, 'created', ?, ?, ?, 0, ?, ?)`);
  return {
    createProduct(
      { author, product }: { author: Author; product: NewProduct }, at: number,
    ): RecordedProduct {
      const { sellerId, keyId } = author;
      const { position, currency } = positions.take(sellerId);
      const id = positions.takeProductId(sellerId, at);
      const created = {
        ...product, sellerId, id, currency, position, createdAt: at, updatedAt: at,
      };
      const { sku, name, category, priceMinor, stock } = product;
      const { changes } = insert.run(
        sellerId, id, sku, name, category, priceMinor, stock, position, at, at,
      );
      if (changes === 0) throw skuTaken(sku);
      const json = formatProduct(created);
      insertChange.run(sellerId, position, id, keyId, at, stock, json);
      return { id, position, json };
    },
  };
}

export function productQueries(db: DatabaseSync) {
  const findSeller = db.prepare(`
    SELECT position, currency, currency_decimals FROM seller WHERE id = ?`);
  const find = db.prepare(`SELECT ${COLUMNS} FROM product WHERE seller_id = ? AND id = ?`);
  const list = db.prepare(`
    SELECT ${COLUMNS} FROM product WHERE seller_id = ? AND id > ? ORDER BY id LIMIT ?`);

  return {
    findProduct(sellerId: SellerId, id: ProductId): Product | undefined {
      const seller = findSeller.get(sellerId); // its currency never changes
      const row = seller && find.get(sellerId, id);
      return row && mapProduct(sellerId, readCurrency(seller), row);
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

function skuTaken(sku: Sku): AppError {
  const detail = `You already have a product with the SKU ${JSON.stringify(sku)}.`;
  return new AppError('sku_taken', `${detail} Choose another SKU.`);
}

function mapProduct(sellerId: SellerId, currency: Currency, row: Row): Product {
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
