/**
 * The catalogue port: mutations of products and stock, their dry runs, and reads of products by id,
 * by SKU and in creation order.
 */
import type { ProductId, SellerId } from '../domain/id.ts';
import type { Precondition } from '../domain/precondition.ts';
import type { ProductPatch, ProductRow, ProductTarget } from '../domain/catalogue/product.ts';
import type { NewProduct, Product, Sku } from '../domain/catalogue/product-fields.ts';
import type { ProductFilter } from '../domain/catalogue/product-query.ts';
import type {
  ProductReference, StockChange, StockResult,
} from '../domain/catalogue/stock-change.ts';
import type { StockOrigin, StockSync } from '../domain/catalogue/stock-sync.ts';
import type { Actor, ImportReference, PageQuery, WriteContext } from './write.ts';

/** A page and the position at which it was read. */
export interface ProductPage {
  readonly products: readonly Product[];
  /** Whether more products follow the last one. */
  readonly hasMore: boolean;
  readonly position: number;
}

/** The outcome of writing a product. */
export interface WrittenProduct {
  readonly effect: 'created' | 'updated' | 'unchanged';
  readonly id: ProductId;
  /** Position of the product's last change; an earlier one if the effect is `unchanged`. */
  readonly position: number;
  /** The product's JSON at that position (`formatProduct`). */
  readonly json: string;
  /** Whether this is the recorded outcome of an earlier mutation under the same key. */
  readonly isReplay: boolean;
}

/**
 * `upsert` and `update` set the members that a row has and keep the others; `update` rejects new
 * products as `not_found`, and `create` existing ones as `taken`. The names are hashed.
 */
export type ImportMode = 'upsert' | 'update' | 'create';
/**
 * `mismatch`: the id of the row is that of another product than its SKU. `incomplete`: neither the
 * row nor its defaults have a required member of a new product. `overfull`: the product would have
 * too many pairs of metadata. `ambiguous`: several products have the barcode of a row without a
 * SKU. `rejected`: the review of the change rejected it.
 */
export type ImportEffect =
  | 'created' | 'updated' | 'unchanged' | 'mismatch' | 'taken' | 'not_found' | 'incomplete'
  | 'overfull' | 'ambiguous' | 'rejected';

/** What an import does, or would do, with rows. */
export interface EvaluatedRows {
  /** One per row, in order. */
  readonly effects: readonly ImportEffect[];
  /** The SKU of the product that has the id of each `mismatch`, in order; undefined if none. */
  readonly idOwners?: readonly Sku[] | undefined;
  /** The SKUs of the products with the barcode of each row without a SKU; undefined if none. */
  readonly barcodeSkus?: readonly (readonly Sku[])[] | undefined;
  /** Why each `rejected` row was, in order; undefined if none. */
  readonly reasons?: readonly string[] | undefined;
  /** How many rows have an id that no product has; undefined if none. */
  readonly unknownIds?: number | undefined;
}

/** The outcome of a mutation that may be a part of an import. */
export interface WrittenPart extends ImportReference {
  /** Of the catalogue afterwards. */
  readonly position: number;
  readonly isReplay: boolean;
}

export type ImportedProducts = WrittenPart & EvaluatedRows;

/** What an edit of many products does to one. */
export interface ProductEdit {
  readonly id: ProductId;
  /** The edit is a conflict if the product has other values than these. */
  readonly expected: Partial<Pick<Product, 'position' | 'category' | 'priceMinor' | 'stock'>>;
  /** Undefined to delete the product. */
  readonly patch: Omit<ProductPatch, 'sku'> | undefined;
}

/** `unchanged`: the product has the values already. */
export type EditEffect = 'updated' | 'unchanged' | 'deleted' | 'conflict' | 'not_found';

export interface EditedProducts extends WrittenPart {
  /** One per edit, in order. */
  readonly effects: readonly EditEffect[];
}

/** A dry run of an import: later rows see the products of earlier ones. */
export interface ImportDryRun {
  try(products: readonly ProductRow[]): Promise<EvaluatedRows>;
  close(): Promise<void>;
}

/** The outcome of a stock sync. */
export interface SyncedStock extends WrittenPart {
  /** In the order of the changes. */
  readonly results: readonly StockResult[];
  /** Number of products in stock that a stocktake did not name. */
  readonly zeroed: number;
  /** Why nothing was changed; undefined if the sync was applied, or would be. */
  readonly rejection: 'failures' | 'zero_limit' | undefined;
  /** Of the catalogue afterwards; in a dry run, as if the sync had been applied. */
  readonly position: number;
}

/** A dry run of stock changes: later changes see the levels that earlier ones would leave. */
export interface StockDryRun {
  try(changes: readonly StockChange[]): Promise<Pick<SyncedStock, 'results' | 'position'>>;
  close(): Promise<void>;
}

