/** Records of imports, stock syncs, stocktakes, reverts and bulk edits; and reverts. */
import { Report } from './lines.ts';
import {
  OBJECT, type OptionTable, READ_OPTIONS, readCall, type ReadOptions, REQUEST_OPTIONS,
  type RequestOptions, SENT, TEXT,
} from './options.ts';
import type { Position, Product } from './product.ts';
import {
  LIST_OPTIONS, listItems, type ListOptions, type Sender, sendForJson, stringify,
} from './sender.ts';
import type { RevertConflict, RevertStatus } from '../store/revert-store.ts';
import type { ImportKind } from './types.ts';

export type { RevertConflict, RevertStatus };

const IMPORTS = '/api/v1/imports';

/** Which records to list. */
export interface ImportListOptions extends ListOptions {
  /** Only imports of this kind. */
  readonly kind?: ImportKind | undefined;
}

/** What an import, a stock sync, a stocktake, a revert or a bulk edit did. */
export interface ImportRecord {
  /** Starts with `imp_`. Its changes have it as `import`. */
  readonly id: string;
  /** What was done. */
  readonly kind: ImportKind;
  /** RFC 3339, in UTC. */
  readonly started_at: string;
  /** Null while it runs, and if it stopped before its end. What it changed stays. */
  readonly finished_at: string | null;
  /** The id of the API key that imported. */
  readonly key_id: string;
  /** Who imported without a key: a portal account, or the actor that the program named. */
  readonly actor?: string;
  /** The network address of the client. */
  readonly address: string | null;
  /** As the client gave it. */
  readonly file_name: string | null;
  /**
   * Of an import of products: `upsert`, `update` or `create`; of a bulk edit: `edit` (stock and
   * price), `category`, `archive`, `restore` or `delete`.
   */
  readonly mode: string | null;
  /** The system that the stock numbers come from. */
  readonly source: string | null;
  /** How many rows had each outcome, as in the summary of the import. */
  readonly counts: Readonly<Record<string, number>>;
  /** Of its first change; null if it changed nothing. */
  readonly first_position: number | null;
  /** Of its last change. Changes of others may be in between. */
  readonly last_position: number | null;
  /** The changes that a revert reverted: after a position, up to another. */
  readonly reverts?: {
    /** The import that was reverted. */
    readonly import?: string;
    /** The reverted changes are after this position. */
    readonly after: number;
    /** The last position of the reverted changes. */
    readonly up_to: number;
    /** Only changes that this key made. */
    readonly key_id?: string;
    /** Only changes from this system. */
    readonly source?: string;
  };
}

/** An import, or the changes after one position, up to another. */
export type RevertSelection = {
  /** The id of the import to revert. */
  readonly import: string;
} | {
  /** Reverts the changes after this position. */
  readonly after: Position;
  /** The last position to revert. */
  readonly up_to: Position;
  /** Only changes that this key made. */
  readonly key_id?: string | undefined;
  /** Only changes from this system. */
  readonly source?: string | undefined;
};

/** How to revert. */
export interface RevertOptions extends RequestOptions {
  /** Whether to return the outcome without changing anything. Default false. */
  readonly dryRun?: boolean | undefined;
  /**
   * Whether to restore products that something else changed since, too. Stock goes back by what the
   * reverted changes moved, so later movements stay; members that they did not change keep their
   * current value. Default false.
   */
  readonly force?: boolean | undefined;
}

/** A line of a revert's report. */
export interface RevertedProduct {
  /** After the revert; null if its last change was removed with old history. */
  readonly sku: string | null;
  /** The id of the product. */
  readonly id: string;
  /** What was done to the product. */
  readonly status: RevertStatus;
  /** Of the product's last change; in a dry run, until now. */
  readonly position: number | null;
  /** Why the product was left alone; only with the status `conflict`. */
  readonly conflict?: RevertConflict;
  /** For a person: the conflict, and what to do. */
  readonly detail?: string;
  /** The members of a restored product that change; absent in a retry. */
  readonly changes?: {
    /** Only the members that change. */
    readonly [Member in keyof Product]?: {
      /** The value before the revert. */
      readonly from: Product[Member];
      /** The value after the revert. */
      readonly to: Product[Member];
    };
  };
}

