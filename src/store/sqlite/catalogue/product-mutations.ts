/** The mutations that write products. */
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { assertPrecondition, type Precondition } from '../../../domain/precondition.ts';
import type { ProductPatch, ProductRow, ProductTarget } from '../../../domain/catalogue/product.ts';
import type { NewProduct, Product } from '../../../domain/catalogue/product-fields.ts';
import type {
  ImportedProducts, ImportEffect, ImportMode, WrittenProduct,
} from '../../catalogue-store.ts';
import { mergeImportRow } from '../../rules/product-changes.ts';
import type { Actor } from '../../write.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { ProductChanges } from './product-changes.ts';

interface Creation {
  readonly actor: Actor;
  readonly product: NewProduct;
}

interface Put extends Creation {
  readonly precondition: Precondition;
}

interface Deletion {
  readonly actor: Actor;
  readonly target: ProductTarget;
  readonly precondition: Precondition;
}

interface Patch extends Deletion {
  readonly patch: ProductPatch;
}

interface Import {
  readonly actor: Actor;
  readonly products: readonly ProductRow[];
  readonly mode: ImportMode;
}

export function productMutations(db: DatabaseSync, positions: PositionAllocator) {
  const changes = new ProductChanges(db, positions);
  return {
    createProduct({ actor, product }: Creation, at: number): WrittenProduct {
      return changes.create(actor, product, at);
    },
    putProduct({ actor, product, precondition }: Put, at: number): WrittenProduct {
      const before = changes.find(actor.sellerId, { sku: product.sku });
      assertPrecondition(precondition, before?.position);
      if (!before) return changes.create(actor, product, at);
      return changes.update(actor, before, product, at);
    },
    patchProduct({ actor, target, patch, precondition }: Patch, at: number): WrittenProduct {
      const before = getProduct(changes, actor, target);
      assertPrecondition(precondition, before.position);
      return changes.update(actor, before, { ...before, ...patch }, at);
    },
    deleteProduct(
      { actor, target, precondition }: Deletion, at: number,
    ): { readonly isReplay: boolean } {
      const before = getProduct(changes, actor, target);
      assertPrecondition(precondition, before.position);
      changes.delete(actor, before, at);
      return { isReplay: false };
    },
    importProducts({ actor, products, mode }: Import, at: number): ImportedProducts {
      const effects = products.map((row): ImportEffect => {
        const before = changes.find(actor.sellerId, { sku: row.sku });
        // Decided here and not by a read before, or a concurrent change would be overwritten.
        const product = mergeImportRow(row, mode, before);
        if (typeof product === 'string') return product;
        if (!before) return changes.create(actor, product, at).effect;
        return changes.update(actor, before, product, at).effect;
      });
      return { effects, position: positions.of(actor.sellerId), isReplay: false };
    },
  };
}

function getProduct(
  changes: ProductChanges, { sellerId }: Actor, target: ProductTarget,
): Product {
  const product = changes.find(sellerId, target);
  if (product) return product;
  const name = 'id' in target ? 'id' : 'SKU';
  throw new AppError('not_found', `You have no product with this ${name}.`);
}
