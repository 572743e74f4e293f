/**
 * The mutations that write products. Each writes a product's row, its seller's next position and
 * the change event at that position, together. The only other writer of products is
 * `stock-mutations.ts`, which does the same for the stock of many at once. Synchronous: an adapter
 * runs them inside a transaction, or on rows that it has loaded and writes afterwards.
 */
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import { assertPrecondition, type Precondition } from '../../../domain/precondition.ts';
import { toRevision } from '../../../domain/revision.ts';
import {
  applyPatch, formatProduct, isSameProduct, type ProductPatch, type ProductRow, type ProductTarget,
} from '../../../domain/catalogue/product.ts';
import type { NewProduct, Product } from '../../../domain/catalogue/product-fields.ts';
import type {
  ImportedProducts, ImportEffect, ImportMode, WrittenProduct,
} from '../../catalogue-store.ts';
import type { Actor } from '../../write.ts';
import type { ChangeActor } from '../history.ts';
import { countEffects, type OpenRecord, type WriteActor } from './import-records.ts';
import {
  compareRowIds, describeChange, isStockMovement, mergeImportRow, nameByBarcode, skuTaken,
  updateProduct,
} from '../product-changes.ts';
import { RejectedChange } from '../review.ts';
import type { PositionAllocator } from './position-allocator.ts';

/** Where an adapter keeps products. */
export interface ProductRows {
  find(sellerId: SellerId, target: ProductTarget): Product | undefined;
  /** Those with a barcode, as `CatalogueStore.listBarcodeOwners`. */
  findByBarcode(sellerId: SellerId, gtin: number): readonly Product[];
  /** @throws AppError `sku_taken`, at the latest before the commit */
  insert(product: Product): void;
  /** `isMovement`: its change event has no snapshot. */
  update(product: Product, isMovement: boolean): void;
  remove(product: Product): void;
}

/** The names of the members are hashed (rules/idempotency.ts). */
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

/** A product to create again; its version chain continues from the position of its deletion. */
type DeletedProduct = Pick<Product, 'id' | 'createdAt' | 'position'>;

export function productMutations(
  rows: ProductRows, positions: PositionAllocator, openRecord: OpenRecord,
) {
  const { create, update, remove } = productChanges(rows, positions);

  function getProduct({ sellerId }: Actor, target: ProductTarget): Product {
    const product = rows.find(sellerId, target);
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
      const before = rows.find(actor.sellerId, { sku: product.sku });
      assertPrecondition(precondition, before && toRevision(actor.generation, before.position));
      return before ? update(actor, before, product, at) : create(actor, product, at);
    },
    patchProduct(
      { actor, target, patch, precondition }: Input<'actor' | 'target' | 'patch' | 'precondition'>,
      at: number,
    ): WrittenProduct {
      const before = getProduct(actor, target);
      assertPrecondition(precondition, toRevision(actor.generation, before.position));
      return update(actor, before, applyPatch(before, patch), at);
    },
    deleteProduct(
      { actor, target, precondition }: Input<'actor' | 'target' | 'precondition'>, at: number,
    ): { readonly isReplay: boolean } {
      const before = getProduct(actor, target);
      assertPrecondition(precondition, toRevision(actor.generation, before.position));
      remove(actor, before, at);
      return { isReplay: false };
    },
    importProducts: importMutation(rows, positions, openRecord),
  };
}

function importMutation(
  rows: ProductRows, positions: PositionAllocator, openRecord: OpenRecord,
) {
  const { create, update } = productChanges(rows, positions);
  return (input: Input<'actor' | 'products' | 'mode'>, at: number): ImportedProducts => {
    const { products, mode } = input;
    const { actor, close } = openRecord(input.actor, at);
    const ids = compareRowIds(actor.sellerId, (id) => rows.find(actor.sellerId, { id }));
    const barcodes = nameByBarcode((gtin) => rows.findByBarcode(actor.sellerId, gtin));
    const reasons: string[] = [];
    const effects = products.map((row): ImportEffect => {
      // Decided here, not by an earlier read, which could miss a concurrent change.
      const before = row.sku === undefined ? barcodes.find(row.barcode ?? '')
        : rows.find(actor.sellerId, { sku: row.sku });
      if (typeof before === 'string') return before;
      if (ids.isMismatch(row, before)) return 'mismatch';
      const product = mergeImportRow(row, mode, before);
      if (typeof product === 'string') return product;
      return unlessRejected(reasons, () =>
        (before ? update(actor, before, product, at) : create(actor, product, at)).effect);
    });
    const importId = close(countEffects(effects));
    const position = positions.of(actor.sellerId);
    const names = { ...ids.readOutcome(), ...barcodes.readOutcome() };
    const rejected = reasons.length > 0 && { reasons };
    return { effects, ...names, ...rejected, position, isReplay: false, importId };
  };
}

/** Adds the reason to `reasons` if the row is rejected. */
function unlessRejected(reasons: string[], write: () => ImportEffect): ImportEffect {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof RejectedChange)) throw error;
    reasons.push(error.message);
    return 'rejected';
  }
}

/** What mutations do to one product. */
export function productChanges(rows: ProductRows, positions: PositionAllocator) {
  return {
    /** @throws AppError `sku_taken` */
    create(
      actor: ChangeActor, product: NewProduct, now: number, deleted?: DeletedProduct,
    ): WrittenProduct {
      const { sellerId } = actor;
      const { position, at, currency } = positions.next(sellerId, now);
      const { id, createdAt, position: previousPosition } = deleted
        ?? { id: positions.takeProductId(sellerId, at), createdAt: at };
      const after = { ...product, sellerId, id, currency, position, createdAt, updatedAt: at };
      actor.checks?.checkProduct({ type: 'created', before: undefined, after, previousPosition });
      rows.insert(after);
      const json = formatProduct(after);
      const change = describeChange('created', actor, { before: undefined, after, snapshot: json });
      positions.addChange({ ...change, previousPosition });
      return { effect: 'created', id, position, json, isReplay: false };
    },
    /** Allocates no position if nothing changes. @throws AppError `sku_taken` */
    update(
      actor: ChangeActor, before: Product, to: NewProduct, now: number, reason?: string,
    ): WrittenProduct {
      const { id, sellerId } = before;
      if (isSameProduct(before, to)) {
        const json = formatProduct(before);
        return { effect: 'unchanged', id, position: before.position, json, isReplay: false };
      }
      if (to.sku !== before.sku && rows.find(sellerId, { sku: to.sku })) throw skuTaken(to.sku);
      const { position, at: updatedAt } = positions.next(sellerId, now);
      const after = updateProduct(before, to, position, updatedAt);
      const isMovement = isStockMovement(before, to);
      const type = isMovement ? 'stock' : 'updated';
      actor.checks?.checkProduct({ type, before, after, previousPosition: before.position });
      rows.update(after, isMovement);
      const json = formatProduct(after);
      const states = { before, after, snapshot: isMovement ? undefined : json, reason };
      positions.addChange(describeChange(type, actor, states));
      return { effect: 'updated', id, position, json, isReplay: false };
    },
    /** The event contains the product's last state, with a stock of 0. */
    remove(actor: ChangeActor, before: Product, now: number): void {
      const { position, at: updatedAt } = positions.next(before.sellerId, now);
      const after = { ...before, position, updatedAt, stock: 0 };
      const { position: previousPosition } = before;
      actor.checks?.checkProduct({ type: 'deleted', before, after, previousPosition });
      rows.remove(before);
      const states = { before, after, snapshot: formatProduct(before) };
      positions.addChange(describeChange('deleted', actor, states));
    },
  };
}
