/** The rows that the mutations of a transaction name, which are loaded before they run. */
import { toGtin } from '../../../domain/catalogue/barcode.ts';
import type { ProductRow, ProductTarget } from '../../../domain/catalogue/product.ts';
import type { NewProduct, Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ProductReference } from '../../../domain/catalogue/stock-change.ts';
import type { StockSync } from '../../../domain/catalogue/stock-sync.ts';
import {
  type ImportId, parseProductId, type ProductId, type SellerId,
} from '../../../domain/id.ts';
import { hashIdempotencyKey, type IdempotencyScope } from '../idempotency.ts';
import type { WriteActor } from '../mutations/import-records.ts';
import { familyOf } from '../mutations/registry.ts';
import type { RestoredProduct } from '../mutations/revert-mutations.ts';
import type { CatalogueMutations } from '../mutations/catalogue-mutations.ts';

export type CatalogueMutationName = keyof CatalogueMutations;

/** A mutation of the catalogue: its input is the one of its name. */
export interface CatalogueCall {
  readonly name: CatalogueMutationName;
  readonly input: { readonly actor: WriteActor };
  readonly idempotency: IdempotencyScope | undefined;
}

/** Every member that an input may have. */
interface Input {
  readonly actor: WriteActor;
  readonly product?: NewProduct;
  readonly target?: ProductTarget;
  readonly patch?: { readonly sku?: Sku };
  readonly products?: readonly ProductRow[];
  readonly edits?: readonly { readonly id: ProductId }[];
  readonly sync?: StockSync;
  readonly isDryRun?: boolean;
  readonly generated?: { readonly products: readonly (ProductId | RestoredProduct)[] };
}

/** Whether it works on stock levels: a transaction has only such ones of a seller, or others. */
export function isOfStock({ name }: CatalogueCall): boolean {
  return familyOf(name) === 'stock';
}

/** Whether a mutation conflicts with other rows only by unique keys, which the database checks. */
export function isCreation({ name }: CatalogueCall): boolean {
  return name === 'createProduct';
}

/** Whether a mutation can do without rows: it creates, or the levels that it names are cached. */
export function needsNoRows(call: CatalogueCall): boolean {
  if (isCreation(call)) return true;
  const { name, input } = call;
  // The cast: which members an input has depends on its mutation.
  const { actor, sync, isDryRun } = input as Input;
  return name === 'syncStock' && isDryRun !== true && actor.import?.id === undefined
    && sync?.source === undefined && sync?.completion === undefined
    && !sync?.changes.some(({ barcode }) => barcode !== undefined);
}

export class NamedRows {
  readonly skus = new Set<Sku>();
  readonly ids = new Set<ProductId>();
  /** Barcodes, as numbers. */
  readonly gtins = new Set<number>();
  /** Products that may have been deleted. */
  readonly deleted = new Set<ProductId>();
  readonly imports = new Set<ImportId>();
  readonly idempotencyHashes: Uint8Array[] = [];
  /** Whether the mutations work on stock levels. */
  isStock = false;
  /** Whether the changes of stock have a source, which may number them. */
  hasSource = false;
  /** Whether a mutation starts an import. */
  startsImport = false;
  /** Whether a stocktake sets all products to 0 that it does not name. */
  isStocktake = false;

  /** How many rows they are about. */
  get size(): number {
    return this.isStocktake ? Infinity : this.skus.size + this.ids.size + this.gtins.size;
  }

  add(sellerId: SellerId, call: CatalogueCall): void {
    const { idempotency } = call;
    this.isStock ||= isOfStock(call);
    if (idempotency) this.idempotencyHashes.push(hashIdempotencyKey(idempotency));
    // The cast: which members an input has depends on its mutation.
    const {
      actor: { import: part }, product, target, patch, products = [], edits = [], sync, generated,
    } = call.input as Input;
    if (part?.id !== undefined) this.imports.add(part.id);
    else if (part) this.startsImport = true;
    for (const sku of [product?.sku, patch?.sku]) if (sku !== undefined) this.skus.add(sku);
    if (target && 'id' in target) this.ids.add(target.id);
    else if (target) this.skus.add(target.sku);
    for (const row of products) this.#addRow(sellerId, row);
    for (const { id } of edits) this.ids.add(id);
    for (const generatedProduct of generated?.products ?? []) this.#addGenerated(generatedProduct);
    if (sync) this.#addSync(sellerId, sync);
  }

  #addRow(sellerId: SellerId, { sku, id, barcode }: ProductRow): void {
    if (sku === undefined) this.gtins.add(toGtin(barcode ?? ''));
    else this.skus.add(sku);
    this.#addId(sellerId, id);
  }

  #addGenerated(generatedProduct: ProductId | RestoredProduct): void {
    this.ids.add(typeof generatedProduct === 'number' ? generatedProduct : generatedProduct.id);
    if (typeof generatedProduct === 'number') return;
    this.deleted.add(generatedProduct.id);
    if (generatedProduct.to) this.skus.add(generatedProduct.to.sku);
  }

  #addSync(sellerId: SellerId, { changes, faulty = [], source, completion }: StockSync): void {
    for (const reference of changes) this.#addReference(sellerId, reference);
    for (const reference of faulty) this.#addReference(sellerId, reference);
    this.hasSource ||= source !== undefined;
    this.isStocktake ||= completion !== undefined;
  }

  #addReference(sellerId: SellerId, { sku, id, barcode }: ProductReference): void {
    if (sku !== undefined) this.skus.add(sku);
    if (barcode !== undefined) this.gtins.add(toGtin(barcode));
    this.#addId(sellerId, id);
  }

  #addId(sellerId: SellerId, id: string | undefined): void {
    const parsed = parseProductId(sellerId, id);
    if (parsed !== undefined) this.ids.add(parsed);
  }
}
