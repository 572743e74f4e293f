/**
 * The only way in which products change: the row, the next position of its seller, and the row of
 * history at that position, together. Every movement of stock is in the history too.
 */
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../domain/error.ts';
import type { SellerId } from '../../domain/id.ts';
import {
  formatProduct, type NewProduct, type Product, type ProductTarget, type Sku,
} from '../../domain/product.ts';
import type { Author, WrittenProduct } from '../store.ts';
import type { Positions } from './positions.ts';
import { PRODUCT_COLUMNS, prepareFindProduct } from './products.ts';

type ChangeType = 'created' | 'updated' | 'deleted' | 'stock';

export class ProductChanges {
  readonly #positions: Positions;
  readonly #find;
  readonly #insert;
  readonly #update;
  readonly #delete;
  readonly #insertChange;

  constructor(db: DatabaseSync, positions: Positions) {
    this.#positions = positions;
    this.#find = prepareFindProduct(db);
    this.#insert = db.prepare(`
      INSERT INTO product (seller_id, ${PRODUCT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (seller_id, sku) DO NOTHING`);
    this.#update = db.prepare(`
      UPDATE product
      SET sku = ?, name = ?, category = ?, price_minor = ?, stock = ?, position = ?, updated_at = ?
      WHERE seller_id = ? AND id = ?`);
    this.#delete = db.prepare('DELETE FROM product WHERE seller_id = ? AND id = ?');
    this.#insertChange = db.prepare(`
      INSERT INTO change (seller_id, position, type, product_id, key_id, at,
        stock_before, stock_after, product)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  }

  find(sellerId: SellerId, target: ProductTarget): Product | undefined {
    return this.#find(sellerId, this.#positions.currencyOf(sellerId), target);
  }

  /** @throws AppError `sku_taken` */
  create(author: Author, product: NewProduct, at: number): WrittenProduct {
    const { sellerId } = author;
    const { position, currency } = this.#positions.take(sellerId);
    const id = this.#positions.takeProductId(sellerId, at);
    const { sku, name, category, priceMinor, stock } = product;
    const { changes } = this.#insert.run(
      sellerId, id, sku, name, category, priceMinor, stock, position, at, at,
    );
    if (changes === 0) throw skuTaken(sku);
    const created = {
      ...product, sellerId, id, currency, position, createdAt: at, updatedAt: at,
    };
    const json = formatProduct(created);
    this.#record('created', author, created, 0, json);
    return { effect: 'created', id, position, json, isReplay: false };
  }

  /** Content that is the same takes no position. @throws AppError `sku_taken` */
  update(author: Author, before: Product, to: NewProduct, at: number): WrittenProduct {
    const { id, sellerId } = before;
    if (isSame(before, to)) {
      const json = formatProduct(before);
      return { effect: 'unchanged', id, position: before.position, json, isReplay: false };
    }
    if (to.sku !== before.sku && this.find(sellerId, { sku: to.sku })) throw skuTaken(to.sku);
    const { position } = this.#positions.take(sellerId);
    const updatedAt = Math.max(at, before.updatedAt); // a clock may step backwards
    const after = { ...before, ...to, position, updatedAt };
    this.#update.run(
      after.sku, after.name, after.category, after.priceMinor, after.stock, position, updatedAt,
      sellerId, id,
    );
    const json = formatProduct(after);
    if (isSame(before, { ...to, stock: before.stock })) {
      this.#record('stock', author, after, before.stock, null);
    } else {
      this.#record('updated', author, after, before.stock, json);
    }
    return { effect: 'updated', id, position, json, isReplay: false };
  }

  /** The history keeps the product as it last was; its stock has moved to nothing. */
  delete(author: Author, before: Product, at: number): void {
    const { sellerId, id, stock } = before;
    const { position } = this.#positions.take(sellerId);
    this.#delete.run(sellerId, id);
    const updatedAt = Math.max(at, before.updatedAt);
    const last = { ...before, position, updatedAt, stock: 0 };
    this.#record('deleted', author, last, stock, formatProduct(before));
  }

  #record(
    type: ChangeType, { keyId }: Author, product: Product, stockBefore: number, json: string | null,
  ): void {
    const { sellerId, position, id, updatedAt, stock } = product;
    this.#insertChange.run(
      sellerId, position, type, id, keyId, updatedAt, stockBefore, stock, json,
    );
  }
}

/** Whether two products agree in what a seller sends. */
export function isSame(one: NewProduct, other: NewProduct): boolean {
  return one.sku === other.sku && one.name === other.name && one.category === other.category
    && one.priceMinor === other.priceMinor && one.stock === other.stock;
}

function skuTaken(sku: Sku): AppError {
  const detail = `You already have a product with the SKU ${JSON.stringify(sku)}.`;
  return new AppError('sku_taken', `${detail} Choose another SKU.`);
}
