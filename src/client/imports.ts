/** Import records: what each import, stock sync, stocktake and revert did. */
import {
  listItems, type ListOptions, type RequestOptions, type Sender, sendForJson,
} from './sender.ts';
import type { ImportCounts } from '../domain/catalogue/import.ts';
import type { ImportKind } from './types.ts';

const IMPORTS = '/api/v1/imports';

export interface ImportListOptions extends ListOptions {
  /** Only imports of this kind. */
  readonly kind?: ImportKind | undefined;
}

/** What an import, a stock sync, a stocktake or a revert did. */
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
  /** Of an import of products. */
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

export class Imports {
  readonly #sender: Sender;

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Newest first. */
  list(options: ImportListOptions = {}): AsyncGenerator<ImportRecord, void, void> {
    return listItems(this.#sender, IMPORTS, 'imports', options);
  }

  /** @param id The `import` of a summary or of a change. @throws NotFoundError */
  get(id: string, options: RequestOptions = {}): Promise<ImportRecord> {
    const path = `${IMPORTS}/${encodeURIComponent(id)}`;
    return sendForJson(this.#sender, { ...options, method: 'GET', path });
  }
}
