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
import type { ImportCounts } from '../domain/catalogue/import.ts';
import type { RevertConflict, RevertStatus } from '../store/revert-store.ts';
import type { ImportKind } from './types.ts';

export type { RevertConflict, RevertStatus };

const IMPORTS = '/api/v1/imports';

export interface ImportListOptions extends ListOptions {
  /** Only imports of this kind. */
  readonly kind?: ImportKind | undefined;
}

/** What an import, a stock sync, a stocktake, a revert or a bulk edit did. */
export interface ImportRecord {
  readonly id: string;
  readonly kind: ImportKind;
  readonly started_at: string;
  /** Null while it runs, and if it stopped before its end. What it changed stays. */
  readonly finished_at: string | null;
  readonly key_id: string;
  /** Who imported without a key, if a name was given. */
  readonly actor?: string;
  /** The network address of the client. */
  readonly address: string | null;
  readonly file_name: string | null;
  /** Of an import of products, or a bulk edit: `edit`, `category`, `archive`, ... */
  readonly mode: string | null;
  /** The system that the stock numbers come from. */
  readonly source: string | null;
  /** How many rows had each outcome, as in the summary of the import. */
  readonly counts: ImportCounts;
  /** Of its first and last change; null if it changed nothing. */
  readonly first_position: number | null;
  readonly last_position: number | null;
  /** The changes that a revert reverted: after a position, up to another. */
  readonly reverts?: {
    readonly import?: string;
    readonly after: number;
    readonly up_to: number;
    readonly key_id?: string;
    readonly source?: string;
  };
}

/** An import, or the changes after one position, up to another. */
export type RevertSelection = { readonly import: string } | {
  readonly after: Position;
  readonly up_to: Position;
  /** Only changes that this key made. */
  readonly key_id?: string | undefined;
  /** Only changes from this system. */
  readonly source?: string | undefined;
};

export interface RevertOptions extends RequestOptions {
  /** Whether nothing is changed. */
  readonly dryRun?: boolean | undefined;
  /** Whether to restore products that something else changed since, too. */
  readonly force?: boolean | undefined;
}

/** A line of a revert's report. */
export interface RevertedProduct {
  readonly sku: string | null;
  readonly id: string;
  readonly status: RevertStatus;
  /** Of the product's last change; in a dry run, until now. */
  readonly position: number | null;
  /** Why the product was left alone; only with the status `conflict`. */
  readonly conflict?: RevertConflict;
  readonly detail?: string;
  /** The members of a restored product that change; absent in a retry. */
  readonly changes?: {
    readonly [Member in keyof Product]?: {
      readonly from: Product[Member]; readonly to: Product[Member];
    };
  };
}

export interface RevertSummary
  extends Readonly<Record<Exclude<RevertStatus, 'conflict'> | 'conflicts', number>> {
  /** Position of the catalogue afterwards. */
  readonly position: number;
  /** The record of the revert, which can be reverted, too; absent in a dry run. */
  readonly import?: string;
  /** What to do about the conflicts. */
  readonly advice?: string;
}

const LISTED: OptionTable<ImportListOptions> = { ...LIST_OPTIONS, kind: SENT };

const REVERT_OPTIONS: OptionTable<RevertOptions> = {
  ...REQUEST_OPTIONS, dryRun: SENT, force: SENT,
};

export class Imports {
  readonly #sender: Sender;

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Newest first. */
  list(options: ImportListOptions = {}): AsyncGenerator<ImportRecord, void, void> {
    const call = readCall('imports.list', [], options, LISTED);
    return listItems(this.#sender, IMPORTS, 'imports', call);
  }

  /** @param id The `import` of a summary or of a change. @throws NotFoundError */
  async get(id: string, options: ReadOptions = {}): Promise<ImportRecord> {
    const [request] = readCall('imports.get', [[id, TEXT]], options, READ_OPTIONS);
    const path = `${IMPORTS}/${encodeURIComponent(id)}`;
    return sendForJson(this.#sender, { ...request, method: 'GET', path });
  }

  /**
   * Restores every product that an import, or a range of changes, touched. The report has a line
   * for each product, and then a summary.
   * @throws NotFoundError for an unknown import; ResyncRequiredError if the history no longer
   *   reaches back that far
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