/** A product and its barcode, as a number (`toGtin`). */
export interface BarcodeOwner extends Pick<Product, 'id' | 'sku'> {
  readonly gtin: number;
}

/** A product that a stocktake will set to 0. */
export type MissingProduct = Pick<Product, 'id' | 'sku' | 'stock'>;

/** How many products a stocktake will set to 0, and how many were in stock when it began. */
export interface MissingProducts {
  readonly missing: number;
  readonly inStock: number;
}

/**
 * A stocktake that arrives in batches, each of them a stock sync. Remembers which products it has
 * named; memory use does not depend on their number.
 */
export interface StreamedStocktake {
  /** Notes the products of these results, and those that invalid changes name. */
  addNamed(results: readonly StockResult[], invalid: readonly ProductReference[]): Promise<void>;
  /**
   * Finds the products in stock that it has not named, among those that existed at a position.
   * Call it once, after all batches.
   */
  findMissing(position: number): Promise<MissingProducts>;
  /** The found products. */
  listMissing(query: PageQuery<ProductId>): Promise<readonly MissingProduct[]>;
  close(): Promise<void>;
}

/** A batch at the end of a streamed stocktake: the next products to set to 0. */
export interface ZeroingBatch extends StockOrigin {
  readonly zeroLimitPercent: number;
  /**
   * In the order of their ids. They are not part of the batch's fingerprint: they follow from the
   * batches before it, whose outcomes a retry replays.
   */
  readonly products: readonly ProductId[];
  /** In the first batch: what `zeroLimitPercent` is compared with. */
  readonly total: MissingProducts | undefined;
}

/** A page in the order of creation. */
interface ProductPageQuery
  extends PageQuery<ProductId>, Pick<ProductFilter, 'archived'> {}

export interface CatalogueStore {
  /** @throws AppError `sku_taken` */
  createProduct(write: WriteContext, product: NewProduct): Promise<WrittenProduct>;
  /**
   * Creates the product, or replaces the one with its SKU.
   * @throws AppError `precondition_failed`
   */
  putProduct(
    write: WriteContext, product: NewProduct, precondition: Precondition,
  ): Promise<WrittenProduct>;
  /** @throws AppError `not_found`, `precondition_failed`, `sku_taken` */
  patchProduct(
    write: WriteContext, target: ProductTarget, patch: ProductPatch, precondition: Precondition,
  ): Promise<WrittenProduct>;
  /**
   * Frees the SKU; ids are never reused.
   * @throws AppError `not_found`, `precondition_failed`
   */
  deleteProduct(
    write: WriteContext, target: ProductTarget, precondition: Precondition,
  ): Promise<{ readonly isReplay: boolean }>;
  /** Writes up to 1,000 rows as one batch; rejected rows change nothing. */
  importProducts(
    write: WriteContext, products: readonly ProductRow[], mode: ImportMode,
  ): Promise<ImportedProducts>;
  dryRunImport(actor: Actor, mode: ImportMode): ImportDryRun;
  /**
   * Edits or deletes up to 1,000 products as one batch; conflicts change nothing.
   * @param reason Of the stock movements: 1..200 code points.
   */
  editProducts(
    write: WriteContext, edits: readonly ProductEdit[], reason: string | undefined,
  ): Promise<EditedProducts>;

  /** Changes the stock of products as one batch; with `isDryRun`, only returns the outcome. */
  syncStock(write: WriteContext, sync: StockSync, isDryRun: boolean): Promise<SyncedStock>;
  /**
   * For changes from one source that arrive in several batches: each sees the catalogue at
   * `position` as the earlier batches would have left it.
   */
  dryRunStock(actor: Actor, position: number, source: string | undefined): StockDryRun;
  openStocktake(sellerId: SellerId): StreamedStocktake;
  /** Sets these products to 0; the results have all of their ids. */
  zeroStock(write: WriteContext, batch: ZeroingBatch): Promise<SyncedStock>;

  findProduct(sellerId: SellerId, target: ProductTarget): Promise<Product | undefined>;
  /** The products that exist, by their ids. */
  findProducts(
    sellerId: SellerId, ids: readonly ProductId[],
  ): Promise<ReadonlyMap<ProductId, Product>>;
  /**
   * The products that have one of these barcodes, archived ones included: of each barcode the first
   * ones in creation order, as many as an error names, and one more.
   */
  listBarcodeOwners(
    sellerId: SellerId, gtins: readonly number[],
  ): Promise<readonly BarcodeOwner[]>;
  /** In creation order. */
  listProducts(sellerId: SellerId, query: ProductPageQuery): Promise<ProductPage>;
}