/** What a revert did: how many products had each outcome. */
export interface RevertSummary {
  /** Products that have their earlier values again. */
  readonly restored: number;
  /** Products that the changes had created. */
  readonly deleted: number;
  /** Products that had been deleted, and exist again. */
  readonly recreated: number;
  /** Products with nothing to restore. */
  readonly unchanged: number;
  /** Products that were left alone. */
  readonly conflicts: number;
  /** Position of the catalogue afterwards. */
  readonly position: number;
  /** The record of the revert, which can be reverted, too; absent in a dry run. */
  readonly import?: string;
  /** For a person: what to do about the conflicts. */
  readonly advice?: string;
}

const LISTED: OptionTable<ImportListOptions> = { ...LIST_OPTIONS, kind: SENT };

const REVERT_OPTIONS: OptionTable<RevertOptions> = {
  ...REQUEST_OPTIONS, dryRun: SENT, force: SENT,
};

/** Records of imports, stock syncs, stocktakes, reverts and bulk edits; and reverts. */
export class Imports {
  readonly #sender: Sender;

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * The records of all imports, newest first. Dry runs have none. Records are removed with the
   * history.
   * @example
   * ```ts
   * for await (const { id, kind, counts } of client.imports.list({ kind: 'stocktake' })) {
   *   console.log(id, kind, counts['zeroed']);
   * }
   * ```
   */
  list(options: ImportListOptions = {}): AsyncGenerator<ImportRecord, void, void> {
    const call = readCall('imports.list', [], options, LISTED);
    return listItems(this.#sender, IMPORTS, 'imports', call);
  }

  /**
   * Who imported what from where, and what it changed.
   * @param id The `import` of a summary or of a change.
   * @throws NotFoundError
   * @example
   * ```ts
   * const report = await client.products.import('sku,price\nMUG-1,99\n');
   * const { import: id = '' } = await report.summary();
   * const { counts } = await client.imports.get(id);
   * console.log(counts['updated']); // 1
   * ```
   */
  async get(id: string, options: ReadOptions = {}): Promise<ImportRecord> {
    const [request] = readCall('imports.get', [[id, TEXT]], options, READ_OPTIONS);
    const path = `${IMPORTS}/${encodeURIComponent(id)}`;
    return sendForJson(this.#sender, { ...request, method: 'GET', path });
  }

  /**
   * Restores every product that an import, or a range of changes, touched: products that they
   * created are deleted, and products that they deleted return with their id. A product that
   * something else changed since is left alone, as a conflict. The report has a line for each
   * product, and then a summary.
   * @throws NotFoundError for an unknown import; ResyncRequiredError if the history no longer
   *   reaches back that far
   * @example
   * ```ts
   * const file = await client.products.import('sku,price\nMUG-1,99\n');
   * const { import: id = '' } = await file.summary();
   * const report = await client.imports.revert({ import: id });
   * for await (const { sku, status } of report) console.log(sku, status); // MUG-1 restored
   * ```
   */
  async revert(
    selection: RevertSelection, options: RevertOptions = {},
  ): Promise<Report<RevertedProduct, RevertSummary>> {
    const [request, members] = readCall('imports.revert', [[selection, OBJECT]], options,
      REVERT_OPTIONS);
    const target = { method: 'POST', path: '/api/v1/reverts' } as const;
    const body = stringify(target, { ...selection, ...members });
    return this.#sender.send({
      ...request, ...target, body: () => body,
      headers: { 'content-type': 'application/json', accept: 'application/x-ndjson' },
    }, async (response) => new Report<RevertedProduct, RevertSummary>(response));
  }
}
