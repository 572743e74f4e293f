/** The options of the methods of products, and what lookups and exports return. */
import { FILE_OPTIONS, type FileOptions, type FileType } from './lines.ts';
import {
  BOOLEAN, METADATA, oneOf, type OptionTable, PAIRS, READ_OPTIONS, type ReadOptions,
  REQUEST_OPTIONS, type RequestOptions, required, SENT, VERSION,
} from './options.ts';
import type { Position, ProductFieldName, ProductQuery } from './product.ts';
import { LIST_OPTIONS, type ListOptions } from './sender.ts';
import type { ImportMode, PastOptions } from './types.ts';

/** How a request names a product: by its id, or `{ sku }`. */
export type ProductTarget = string | {
  /** The SKU of the product. */
  readonly sku: string;
};

/** At which moment to read the product, and which members. */
export interface GetOptions<Field extends ProductFieldName = ProductFieldName>
  extends PastOptions, LookupOptions<Field> {}

/** Which members to read. */
export interface LookupOptions<Field extends ProductFieldName = ProductFieldName>
  extends ReadOptions {
  /** Only these members. Default: all. */
  readonly fields?: readonly Field[] | undefined;
}

/** What a lookup found. */
export interface LookupResult<Item> {
  /** The products of each query, in the order of the queries; archived ones included. */
  readonly results: readonly (readonly Item[])[];
  /** The position of the catalogue at which all were read. */
  readonly position: Position;
}

/** Conditions on the version of the product: its `position`, or the ETag of a response. */
export interface VersionOptions extends RequestOptions {
  /** Change only this version; if it is another one by now, PreconditionFailedError is thrown. */
  readonly ifMatch?: number | string | undefined;
}

/** Whether to replace a product, or only create it. */
export interface PutOptions extends VersionOptions {
  /**
   * Whether only to create: if a product has this SKU, PreconditionFailedError is thrown. Default
   * false.
   */
  readonly createOnly?: boolean | undefined;
}

/** Which products to list, and what of them. With `at`, no conditions and no `sort`. */
export interface ProductListOptions<Field extends ProductFieldName = ProductFieldName>
  extends ProductQuery, PastOptions, ListOptions {
  /** Only these members. Default: all. */
  readonly fields?: readonly Field[] | undefined;
}

/** Which products to export, and how. With `at`, no conditions and no `sort`. */
export interface ExportOptions extends ProductQuery, PastOptions, ReadOptions {
  /** CSV with a header row, or one JSON object in each line. */
  readonly format: 'csv' | 'ndjson';
  /** Only these members, as columns of CSV. Default: all. */
  readonly fields?: readonly ProductFieldName[] | undefined;
}

/** How to read and import a file. */
export interface ImportOptions extends FileOptions {
  /** Default: CSV for text and bytes, and NDJSON for objects. */
  readonly type?: FileType | undefined;
  /** Default `upsert`. `update` rejects rows whose SKU is new, `create` those whose SKU exists. */
  readonly mode?: ImportMode | undefined;
  /** Whether to return the report without changing anything. Default false. */
  readonly dryRun?: boolean | undefined;
  /** Whether the report has a line for each row, or (default) for rejected ones. */
  readonly report?: 'all' | 'failed' | undefined;
  /** Values for blank cells of new products: `{ stock: 0 }`, or as text, `stock:0`. */
  readonly default?: Readonly<Record<string, string | number>> | string | undefined;
  /**
   * What a row does if an earlier one has its SKU, and another price or stock: it is rejected
   * (default), its stock is added, or it replaces the earlier one.
   */
  readonly duplicates?: 'reject' | 'sum' | 'last' | undefined;
}

/** A file that the server sends, at one position of the catalogue. */
export interface ExportedFile extends AsyncIterable<Uint8Array> {
  /** Continue with the changes after this position: nothing lies between. */
  readonly position: Position;
}

export const LOOKUP_OPTIONS: OptionTable<LookupOptions> = { ...READ_OPTIONS, fields: SENT };

export const GET_OPTIONS: OptionTable<GetOptions> = { ...LOOKUP_OPTIONS, at: SENT };

export const VERSION_OPTIONS: OptionTable<VersionOptions> = {
  ...REQUEST_OPTIONS, ifMatch: VERSION,
};

export const PUT_OPTIONS: OptionTable<PutOptions> = { ...VERSION_OPTIONS, createOnly: BOOLEAN };

const QUERY: OptionTable<ProductQuery & PastOptions> = {
  q: SENT, category: SENT, sku: SENT, barcode: SENT, metadata: METADATA,
  priceMin: SENT, priceMax: SENT, stockMin: SENT, stockMax: SENT, updatedSince: SENT,
  changedSince: SENT, archived: SENT,
  sort: SENT, at: SENT,
};

export const PRODUCT_LIST_OPTIONS: OptionTable<ProductListOptions> = {
  ...LIST_OPTIONS, ...QUERY, fields: SENT,
};

export const EXPORT_OPTIONS: OptionTable<ExportOptions> = {
  ...READ_OPTIONS, ...QUERY, format: required(oneOf('csv', 'ndjson')), fields: SENT,
};

export const IMPORT_OPTIONS: OptionTable<ImportOptions> = {
  ...FILE_OPTIONS, mode: SENT, dryRun: SENT, report: SENT, default: PAIRS, duplicates: SENT,
};
