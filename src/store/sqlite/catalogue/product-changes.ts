/**
 * Creates, changes and deletes one product: its row, the next position of its seller, and the row
 * of history at that position, together. `stock-units.ts` is the only other writer of products: it
 * does the same for the stock of many at once.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { ChangeType } from '../../../domain/catalogue/change.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import {
  formatProduct, isSameProduct, type ProductTarget,
} from '../../../domain/catalogue/product.ts';
import {
  type NewProduct, type Product, SENT_FIELDS, type Sku,
} from '../../../domain/catalogue/product-fields.ts';
import type { WrittenProduct } from '../../catalogue-store.ts';
import type { Actor } from '../../write.ts';
import { HistoryWriter } from './history-writer.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { encodeProduct, prepareFindProduct, PRODUCT_COLUMNS } from './products.ts';

export class ProductChanges {
  readonly #positions: PositionAllocator;
  readonly #find;
  readonly #insert;
  readonly #update;
  readonly #delete;
  readonly #forgetSequences;
  readonly #history: HistoryWriter;

  constructor(db: DatabaseSync, positions: PositionAllocator) {
    this.#positions = positions;
    this.#find = prepareFindProduct(db);
    this.#insert = db.prepare(`
      INSERT INTO product (seller_id, snapshot_position, ${PRODUCT_COLUMNS.join(', ')})
      VALUES (?, ?${', ?'.repeat(PRODUCT_COLUMNS.length)})
      ON CONFLICT (seller_id, sku) DO NOTHING`);
    this.#update = db.prepare(`
      UPDATE product
      SET ${SENT_FIELDS.map(({ column }) => `${column} = ?`).join(', ')}, position = ?,
        updated_at = ?, snapshot_position = coalesce(?, snapshot_position)
      WHERE seller_id = ? AND id = ?`);
    this.#delete = db.prepare('DELETE FROM product WHERE seller_id = ? AND id = ?');
    this.#forgetSequences = db.prepare(`
      DELETE FROM stock_sequence WHERE seller_id = ? AND product_id = ?`);
    this.#history = new HistoryWriter(db, positions);
  }

  find(sellerId: SellerId, target: ProductTarget): Product | undefined {
    return this.#find(sellerId, this.#positions.currencyOf(sellerId), target);
  }

  /** @throws AppError `sku_taken` */
  create(actor: Actor, product: NewProduct, now: number): WrittenProduct {
    const { sellerId } = actor;
    const at = this.#positions.timeOf(sellerId, now);
    const { position, currency } = this.#positions.take(sellerId);
    const id = this.#positions.takeProductId(sellerId, at);
    const created = {
      ...product, sellerId, id, currency, position, createdAt: at, updatedAt: at,
    };
    const { changes } = this.#insert.run(sellerId, position, ...encodeProduct(created));
    if (changes === 0) throw skuTaken(product.sku);
    const json = formatProduct(created);
    this.#record('created', actor, undefined, created, json);
    return { effect: 'created', id, position, json, isReplay: false };
  }

  /** Content that is the same takes no position. @throws AppError `sku_taken` */
  update(actor: Actor, before: Product, to: NewProduct, now: number): WrittenProduct {
    const { id, sellerId } = before;
    if (isSameProduct(before, to)) {
      const json = formatProduct(before);
      return { effect: 'unchanged', id, position: before.position, json, isReplay: false };
    }
    if (to.sku !== before.sku && this.find(sellerId, { sku: to.sku })) throw skuTaken(to.sku);
    const { position } = this.#positions.take(sellerId);
    const updatedAt = this.#positions.timeOf(sellerId, now);
    // `to` may lack an optional member that `before` has.
    const sent = Object.fromEntries(SENT_FIELDS.map(({ member }) => [member, to[member]]));
    const after = { ...before, ...sent, position, updatedAt };
    const isStockAlone = isSameProduct(before, { ...to, stock: before.stock });
    this.#update.run(
      ...SENT_FIELDS.map(({ member }) => after[member] ?? null), position, updatedAt,
      isStockAlone ? null : position, sellerId, id,
    );
    const json = formatProduct(after);
    if (isStockAlone) this.#record('stock', actor, before, after, undefined);
    else this.#record('updated', actor, before, after, json);
    return { effect: 'updated', id, position, json, isReplay: false };
  }

  /** The history keeps the product as it last was; its stock has moved to nothing. */
  delete(actor: Actor, before: Product, now: number): void {
    const { sellerId, id } = before;
    const { position } = this.#positions.take(sellerId);
    this.#delete.run(sellerId, id);
    this.#forgetSequences.run(sellerId, id);
    const updatedAt = this.#positions.timeOf(sellerId, now);
    const last = { ...before, position, updatedAt, stock: 0 };
    this.#record('deleted', actor, before, last, formatProduct(before));
  }

  #record(
    type: ChangeType, { keyId }: Actor, before: Product | undefined, after: Product,
    json: string | undefined,
  ): void {
    const { sellerId, position, id, sku, updatedAt, stock } = after;
    const movement = {
      before: before?.stock ?? 0, after: stock,
      reason: undefined, source: undefined, sequence: undefined,
    };
    this.#history.add([{
      sellerId, position, type, productId: id, sku, keyId, at: updatedAt, movement, product: json,
      previousPosition: before?.position,
    }]);
  }
}

function skuTaken(sku: Sku): AppError {
  const detail = `You already have a product with the SKU ${JSON.stringify(sku)}.`;
  return new AppError('sku_taken', `${detail} Choose another SKU.`);
}
