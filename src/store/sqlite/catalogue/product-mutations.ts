/** The units of work that write products. */
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../domain/error.ts';
import { assertPrecondition, type Precondition } from '../../../domain/precondition.ts';
import {
  completeProduct, type NewProduct, type Product, type ProductPatch, type ProductRow,
  type ProductTarget,
} from '../../../domain/catalogue/product.ts';
import type { ImportedProducts, ImportEffect, ImportMode, WrittenProduct } from '../../store.ts';
import type { Actor } from '../../write.ts';
import type { PositionAllocator } from './position-allocator.ts';
import { ProductChanges } from './product-changes.ts';

interface Creation {
  readonly author: Actor;
  readonly product: NewProduct;
}

interface Put extends Creation {
  readonly precondition: Precondition;
}

interface Deletion {
  readonly author: Actor;
  readonly target: ProductTarget;
  readonly precondition: Precondition;
}

interface Patch extends Deletion {
  readonly patch: ProductPatch;
}

interface Import {
  readonly author: Actor;
  readonly products: readonly ProductRow[];
  readonly mode: ImportMode;
}

export function productUnits(db: DatabaseSync, positions: PositionAllocator) {
  const changes = new ProductChanges(db, positions);
  return {
    createProduct({ author, product }: Creation, at: number): WrittenProduct {
      return changes.create(author, product, at);
    },
    putProduct({ author, product, precondition }: Put, at: number): WrittenProduct {
      const before = changes.find(author.sellerId, { sku: product.sku });
      assertPrecondition(precondition, before?.position);
      if (!before) return changes.create(author, product, at);
      return changes.update(author, before, product, at);
    },
    patchProduct({ author, target, patch, precondition }: Patch, at: number): WrittenProduct {
      const before = getProduct(changes, author, target);
      assertPrecondition(precondition, before.position);
      return changes.update(author, before, { ...before, ...patch }, at);
    },
    deleteProduct(
      { author, target, precondition }: Deletion, at: number,
    ): { readonly isReplay: boolean } {
      const before = getProduct(changes, author, target);
      assertPrecondition(precondition, before.position);
      changes.delete(author, before, at);
      return { isReplay: false };
    },
    importProducts({ author, products, mode }: Import, at: number): ImportedProducts {
      const effects = products.map((row): ImportEffect => {
        const before = changes.find(author.sellerId, { sku: row.sku });
        if (before && mode === 'create') return 'taken';
        // Decided here and not by a read before, or a concurrent change would be overwritten.
        const product = completeProduct(row, before ?? row.defaults);
        if (!product) return 'incomplete';
        if (!before) return changes.create(author, product, at).effect;
        return changes.update(author, before, product, at).effect;
      });
      return { effects, position: positions.of(author.sellerId), isReplay: false };
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
