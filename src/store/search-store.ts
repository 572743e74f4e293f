/**
 * The search port: filtered and sorted lists, totals and exports, read from a projection of the
 * catalogue once it has caught up to the given position. If that takes too long, every method
 * throws AppError `unavailable` with the projection's progress.
 */
import type { SellerId } from '../domain/id.ts';
import type { Product } from '../domain/catalogue/product-fields.ts';
import type {
  ProductFilter, ProductQuery, ProductSort,
} from '../domain/catalogue/product-query.ts';
import type { ProductPage } from './catalogue-store.ts';
import type { ListCount } from './write.ts';

/** Sums over the products of a catalogue that are not archived: exact, however large it is. */
export interface CatalogueTotals {
  readonly products: number;
  /** In stock. */
  readonly units: bigint;
  /** The sum of all prices, in minor units. */
  readonly valueMinor: bigint;
}

/** The totals, and the position at which they were read. */
export interface TotalsAt extends CatalogueTotals {
  readonly position: number;
}

export interface LowStockQuery {
  /** Counts products with at most this stock. */
  readonly stockMax: number;
  /** Counts no further. */
  readonly limit: number;
}

/** In the order of their UTF-8 bytes. */
export interface CategoryQuery {
  /** Inclusive; undefined for the first. */
  readonly from: string | undefined;
  readonly limit: number;
}

/** A category and how many products it has: at least one, which may be archived. */
export interface Category {
  readonly category: string;
  /** Without archived ones. */
  readonly products: number;
  readonly archived: number;
}

export interface ExportQuery {
  readonly filter: ProductFilter;
  readonly sort: ProductSort;
}

/** All products that match a query, at one position. */
interface ProductExport {
  readonly position: number;
  /** Holds a snapshot open: read it to the end or call `return`. */
  readonly pages: AsyncGenerator<readonly Product[], void, void>;
}

/** The products that match each filter, archived ones included, in the order of creation. */
export interface LookedUpProducts {
  readonly results: readonly (readonly Product[])[];
  /** The position at which all were read. */
  readonly position: number;
}

export interface SearchStore {
  /**
   * Looks up the products of up to 1,000 filters, each by one of id, SKU, barcode and metadata.
   * Finds up to LOOKUP_MATCHES_LIMIT products of each, and one more. The results are incomplete if
   * they have more than LOOKUP_PRODUCTS_LIMIT products.
   */
  lookUpProducts(
    sellerId: SellerId, filters: readonly ProductFilter[], position: number,
  ): Promise<LookedUpProducts>;
  searchProducts(sellerId: SellerId, query: ProductQuery, position: number): Promise<ProductPage>;
  /** @param archived `any` for the totals of all products, which history adds up to. */
  readTotals(sellerId: SellerId, position: number, archived?: 'any'): Promise<TotalsAt>;
  /** How many products match. Undefined if that takes too long to find out. */
  countProducts(
    sellerId: SellerId, filter: ProductFilter, position: number,
  ): Promise<ListCount | undefined>;
  countLowStock(sellerId: SellerId, query: LowStockQuery, position: number): Promise<number>;
  listCategories(
    sellerId: SellerId, query: CategoryQuery, position: number,
  ): Promise<readonly Category[]>;
  /** @throws AppError `unavailable` also if too many exports are in flight */
  exportProducts(sellerId: SellerId, query: ExportQuery, position: number): Promise<ProductExport>;
}
