/**
 * The mutation that edits or deletes many products: a part of a bulk edit. Each product is written
 * only if it still has the values that its edit expects, so no change of others is lost unseen.
 */
import { applyPatch, isSameProduct } from '../../../domain/catalogue/product.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import type { EditedProducts, EditEffect, ProductEdit } from '../../catalogue-store.ts';
import type { ChangeActor } from '../history.ts';
import { countEdits, type OpenRecord, type WriteActor } from './import-records.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { productChanges, type ProductRows } from './product-mutations.ts';

/** The names of the members are hashed (rules/idempotency.ts). */
interface EditInput {
  readonly actor: WriteActor;
  readonly edits: readonly ProductEdit[];
  readonly reason: string | undefined;
}

export function editMutations(
  rows: ProductRows, positions: PositionAllocator, openRecord: OpenRecord,
) {
  const { update, remove } = productChanges(rows, positions);

  return {
    editProducts({ edits, reason, ...input }: EditInput, at: number): EditedProducts {
      const { actor, close } = openRecord(input.actor, at);
      const editOne = (
        by: ChangeActor, before: Product | undefined, { expected, patch }: ProductEdit,
      ): EditEffect => {
        if (!before) return 'not_found';
        const to = patch && applyPatch(before, patch);
        if (to && isSameProduct(before, to)) return 'unchanged';
        if (!hasValues(before, expected)) return 'conflict';
        if (to) update(by, before, to, at, reason);
        else remove(by, before, at);
        return to ? 'updated' : 'deleted';
      };
      const effects = edits.map((edit) =>
        editOne(actor, rows.find(actor.sellerId, { id: edit.id }), edit));
      const importId = close(countEdits(effects));
      return { effects, position: positions.of(actor.sellerId), isReplay: false, importId };
    },
  };
}

function hasValues(product: Product, expected: ProductEdit['expected']): boolean {
  // The cast: the keys of an object are its members.
  const members = Object.keys(expected) as (keyof ProductEdit['expected'])[];
  return members.every((member) => product[member] === expected[member]);
}
