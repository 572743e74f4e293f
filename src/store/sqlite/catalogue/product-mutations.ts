/**
 * The mutations that write products. Each writes a product's row, its seller's next position and
 * the change event at that position, together. The only other writer of products is
 * `stock-mutations.ts`, which does the same for the stock of many at once.
 */
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { assertPrecondition, type Precondition } from '../../../domain/precondition.ts';
import {
  formatProduct, isSameProduct, type ProductPatch, type ProductRow, type ProductTarget,
} from '../../../domain/catalogue/product.ts';
import {
  type NewProduct, type Product, SENT_FIELDS, type Sku,
} from '../../../domain/catalogue/product-fields.ts';
import type {
  ImportedProducts, ImportEffect, ImportMode, WrittenProduct,
} from '../../catalogue-store.ts';
import {
  describeChange, isStockMovement, mergeImportRow, skuTaken, updateProduct,
} from '../../rules/product-changes.ts';
import { countEffects } from '../../rules/import-counts.ts';
import type { ChangeActor } from '../../rules/history.ts';
import type { Actor } from '../../write.ts';
import { InsertQueue } from '../engine/insert-queue.ts';
import { prepareImportRecords, type WriteActor } from './import-records.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { encodeProduct, prepareFindProduct, PRODUCT_COLUMNS } from './products.ts';

/** Names and order of the members are hashed (rules/idempotency.ts). */
interface Members {
  readonly actor: WriteActor;
  readonly product: NewProduct;
  readonly target: ProductTarget;
  readonly patch: ProductPatch;
  readonly precondition: Precondition;
  readonly products: readonly ProductRow[];
  readonly mode: ImportMode;
}

type Input<Names extends keyof Members> = Pick<Members, Names>;

const ROW_COLUMNS = ['seller_id', 'snapshot_position', ...PRODUCT_COLUMNS];

/** A product to create again; its version chain continues from its deletion. */
interface DeletedProduct {
  readonly id: ProductId;
  readonly createdAt: number;
  /** Of the deletion. */
  readonly position: number;
}

export function productMutations(db: DatabaseSync, positions: PositionAllocator) {
  const { find, create, update, remove } = prepareProductChanges(db, positions);
  const openRecord = prepareImportRecords(db, positions);

  function getProduct({ sellerId }: Actor, target: ProductTarget): Product {
    const product = find(sellerId, target);
    if (product) return product;
    const name = 'id' in target ? 'id' : 'SKU';
    throw new AppError('not_found', `You have no product with this ${name}.`);
  }

  return {
    createProduct: ({ actor, product }: Input<'actor' | 'product'>, at: number): WrittenProduct =>
      create(actor, product, at),
    putProduct(
      { actor, product, precondition }: Input<'actor' | 'product' | 'precondition'>, at: number,
    ): WrittenProduct {
      const before = find(actor.sellerId, { sku: product.sku });
      assertPrecondition(precondition, before?.position);
      return before ? update(actor, before, product, at) : create(actor, product, at);
    },
    patchProduct(
      { actor, target, patch, precondition }: Input<'actor' | 'target' | 'patch' | 'precondition'>,
      at: number,
    ): WrittenProduct {
      const before = getProduct(actor, target);
      assertPrecondition(precondition, before.position);
      return update(actor, before, { ...before, ...patch }, at);
    },
    deleteProduct(
      { actor, target, precondition }: Input<'actor' | 'target' | 'precondition'>, at: number,
    ): { readonly isReplay: boolean } {
      const before = getProduct(actor, target);
      assertPrecondition(precondition, before.position);
      remove(actor, before, at);
      return { isReplay: false };
    },
    importProducts(input: Input<'actor' | 'products' | 'mode'>, at: number): ImportedProducts {
      const { products, mode } = input;
      const { actor, close } = openRecord(input.actor, at);
      const effects = products.map((row): ImportEffect => {
        const before = find(actor.sellerId, { sku: row.sku });
        // Decided here, not by an earlier read, which could miss a concurrent change.
        const product = mergeImportRow(row, mode, before);
        if (typeof product === 'string') return product;
        return (before ? update(actor, before, product, at) : create(actor, product, at)).effect;
      });
      const importId = close(countEffects(effects));
      return { effects, position: positions.of(actor.sellerId), isReplay: false, importId };
    },
  };
}

