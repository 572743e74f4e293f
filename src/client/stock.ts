/** Stock: synchronises it, and reads levels and movements. */
import {
  FILE_OPTIONS, type FileOptions, type FileType, openSource, type Report, sendFile, type Source,
} from './lines.ts';
import {
  type OptionTable, readCall, REQUEST_OPTIONS, type RequestOptions, SENT, SOURCE,
} from './options.ts';
import type { Position } from './product.ts';
import { LIST_OPTIONS, listItems, type ListOptions, type Sender, sendJson } from './sender.ts';
import type {
  PastOptions, StockChange, StockLevel, StockLine, StockMovement, StockSummary, StockSyncResult,
} from './types.ts';

/** Where stock changes come from. */
interface StockOrigin extends RequestOptions {
  /**
   * The system that the numbers come from: 1 to 64 code points. Required where changes have a
   * `sequence`.
   */
  readonly source?: string | undefined;
  /** The reason for changes that have none of their own: 1 to 200 code points. */
  readonly reason?: string | undefined;
  /** Whether to return the results without changing anything. Default false. */
  readonly dryRun?: boolean | undefined;
}

/** Whether the changes are a complete count. */
interface StocktakeOptions {
  /** A stocktake: products in stock that no change names are set to 0. Default false. */
  readonly complete?: boolean | undefined;
  /** The most products that a stocktake may set to 0, in percent of those in stock. Default 50. */
  readonly zeroLimit?: number | undefined;
  /** Whether to ignore `zeroLimit`. Default false. */
  readonly force?: boolean | undefined;
}

/** How to apply an array of stock changes. */
export interface StockSyncOptions extends StockOrigin, StocktakeOptions {
  /** Whether to apply all changes, or none if one fails. Default false. */
  readonly atomic?: boolean | undefined;
}

/** How to read and apply a file or a stream of stock changes. */
export interface StockStreamOptions extends StockOrigin, StocktakeOptions, FileOptions {
  /** Default: NDJSON. */
  readonly type?: FileType | undefined;
  /** Whether the report has a line for each change (default), or for failed ones. */
  readonly report?: 'all' | 'failed' | undefined;
  /**
   * What a level does if an earlier one is of the same product: it is rejected (default), both are,
   * it is added, is added unless one of them is rejected, or replaces it. For `_all`, the server
   * reads all changes before it applies any.
   */
  readonly duplicates?: 'reject' | 'reject_all' | 'sum' | 'sum_all' | 'last' | undefined;
}

/** At which moment to read the stock. */
export interface LevelOptions extends PastOptions, ListOptions {}

/** Which stock movements to list; a movement must match all. */
export interface MovementOptions extends ListOptions {
  /**
   * Movements of the product with this SKU, and of deleted products whose last SKU it was. Former
   * SKUs of a product do not match.
   */
  readonly sku?: string | undefined;
  /** Movements of the product with this id. */
  readonly id?: string | undefined;
  /** Movements from this system. */
  readonly source?: string | undefined;
  /** Movements with this reason. */
  readonly reason?: string | undefined;
  /** Movements of the import with this id. */
  readonly import?: string | undefined;
  /** Movements at this time or later. Text is RFC 3339. */
  readonly since?: string | Date | undefined;
  /** Movements at this time or earlier. Text is RFC 3339. */
  readonly until?: string | Date | undefined;
  /** Movements after this position. */
  readonly after?: Position | undefined;
  /** Default `position`, oldest first; `-position` is newest first. */
  readonly sort?: 'position' | '-position' | undefined;
}

const SHARED_OPTIONS: OptionTable<StockOrigin & StocktakeOptions> = {
  ...REQUEST_OPTIONS, source: SENT, reason: SENT, dryRun: SENT, complete: SENT, zeroLimit: SENT,
  force: SENT,
};

const SYNC_OPTIONS: OptionTable<StockSyncOptions> = { ...SHARED_OPTIONS, atomic: SENT };

