/**
 * Messages between the main thread and the search thread. Requests are JSON text; responses are
 * objects, because V8 keeps short strings of parsed JSON until a rare full garbage collection, so
 * export pages would pile up.
 */
import type { Currency } from '../../../domain/catalogue/currency.ts';
import type { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import type { ProductFilter, ProductQuery } from '../../../domain/catalogue/product-query.ts';
import type {
  Category, CategoryQuery, ExportQuery, LowStockQuery, TotalsAt,
} from '../../search-store.ts';
import type { OpenFile } from '../files/open-files.ts';
import type { ProductRow } from '../../sql/product-rows.ts';
import type { ListCount } from '../../write.ts';

/** Start data of the thread: the paths of the two databases. */
export interface SearchFiles {
  /** The files of the catalogue, as the writer has opened them. */
  readonly openFiles: readonly OpenFile[];
  readonly catalogue: string;
  readonly search: string;
}

/** Answered when the projection has reached the position. */
export type PositionRequest = { readonly sellerId: SellerId; readonly position: number } & (
  | { readonly kind: 'search'; readonly query: ProductQuery }
  | { readonly kind: 'lookup'; readonly filters: readonly ProductFilter[] }
  | ({ readonly kind: 'export' } & ExportQuery)
  | { readonly kind: 'totals'; readonly archived: 'any' | undefined }
  | { readonly kind: 'count'; readonly filter: ProductFilter }
  | ({ readonly kind: 'categories' } & CategoryQuery)
  | ({ readonly kind: 'lowStock' } & LowStockQuery));

export type ExportRequest = Extract<PositionRequest, { readonly kind: 'export' }>;

/** `page` reads the next page of an export; `forget` deletes all products of a seller. */
export type SearchRequest = PositionRequest
  | { readonly kind: 'page'; readonly export: number }
  | { readonly kind: 'forget'; readonly sellerId: SellerId };

export interface FoundRows {
  readonly rows: readonly ProductRow[];
  readonly hasMore: boolean;
}

/** The result of each kind of request. */
export interface SearchResults {
  readonly search: FoundRows & { readonly currency: Currency; readonly position: number };
  readonly lookup: Omit<SearchResults['search'], 'rows' | 'hasMore'> & {
    readonly results: readonly (readonly ProductRow[])[];
  };
  readonly export: {
    readonly export: number; readonly currency: Currency; readonly position: number;
  };
  readonly totals: TotalsAt;
  /** Null if it is not known. */
  readonly count: ListCount | null;
  readonly categories: readonly Category[];
  readonly lowStock: number;
  readonly page: FoundRows;
  readonly forget: null;
}

export type SearchCall = { readonly id: number } & SearchRequest;

/** Messages without a response. `catchUp` and `pause` control catching up while idle. */
export type SearchNotification =
  | { readonly kind: 'endExport'; readonly export: number }
  | { readonly kind: 'catchUp' | 'pause' | 'close' };

/** A failure has the arguments of its AppError. */
export type SearchResponse =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: ConstructorParameters<typeof AppError> };
