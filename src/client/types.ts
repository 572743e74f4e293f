/** The JSON of stock, changes and imports as types, with the statuses that the server knows. */
import type { ChangeType } from '../domain/catalogue/change.ts';
import type { ImportKind, ImportNotes } from '../domain/catalogue/import.ts';
import type { StockStatus } from '../domain/catalogue/stock-change.ts';
import type { Issue } from '../domain/error.ts';
import type { ImportMode } from '../store/catalogue-store.ts';
import type { Position, Product } from './product.ts';

export type { ChangeType, ImportKind, ImportMode, Issue, StockStatus };

/** The moment at which the catalogue is read. */
export interface PastOptions {
  /** The position or the time (RFC 3339) to read the catalogue at. Default: now. */
  readonly at?: number | string | Date | undefined;
}

/** A page of a list. */
export type Page<Name extends string, Item> = {
  /** The items, under the name of the list, such as `products`. */
  readonly [name in Name]: readonly Item[];
} & {
  /** Continues the list, as `cursor`; null on the last page. */
  readonly next_cursor: string | null;
};

/**
 * A stock change: has one of `sku`, `id` and `barcode`, and either `set` or `adjust`. In a row of a
 * file with both `sku` and `id`, the SKU names the product, and the id must not be that of another
 * one.
 */
export interface StockChange {
  /** The SKU of the product. */
  readonly sku?: string | undefined;
  /** The id of the product. */
  readonly id?: string | undefined;
  /**
   * The barcode of the product, with any number of leading zeros. If several products have it, the
   * change is `ambiguous`.
   */
  readonly barcode?: string | undefined;
  /** The new stock: an integer from 0 to 1,000,000,000. */
  readonly set?: number | undefined;
  /** Added to the stock; negative to remove. Stock never goes below 0. */
  readonly adjust?: number | undefined;
  /** Apply only if this is the current stock. */
  readonly expect?: number | undefined;
  /** Apply only if this is above the last one of the source, which `source` names. */
  readonly sequence?: number | undefined;
  /** Why the stock changes: 1 to 200 code points. Overrides the reason of the request. */
  readonly reason?: string | undefined;
}

/** The result of a stock change. Unknown members are null. */
export interface StockResult {
  /** The SKU of the product, or the one that was sent. */
  readonly sku: string | null;
  /** The id of the product; as sent if there is no such product. */
  readonly id: string | null;
  /** The barcode of the change, as sent. Absent if it has none. */
  readonly barcode?: string;
  /** Whether the change was applied, and why not. */
  readonly status: StockStatus;
  /** The stock before the change. */
  readonly previous: number | null;
  /** The current stock: after the change, if it was applied. */
  readonly stock: number | null;
  /** Position of the product's last change. */
  readonly position: number | null;
  /** Why the change is `invalid` or `ambiguous`; absent for other statuses. */
  readonly errors?: readonly Issue[];
}

/** What a stock sync did. */
export interface StockCounts {
  /** Changes that are `ok`. */
  readonly applied: number;
  /** Changes that are neither `ok` nor `unchanged`. */
  readonly failed: number;
  /** Position of the catalogue after the request. */
  readonly position: number;
  /** The id of the record of this import. Absent in a dry run. */
  readonly import?: string;
  /** Products that a stocktake set to 0. Absent unless `complete` is set. */
  readonly zeroed?: number;
}

/** What a stock sync did, with the results of its changes. */
export interface StockSyncResult extends StockCounts {
  /** A result for each change, in the order sent. */
  readonly results: readonly StockResult[];
}

/** A line of a report on a streamed stock sync. */
export interface StockLine extends Omit<StockResult, 'status'> {
  /** The line that was sent, from 1; null for a product that a stocktake set to 0. */
  readonly line: number | null;
  /** As in a `StockResult`, or `zeroed`: no line named the product, and a stocktake set it to 0. */
  readonly status: StockStatus | 'zeroed';
}

