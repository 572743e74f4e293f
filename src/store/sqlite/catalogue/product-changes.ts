/**
 * Writes one product: its row, the next position of its seller, and the change event at that
 * position, together. `stock-mutations.ts` is the only other writer of products: it does the same
 * for the stock of many at once.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SellerId } from '../../../domain/id.ts';
import {
  formatProduct, isSameProduct, type ProductTarget,
} from '../../../domain/catalogue/product.ts';
import {
  type NewProduct, type Product, SENT_FIELDS,
} from '../../../domain/catalogue/product-fields.ts';
import type { WrittenProduct } from '../../catalogue-store.ts';
import {
  describeChange, isStockMovement, skuTaken, updateProduct,
} from '../../rules/product-changes.ts';
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
  readonly #deleteSequences;
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
    this.#deleteSequences = db.prepare(`
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
    const after = { ...product, sellerId, id, currency, position, createdAt: at, updatedAt: at };
    const { changes } = this.#insert.run(sellerId, position, ...encodeProduct(after));
    if (changes === 0) throw skuTaken(product.sku);
    const json = formatProduct(after);
    const states = { before: undefined, after, snapshot: json };
    this.#history.add([describeChange('created', actor, states)]);
    return { effect: 'created', id, position, json, isReplay: false };
  }

  /** Takes no position if nothing changes. @throws AppError `sku_taken` */
  update(actor: Actor, before: Product, to: NewProduct, now: number): WrittenProduct {
    const { id, sellerId } = before;
    if (isSameProduct(before, to)) {
      const json = formatProduct(before);
      return { effect: 'unchanged', id, position: before.position, json, isReplay: false };
    }
    if (to.sku !== before.sku && this.find(sellerId, { sku: to.sku })) throw skuTaken(to.sku);
    const { position } = this.#positions.take(sellerId);
    const updatedAt = this.#positions.timeOf(sellerId, now);
    const after = updateProduct(before, to, position, updatedAt);
    const isStock = isStockMovement(before, to);
    this.#update.run(
      ...SENT_FIELDS.map(({ member }) => after[member] ?? null), position, updatedAt,
      isStock ? null : position, sellerId, id,
    );
    const json = formatProduct(after);
    const states = { before, after, snapshot: isStock ? undefined : json };
    this.#history.add([describeChange(isStock ? 'stock' : 'updated', actor, states)]);
    return { effect: 'updated', id, position, json, isReplay: false };
  }

  /** The event holds the product as it last was; its stock moves to 0. */
  delete(actor: Actor, before: Product, now: number): void {
    const { sellerId, id } = before;
    const { position } = this.#positions.take(sellerId);
    this.#delete.run(sellerId, id);
    this.#deleteSequences.run(sellerId, id);
    const updatedAt = this.#positions.timeOf(sellerId, now);
    const after = { ...before, position, updatedAt, stock: 0 };
    const states = { before, after, snapshot: formatProduct(before) };
    this.#history.add([describeChange('deleted', actor, states)]);
  }
}
