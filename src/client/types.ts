/**
 * The JSON of the API as types. They derive from what the server's validators and its OpenAPI
 * document derive from: the tables of product fields and stock changes, and the lists of statuses.
 */
import type { ChangeType } from '../domain/catalogue/change.ts';
import type { ImportKind, ImportNotes } from '../domain/catalogue/import.ts';
import type {
  NewProductJson, ProductFieldName, ProductJson,
} from '../domain/catalogue/product-fields.ts';
import type { SortKey } from '../domain/catalogue/product-query.ts';
import type {
  StockChange as StoredStockChange, StockStatus,
} from '../domain/catalogue/stock-change.ts';
import type { Issue } from '../domain/error.ts';
import type { ImportMode } from '../store/catalogue-store.ts';

export type { ChangeType, ImportKind, ImportMode, Issue, ProductFieldName, SortKey, StockStatus };

/**
 * A position to pass on as it is: an integer or, in a catalogue that was restored from a backup,
 * text such as `k7w2q-10`.
 */
export type Position = number | string;

/** A product. Times are RFC 3339 in UTC; `price` is in the major unit of `currency`. */
export type Product = Omit<ProductJson, 'position'> & { readonly position: Position };
export type NewProduct = NewProductJson;
/** The SKU is in the path of the request. */
export type ProductReplacement = Omit<NewProduct, 'sku'> & Optional<Pick<NewProduct, 'sku'>>;
export type ProductPatch = Optional<NewProduct>;
/**
 * A row of an import: what it leaves out stays as it is in an existing product, and null removes
 * an optional member or a pair of `metadata`. Rows may have all members of an export.
 */
export type ImportProduct =
  Optional<Omit<Product, keyof NewProduct> & Omit<NewProduct, 'sku'>> & Pick<NewProduct, 'sku'>;

/** A member may be left out or undefined, also with `exactOptionalPropertyTypes`. */
export type Optional<Members> = {
  readonly [Member in keyof Members]?: Members[Member] | undefined;
};

/** Conditions of a list; a product must match all. */
export interface ProductQuery {
  /**
   * Words, in any order: each is a part of the name, SKU, category or barcode. Ignores case,
   * accents, and punctuation in SKUs.
   */
  readonly q?: string | undefined;
  readonly category?: string | undefined;
  readonly sku?: string | undefined;
  readonly barcode?: string | undefined;
  readonly priceMin?: number | undefined;
  readonly priceMax?: number | undefined;
  readonly stockMin?: number | undefined;
  readonly stockMax?: number | undefined;
  /** Changed at or after this time. */
  readonly updatedSince?: string | Date | undefined;
  /** Changed after this position. */
  readonly changedSince?: Position | undefined;
  readonly archived?: boolean | 'any' | undefined; // default: false, and any for exports
  /** Default: `id`, the order of creation. A minus reverses. */
  readonly sort?: SortKey | `-${SortKey}` | undefined;
}

/** The moment at which the catalogue is read. */
export interface PastOptions {
  /** As it was at this position or time. Default: as it is now. */
  readonly at?: number | string | Date | undefined;
}

/** A page of a list. */
export type Page<Name extends string, Item> = { readonly [name in Name]: readonly Item[] } & {
  /** Continues the list; null on the last page. */
  readonly next_cursor: string | null;
};

type Unbranded<Value> = Value extends string ? string : Value;

/** Names a product by `sku` or `id`, and its new stock (`set`) or a difference (`adjust`). */
export type StockChange = {
  readonly [Member in keyof StoredStockChange]: Unbranded<StoredStockChange[Member]> | undefined;
};

/** The result of a stock change. Unknown members are null. */
export interface StockResult {
  readonly sku: string | null;
  readonly id: string | null;
  readonly status: StockStatus;
  readonly previous: number | null;
  readonly stock: number | null;
  readonly position: number | null;
  /** Why a change is `invalid`. */
  readonly errors?: readonly Issue[];
}

export interface StockCounts {
  readonly applied: number;
  readonly failed: number;
  /** Position of the catalogue afterwards. */
  readonly position: number;
  /** The record of the import; absent in a dry run. */
  readonly import?: string;
  /** How many products a stocktake set to 0. */
  readonly zeroed?: number;
}

export interface StockSyncResult extends StockCounts {
  readonly results: readonly StockResult[];
}

/** A line of a report on a streamed stock sync. */
export interface StockLine extends Omit<StockResult, 'status'> {
  /** From 1; null for a product that a stocktake set to 0. */
  readonly line: number | null;
  readonly status: StockStatus | 'zeroed';
}

export interface StockSummary extends StockCounts {
  readonly unchanged: number;
  /** Lines with the stock of a product of an earlier line; absent if there are none. */
  readonly duplicates?: number;
  /** The first of them. */
  readonly duplicate_rows?: readonly {
    readonly line: number; readonly sku: string; readonly previous_line: number;
  }[];
  /** Columns of a CSV file that were ignored. */
  readonly ignored_columns?: readonly string[];
  /** Rows with a SKU, and an id that no product has: the id was ignored. */
  readonly unknown_ids?: number;
  /** For a person: why nothing was applied, and what else the counts do not say. */
  readonly notes?: readonly string[];
}

export interface StockLevel extends Pick<Product, 'id' | 'sku' | 'stock' | 'position'> {}

interface Movement {
  readonly before: number;
  readonly after: number;
  readonly delta: number;
  readonly reason: string | null;
  readonly source: string | null;
  readonly sequence: number | null;
}

interface Origin {
  readonly position: Position;
  readonly product_id: string;
  readonly sku: string;
  /** RFC 3339. */
  readonly at: string;
  /** The key that made the change. */
  readonly key_id: string;
  /** Who made the change without a key: a portal account, or the actor that the program named. */
  readonly actor?: string;
  /** The import that made the change; absent for single writes. */
  readonly import?: string;
}

/** An entry of the stock ledger. */
export interface StockMovement extends Origin, Movement {
  readonly type: ChangeType;
}

/** A change of the catalogue: `type` says what `data` is. */
export type Change = {
  readonly [Type in ChangeType]: Origin & {
    readonly type: Type;
    /** The product afterwards (`deleted`: as it was last), or the stock movement. */
    readonly data: Type extends 'stock' ? Movement : Product;
  };
}[ChangeType];

/** A line of an import's report. */
export interface ImportRow {
  /** The line of the file on which the row starts, from 1. */
  readonly line: number;
  readonly sku: string | null;
  readonly status: 'created' | 'updated' | 'unchanged' | 'failed';
  /** The line of the file's previous row with the same SKU: the values of this row win. */
  readonly overrides?: number;
  readonly errors?: readonly Issue[];
}

export interface ImportSummary
  extends Readonly<Record<ImportRow['status'] | 'skipped', number>>, ImportNotes {
  /** Number of rows that override an earlier row with the same SKU. */
  readonly duplicates?: number;
  /** The first 20 of them. */
  readonly duplicate_rows?: readonly (Pick<ImportRow, 'line'> & {
    readonly sku: string; readonly overrides: number;
  })[];
  /** Position of the catalogue afterwards. */
  readonly position: number;
  /** The record of the import; absent in a dry run. */
  readonly import?: string;
  readonly ignored_columns?: readonly string[];
  /** What would correct most of the rejected rows. */
  readonly advice?: string;
  /** For a person: why nothing was imported, and what else the counts do not say. */
  readonly notes?: readonly string[];
}
