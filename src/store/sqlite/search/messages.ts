/**
 * Messages between the main thread and the search thread. Requests are JSON text; responses are
 * objects, because V8 keeps the short strings of parsed JSON until a rare large collection, so the
 * pages of an export would pile up.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import { AppError, type ErrorCode } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { ProductRow } from '../catalogue/products.ts';
import type {
  ProductFilter, ProductQuery, ProductSort,
} from '../../../domain/catalogue/product-query.ts';
import { SEARCH_RETRY_AFTER_SECONDS } from './limits.ts';

/** The paths of the two databases, with which the thread is started. */
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

/** Counts products with at most `stockMax` in stock, up to a limit. */
export interface LowStockRequest {
  readonly kind: 'lowStock';
  readonly sellerId: SellerId;
  readonly stockMax: number;
  readonly limit: number;
  readonly position: number;
}

/** Answered when the projection has reached their position. */
export type PositionRequest = SearchRequest | ExportRequest | TotalsRequest | LowStockRequest;

/** Reads the next page of an export. */
export interface PageRequest {
  readonly kind: 'page';
  readonly export: number;
}

export type SearchCall = { readonly id: number } & (PositionRequest | PageRequest);

/** Messages without a response. `catchUp` and `pause` control catching up while idle. */
export type SearchNotification =
  | { readonly kind: 'endExport'; readonly export: number }
  | { readonly kind: 'catchUp' | 'pause' | 'close' };

export type SearchResponse =
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

export interface FoundPage extends FoundRows {
  readonly currency: Currency;
  readonly position: number;
}

export interface CountedProducts {
  readonly products: number;
}

/** The response to an ExportRequest; its pages are FoundRows. */
export interface StartedExport {
  readonly export: number;
  readonly currency: Currency;
  readonly position: number;
}

/** An error that a retry may not meet. */
export function temporarilyUnavailable(detail: string, cause?: unknown): AppError {
  const retryAfterSeconds = SEARCH_RETRY_AFTER_SECONDS;
  return new AppError('unavailable', detail, { retryAfterSeconds, cause });
}

export function queueFull(): AppError {
  return temporarilyUnavailable('Too many searches are waiting. Retry soon.');
}
