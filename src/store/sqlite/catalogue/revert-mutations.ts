/**
 * The mutation that restores products. Each one is written only if its last change is still the one
 * that its new state was planned for, so a sale in between is never lost.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { NewProduct } from '../../../domain/catalogue/product-fields.ts';
import type { ProductId } from '../../../domain/id.ts';
import type { RevertSelection } from '../../revert-store.ts';
import type { ImportReference } from '../../write.ts';
import { prepareFindLastDeletion } from '../history/history-queries.ts';
import { prepareImportRecords, type WriteActor } from './import-records.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { prepareProductChanges } from './product-mutations.ts';

/** A product, and the state to restore. */
export interface RestoredProduct {
  readonly id: ProductId;
  /** Of its last change, which may be its deletion. */
  readonly position: number;
  /** Undefined to delete it. */
  readonly to: (NewProduct & { readonly createdAt: number }) | undefined;
}

/** Names and order of the members are hashed (rules/idempotency.ts), except `generated`. */
interface Input {
  readonly actor: WriteActor;
  readonly selection: RevertSelection;
  readonly isForced: boolean;
  readonly generated: { readonly products: readonly RestoredProduct[] };
}

interface RestoredProducts extends ImportReference {
  /** Of each product's new change; null if the product cannot be written as planned. */
  readonly positions: readonly (number | null)[];
  /** Of the catalogue afterwards. */
  readonly position: number;
  readonly isReplay: boolean;
}

export function revertMutations(db: DatabaseSync, positions: PositionAllocator) {
  const { find, create, update, remove } = prepareProductChanges(db, positions);
  const findLastDeletion = prepareFindLastDeletion(db);
  const openRecord = prepareImportRecords(db, positions);

  return {
    revertProducts({ generated: { products }, ...input }: Input, at: number): RestoredProducts {
      const { actor, close } = openRecord(input.actor, at);
      const { sellerId } = actor;
      const counts = { restored: 0, deleted: 0, recreated: 0 };
      const written = products.map(({ id, position, to }) => {
        const before = find(sellerId, { id });
        const newest = before ?? findLastDeletion(sellerId, id);
        if (newest?.position !== position) return null;
        if (to && to.sku !== before?.sku && find(sellerId, { sku: to.sku })) return null;
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
