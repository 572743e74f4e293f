/**
 * The mutation that restores products. Each one is written only if its last change is still the one
 * that its new state was planned for, so a sale in between is never lost.
 */
import type { NewProduct } from '../../../domain/catalogue/product-fields.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import type { WrittenPart } from '../../catalogue-store.ts';
import type { RevertSelection } from '../../revert-store.ts';
import type { OpenRecord, WriteActor } from './import-records.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { productChanges, type ProductRows } from './product-mutations.ts';

/** A product, and the state to restore. */
export interface RestoredProduct {
  readonly id: ProductId;
  /** Of its last change, which may be its deletion. */
  readonly position: number;
  /** Undefined to delete it. */
  readonly to: (NewProduct & { readonly createdAt: number }) | undefined;
}

/** Where an adapter keeps products, deleted ones included. */
export interface RevertRows extends ProductRows {
  /** The position of the last deletion. */
  findLastDeletion(sellerId: SellerId, id: ProductId): number | undefined;
}

/** The names of the members are hashed (rules/idempotency.ts), except `generated`. */
interface RevertInput {
  readonly actor: WriteActor;
  readonly selection: RevertSelection;
  readonly isForced: boolean;
  readonly generated: { readonly products: readonly RestoredProduct[] };
}

interface RestoredProducts extends WrittenPart {
  /** Of each product's new change; null if the product cannot be written as planned. */
  readonly positions: readonly (number | null)[];
}

export function revertMutations(
  rows: RevertRows, positions: PositionAllocator, openRecord: OpenRecord,
) {
  const { create, update, remove } = productChanges(rows, positions);

  return {
    revertProducts(
      { generated: { products }, ...input }: RevertInput, at: number,
    ): RestoredProducts {
      const { actor, close } = openRecord(input.actor, at);
      const { sellerId } = actor;
      const counts = { restored: 0, deleted: 0, recreated: 0 };
      const written = products.map(({ id, position, to }) => {
        const before = rows.find(sellerId, { id });
        const newest = before ? before.position : rows.findLastDeletion(sellerId, id);
        if (newest !== position) return null;
        if (to && to.sku !== before?.sku && rows.find(sellerId, { sku: to.sku })) return null;
        if (before) {
          if (to) update(actor, before, to, at);
          else remove(actor, before, at);
          counts[to ? 'restored' : 'deleted'] += 1;
        } else {
          if (!to) return null;
          create(actor, to, at, { id, createdAt: to.createdAt, position });
          counts.recreated += 1;
        }
        return positions.of(sellerId);
      });
      const importId = close(counts);
      return { positions: written, position: positions.of(sellerId), isReplay: false, importId };
    },
  };
}