const STREAM_OPTIONS: OptionTable<StockStreamOptions> = {
  ...FILE_OPTIONS, ...SHARED_OPTIONS, report: SENT, duplicates: SENT,
};

const LEVEL_OPTIONS: OptionTable<LevelOptions> = { ...LIST_OPTIONS, at: SENT };

const MOVEMENT_OPTIONS: OptionTable<MovementOptions> = {
  ...LIST_OPTIONS, sku: SENT, id: SENT, source: SENT, reason: SENT, import: SENT, since: SENT,
  until: SENT, after: SENT, sort: SENT,
};

const STOCK = '/api/v1/stock';

/** Stock: synchronises it, and reads levels and movements. */
export class Stock {
  readonly #sender: Sender;

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Changes the stock of up to 10,000 products in one transaction. Each change has its own result,
   * in the order sent; a failed one does not stop the others.
   * @throws InvalidDataError; StockRejectedError (`atomic` or `complete`): nothing was changed
   * @example
   * ```ts
   * const { results } = await client.stock.sync([
   *   { sku: 'MUG-1', adjust: -2, reason: 'sold' }, { sku: 'CUP-1', set: 12, expect: 5 },
   * ], { source: 'till 2' });
   * console.log(results.map(({ status }) => status)); // [ 'ok', 'ok' ]
   * ```
   */
  sync(changes: readonly StockChange[], options?: StockSyncOptions): Promise<StockSyncResult>;
  /**
   * Sends any number of changes, as objects, as lines of JSON or as CSV, which are applied in
   * batches while they arrive. The report has a line for each, and then a summary.
   * @throws InvalidDataError if the file as a whole cannot be read
   * @example
   * ```ts
   * const report = await client.stock.sync('sku,stock\nMUG-1,38\nCUP-1,5\n', { type: 'text/csv' });
   * const { applied, unchanged } = await report.summary();
   * console.log(applied, unchanged); // 1 1
   * ```
   */
  sync(
    changes: Source<StockChange>, options?: StockStreamOptions,
  ): Promise<Report<StockLine, StockSummary>>;
  async sync(
    changes: Source<StockChange>, options: StockSyncOptions & StockStreamOptions = {},
  ): Promise<StockSyncResult | Report<StockLine, StockSummary>> {
    if (!Array.isArray(changes)) {
      const call = readCall('stock.sync', [[changes, SOURCE]], options, STREAM_OPTIONS);
      const type = options.type ?? 'application/x-ndjson';
      return sendFile(this.#sender, STOCK, await openSource(changes), call, { ...options, type });
    }
    const [request, { dry_run, ...members }] = readCall('stock.sync', [], options, SYNC_OPTIONS);
    return sendJson(this.#sender, {
      ...request, method: 'POST', path: STOCK, query: { dry_run },
    }, { changes, ...members });
  }

  /**
   * The stock of all products, now or at an earlier position or time.
   * @throws ResyncRequiredError if the history no longer reaches back to `at`
   * @example
   * ```ts
   * for await (const { sku, stock } of client.stock.levels()) console.log(sku, stock); // MUG-1 40
   * ```
   */
  levels(options: LevelOptions = {}): AsyncGenerator<StockLevel, void, void> {
    const call = readCall('stock.levels', [], options, LEVEL_OPTIONS);
    return listItems(this.#sender, STOCK, 'stock', call);
  }

  /**
   * The stock ledger, as far as the history reaches: what moved, when, by which key and why.
   * @example
   * ```ts
   * for await (const { sku, delta } of client.stock.movements({ sort: '-position' })) {
   *   console.log(sku, delta); // CUP-1 5
   * }
   * ```
   */
  movements(options: MovementOptions = {}): AsyncGenerator<StockMovement, void, void> {
    const call = readCall('stock.movements', [], options, MOVEMENT_OPTIONS);
    return listItems(this.#sender, `${STOCK}/movements`, 'movements', call);
  }
}
