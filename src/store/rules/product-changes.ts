/**
 * The effect of creating, updating and deleting a product, and the change event of each. Pure: an
 * adapter reads the product, allocates a position, and writes the result.
 */
import type { ChangeType } from '../../domain/catalogue/change.ts';
import { toGtin } from '../../domain/catalogue/barcode.ts';
import { hasTooManyPairs } from '../../domain/catalogue/metadata.ts';
import {
  type NewProduct, type Product, SENT_FIELDS, type Sku,
} from '../../domain/catalogue/product-fields.ts';
import { completeProduct, isSameProduct, type ProductRow } from '../../domain/catalogue/product.ts';
import { AppError } from '../../domain/error.ts';
import { parseProductId, type ProductId, type SellerId } from '../../domain/id.ts';
import type { EvaluatedRows, ImportMode } from '../catalogue-store.ts';
import type { ChainedChange, ChangeActor } from './history.ts';

export function updateProduct(
  before: Product, to: NewProduct, position: number, updatedAt: number,
): Product {
  // `to` may lack an optional member that `before` has.
  const fields = Object.fromEntries(SENT_FIELDS.map(({ member }) => [member, to[member]]));
  return { ...before, ...fields, position, updatedAt };
}

/** Whether an update changes only the stock, which makes it a stock movement. */
export function isStockMovement(before: NewProduct, to: NewProduct): boolean {
  return isSameProduct(before, { ...to, stock: before.stock });
}

/** The change event between two states of a product. */
export function describeChange(
  type: ChangeType, { keyId, actorName: actor, importId }: ChangeActor,
  { before, after, snapshot, reason }: {
    readonly before: Product | undefined; readonly after: Product;
    /** The product's JSON (`formatProduct`), if the event contains it. */
    readonly snapshot: string | undefined;
    /** Of a stock movement. */
    readonly reason?: string | undefined;
  },
): ChainedChange {
  const { sellerId, position, id, sku, updatedAt, stock } = after;
  return {
    sellerId, position, type, productId: id, sku, keyId, actor, importId, at: updatedAt,
    product: snapshot,
    movement: {
      before: before?.stock ?? 0, after: stock,
      reason: before?.stock === stock ? undefined : reason, source: undefined, sequence: undefined,
    },
    previousPosition: before?.position,
  };
}

/**
 * The product that an import row produces, based on the stored product or the row's defaults; or
 * why the row cannot be imported.
 */
export function mergeImportRow(
  row: ProductRow, mode: ImportMode, before: NewProduct | undefined,
): NewProduct | 'taken' | 'not_found' | 'incomplete' | 'overfull' {
  if (before && mode === 'create') return 'taken';
  if (!before && (mode === 'update' || row.createsNone)) return 'not_found';
  const product = completeProduct(row, before ?? row.defaults);
  if (!product) return 'incomplete';
  return hasTooManyPairs(product.metadata) ? 'overfull' : product;
}

/** Compares the ids of import rows with the products that their SKUs name. */
export function compareRowIds(
  sellerId: SellerId, findProduct: (id: ProductId) => Pick<Product, 'sku'> | undefined,
) {
  const owners: Sku[] = [];
  let unknown = 0;
  return {
    /** Whether the id is that of another product. @param before The product with the SKU. */
    isMismatch({ id }: ProductRow, before: Pick<Product, 'id'> | undefined): boolean {
      if (id === undefined) return false;
      const productId = parseProductId(sellerId, id);
      if (productId !== undefined && productId === before?.id) return false;
      const owner = productId === undefined ? undefined : findProduct(productId);
      if (owner) owners.push(owner.sku);
      else unknown += 1;
      return owner !== undefined;
    },
    /** Members without a value are absent, as in recorded outcomes. */
    readOutcome: (): Pick<EvaluatedRows, 'idOwners' | 'unknownIds'> => ({
      ...(owners.length > 0 && { idOwners: owners }),
      ...(unknown > 0 && { unknownIds: unknown }),
    }),
  };
}

/** Finds the products that import rows without a SKU name by barcode. */
export function nameByBarcode<Named extends Pick<Product, 'sku'>>(
  find: (gtin: number) => readonly Named[],
) {
  const skus: (readonly Sku[])[] = [];
  return {
    /** The product; or why there is not exactly one. */
    find(barcode: string): Named | 'not_found' | 'ambiguous' {
      const named = find(toGtin(barcode));
      skus.push(named.map(({ sku }) => sku));
      return named.length > 1 ? 'ambiguous' : named[0] ?? 'not_found';
    },
    /** As `EvaluatedRows`. */
    readOutcome: () => (skus.length > 0 ? { barcodeSkus: skus } : {}),
  };
}

export function skuTaken(sku: Sku): AppError {
  const detail = `You already have a product with the SKU ${JSON.stringify(sku)}.`;
  return new AppError('sku_taken', `${detail} Choose another SKU.`);
}