/** What mutations do to one product. */
export function prepareProductChanges(db: DatabaseSync, positions: PositionAllocator) {
  const findProduct = prepareFindProduct(db);
  const { created, updateRow, deleteRow, deleteSequences } = prepareStatements(db);
  positions.defer(created);

  function find(sellerId: SellerId, target: ProductTarget): Product | undefined {
    created.flushIfWaiting('id' in target ? target.id : target.sku);
    const found = findProduct(sellerId, positions.currencyOf(sellerId), target);
    if (found) created.flushIfWaiting(found.sku); // which it may be about to lose
    return found;
  }

  return {
    find,
    /** @throws AppError `sku_taken` */
    create(
      actor: ChangeActor, product: NewProduct, now: number, deleted?: DeletedProduct,
    ): WrittenProduct {
      const { sellerId } = actor;
      const { position, at, currency } = positions.next(sellerId, now);
      const { id, createdAt, position: previousPosition } = deleted
        ?? { id: positions.takeProductId(sellerId, at), createdAt: at };
      const after = { ...product, sellerId, id, currency, position, createdAt, updatedAt: at };
      created.add([sellerId, position, ...encodeProduct(after)]);
      const json = formatProduct(after);
      const change = describeChange('created', actor, { before: undefined, after, snapshot: json });
      positions.addChange({ ...change, previousPosition });
      return { effect: 'created', id, position, json, isReplay: false };
    },
    /** Allocates no position if nothing changes. @throws AppError `sku_taken` */
    update(actor: ChangeActor, before: Product, to: NewProduct, now: number): WrittenProduct {
      const { id, sellerId } = before;
      if (isSameProduct(before, to)) {
        const json = formatProduct(before);
        return { effect: 'unchanged', id, position: before.position, json, isReplay: false };
      }
      if (to.sku !== before.sku && find(sellerId, { sku: to.sku })) throw skuTaken(to.sku);
      const { position, at: updatedAt } = positions.next(sellerId, now);
      const after = updateProduct(before, to, position, updatedAt);
      const isStock = isStockMovement(before, to);
      const values = SENT_FIELDS.map(({ member }) => after[member] ?? null);
      updateRow.run(...values, position, updatedAt, isStock ? null : position, sellerId, id);
      const json = formatProduct(after);
      const states = { before, after, snapshot: isStock ? undefined : json };
      positions.addChange(describeChange(isStock ? 'stock' : 'updated', actor, states));
      return { effect: 'updated', id, position, json, isReplay: false };
    },
    /** The event contains the product's last state, with a stock of 0. */
    remove(actor: ChangeActor, before: Product, now: number): void {
      const { sellerId, id } = before;
      const { position, at: updatedAt } = positions.next(sellerId, now);
      deleteRow.run(sellerId, id);
      deleteSequences.run(sellerId, id);
      const after = { ...before, position, updatedAt, stock: 0 };
      const states = { before, after, snapshot: formatProduct(before) };
      positions.addChange(describeChange('deleted', actor, states));
    },
  };
}

function prepareStatements(db: DatabaseSync) {
  return {
    created: new InsertQueue(db, {
      insert: `INSERT INTO product (${ROW_COLUMNS.join(', ')})`,
      width: ROW_COLUMNS.length,
      onConflict: 'ON CONFLICT (seller_id, sku) DO NOTHING',
      // Only `createProduct`, which adds one row, may conflict. The cast: it is a product's SKU.
      explain: (row) => skuTaken(row[ROW_COLUMNS.indexOf('sku')] as Sku),
    }),
    updateRow: db.prepare(`
      UPDATE product
      SET ${SENT_FIELDS.map(({ column }) => `${column} = ?`).join(', ')}, position = ?,
        updated_at = ?, snapshot_position = coalesce(?, snapshot_position)
      WHERE seller_id = ? AND id = ?`),
    deleteRow: db.prepare('DELETE FROM product WHERE seller_id = ? AND id = ?'),
    deleteSequences: db.prepare(
      'DELETE FROM stock_sequence WHERE seller_id = ? AND product_id = ?'),
  };
}