/** What a streamed stock sync did. */
export interface StockSummary extends StockCounts {
  /** Changes whose product already had this stock. */
  readonly unchanged: number;
  /** Lines with the stock of a product that another line has. Absent if there are none. */
  readonly duplicates?: number;
  /** The first 20 of them. */
  readonly duplicate_rows?: readonly {
    /** The line, from 1. */
    readonly line: number;
    /** The SKU of the product. */
    readonly sku: string;
    /**
     * The previous line with this product; for the first one, which `reject_all` rejects, the last
     * line.
     */
    readonly previous_line: number;
  }[];
  /** Columns of a CSV file that were ignored. */
  readonly ignored_columns?: readonly string[];
  /** Rows of a CSV file with a SKU, and an id that no product has: it is ignored. */
  readonly unknown_ids?: number;
  /** For a person: why nothing was applied, and what else the counts do not say. */
  readonly notes?: readonly string[];
}

/** The stock of a product at one moment; `position` is that of its last change until then. */
export interface StockLevel extends Pick<Product, 'id' | 'sku' | 'stock' | 'position'> {}

/** How the stock of a product moved. */
interface Movement {
  /** The stock before the change. */
  readonly before: number;
  /** The stock after the change. */
  readonly after: number;
  /** The difference: `after` minus `before`. */
  readonly delta: number;
  /** Why the stock moved; null if no reason was given. */
  readonly reason: string | null;
  /** The system that the numbers come from; null if none was given. */
  readonly source: string | null;
  /** The sequence number of the source; null if none was given. */
  readonly sequence: number | null;
}

/** What was changed, when, and by whom. */
interface Origin {
  /** Position of the change in the catalogue's history. */
  readonly position: Position;
  /** The id of the product. */
  readonly product_id: string;
  /** The SKU after the change; for a deleted product, the last one. */
  readonly sku: string;
  /** When the change was made: RFC 3339, in UTC. */
  readonly at: string;
  /** The id of the API key that made the change. */
  readonly key_id: string;
  /** Who made the change without a key: a portal account, or the actor that the program named. */
  readonly actor?: string;
  /** The id of the import that made the change; absent for single writes. */
  readonly import?: string;
}

/** An entry of the stock ledger. */
export interface StockMovement extends Origin, Movement {
  /** The type of the change that moved the stock. */
  readonly type: ChangeType;
}

/** A change of the catalogue: `type` says what `data` is. */
export type Change = {
  /** By its type. */
  readonly [Type in ChangeType]: Origin & {
    /** What happened to the product. */
    readonly type: Type;
    /** The product afterwards (`deleted`: as it was last), or the stock movement. */
    readonly data: Type extends 'stock' ? Movement : Product;
  };
}[ChangeType];

/** A line of an import's report. */
export interface ImportRow {
  /** The line of the file on which the row starts, from 1. */
  readonly line: number;
  /** The SKU as sent; null if there is none. */
  readonly sku: string | null;
  /** What the row did; `failed`: it was rejected, for the reasons in `errors`. */
  readonly status: 'created' | 'updated' | 'unchanged' | 'failed';
  /** The line of the file's previous row with the same SKU: the values of this row win. */
  readonly overrides?: number;
  /** Why the row was rejected; absent for other statuses. */
  readonly errors?: readonly Issue[];
}

/** What an import did: how many rows had each outcome, and what else is worth knowing. */
export interface ImportSummary extends ImportNotes {
  /** Rows whose SKU was new. */
  readonly created: number;
  /** Rows that changed a product. */
  readonly updated: number;
  /** Rows whose product already had these values. */
  readonly unchanged: number;
  /** Rows that were rejected. */
  readonly failed: number;
  /** Rows without a product, such as image rows. */
  readonly skipped: number;
  /** Rows that override an earlier row with the same SKU. Absent if there are none. */
  readonly duplicates?: number;
  /** The first 20 of them. */
  readonly duplicate_rows?: readonly (Required<Pick<ImportRow, 'line' | 'overrides'>> & {
    /** The SKU of both rows. */
    readonly sku: string;
  })[];
  /** Position of the catalogue after the import. */
  readonly position: number;
  /** The id of the record of this import. Absent in a dry run. */
  readonly import?: string;
  /** Columns of a CSV file that were ignored. */
  readonly ignored_columns?: readonly string[];
  /**
   * For a person: the cause of most rejected rows, and what to do about it. Absent if they have no
   * common cause.
   */
  readonly advice?: string;
  /** For a person: why nothing was imported, and what else the counts do not say. */
  readonly notes?: readonly string[];
}
