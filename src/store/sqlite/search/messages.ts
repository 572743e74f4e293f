/**
 * What crosses between the main thread and the thread of the search: what is asked as JSON text,
 * and what is answered as objects. V8 keeps the short strings of JSON that it parses until a rare
 * large collection, so the pages of an export would pile up.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { ErrorCode } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { ProductRow } from '../catalogue/products.ts';
import type {
  ProductFilter, ProductQuery, ProductSort,
} from '../../../domain/catalogue/product-query.ts';

/** What the thread is started with: paths of the two databases. */
export interface SearchFiles {
  readonly catalogue: string;
  readonly search: string;
}

export interface SearchRequest {
  readonly kind: 'search';
  readonly sellerId: SellerId;
  readonly query: ProductQuery;
  readonly position: number;
}

export interface ExportRequest {
  readonly kind: 'export';
  readonly sellerId: SellerId;
  readonly filter: ProductFilter;
  readonly sort: ProductSort;
  readonly position: number;
}

export interface TotalsRequest {
  readonly kind: 'totals';
  readonly sellerId: SellerId;
  readonly position: number;
}

/** Asks how many products have no more than so many in stock, counted to a limit. */
export interface LowStockRequest {
  readonly kind: 'lowStock';
  readonly sellerId: SellerId;
  readonly stockMax: number;
  readonly limit: number;
  readonly position: number;
}

/** What is answered once the projection has come to its position. */
export type PositionRequest = SearchRequest | ExportRequest | TotalsRequest | LowStockRequest;

/** Asks for the next page of an export. */
export interface PageRequest {
  readonly kind: 'page';
  readonly export: number;
}

export type SearchCall = { readonly id: number } & (PositionRequest | PageRequest);

/** What is not answered: an export is left, work unasked begins or pauses, the thread is to end. */
export type SearchNote =
  | { readonly kind: 'leave'; readonly export: number }
  | { readonly kind: 'work' | 'pause' | 'close' };

export type SearchAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: SearchFailure };

export interface SearchFailure {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: string | undefined;
}

export interface FoundRows {
  readonly rows: readonly ProductRow[];
  readonly hasMore: boolean;
}

/** Answers a search. */
export interface FoundPage extends FoundRows {
  readonly currency: Currency;
  readonly position: number;
}

/** Answers a LowStockRequest. */
export interface CountedProducts {
  readonly products: number;
}

/** Answers the request of an export; its pages are FoundRows. */
export interface StartedExport {
  readonly export: number;
  readonly currency: Currency;
  readonly position: number;
}
