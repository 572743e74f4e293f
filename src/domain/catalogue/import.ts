/**
 * Import records: one for each import of products, stock sync, stocktake, revert and bulk edit. A
 * record says who changed the catalogue from where, and between which positions its changes are.
 */
import { formatImportId, formatKeyId, type ImportId, type KeyId, type SellerId } from '../id.ts';
import { FILE_NAME_LIMIT_CODE_POINTS } from '../limits.ts';
import { formatTime } from '../time.ts';
import { lineValidator } from '../validation.ts';

/**
 * `stocktake`: a stock sync that sets the products that it does not name to 0; `bulk`: an edit of
 * many products in the portal.
 */
export const IMPORT_KINDS = ['products', 'stock', 'stocktake', 'revert', 'bulk'] as const;
/** What an import record is about. */
export type ImportKind = (typeof IMPORT_KINDS)[number];

/** What a bulk edit changed; `edit`: the stock and the price of each product. */
export type BulkMode = 'edit' | 'category' | 'archive' | 'restore' | 'delete';

/** The name of an imported file, as the client gives it. */
export const fileName = lineValidator(FILE_NAME_LIMIT_CODE_POINTS);

/** The changes that a revert reverts: of one import, or of all that meet the conditions. */
export interface RevertedChanges {
  readonly importId?: ImportId | undefined;
  /** Exclusive. */
  readonly after: number;
  /** Inclusive. */
  readonly upTo: number;
  readonly keyId?: KeyId | undefined;
  readonly source?: string | undefined;
}

/** What is known when an import starts. */
export interface NewImport {
  readonly kind: ImportKind;
  readonly fileName?: string | undefined;
  /** Of an import of products: `upsert`, `create`, ...; of a bulk edit: a `BulkMode`. */
  readonly mode?: string | undefined;
  /** The system that stock numbers come from. */
  readonly source?: string | undefined;
  /** The client's network address. */
  readonly address?: string | undefined;
  /** Only for the kind `revert`. */
  readonly reverts?: RevertedChanges | undefined;
}

/**
 * Why a row of a file is not a product. `blank`: it has no text. `image`: it has neither SKU, price
 * nor stock. `container`: the product is sold only as one of its variants. `translation`: it is for
 * a store view.
 */
export type SkipReason = 'blank' | 'image' | 'container' | 'translation';

/** What the counts of an import leave open. Members that are 0 or empty are absent. */
export interface ImportNotes {
  /** How many rows were skipped for which reason. */
  readonly skip_reasons?: Readonly<Partial<Record<SkipReason, number>>>;
  /** Rows whose id no product has: it was ignored. */
  readonly unknown_ids?: number;
  /** New products whose SKU looks like a date, as after a spreadsheet has changed it. */
  readonly date_skus?: number;
  /** The first of these SKUs. */
  readonly first_date_sku?: string;
}

/** How many rows had each outcome, such as `created` and `failed`. */
export type ImportCounts = Readonly<Record<string, number>>;

export interface ImportRecord extends NewImport {
  readonly sellerId: SellerId;
  readonly id: ImportId;
  readonly keyId: KeyId;
  /** Who imported without a key, if a name was given. */
  readonly actor: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Undefined while it runs, and if it never reached its end. */
  readonly finishedAt: number | undefined;
  readonly counts: ImportCounts;
  /** Of its first and last change; undefined if it changed nothing. */
  readonly firstPosition: number | undefined;
  readonly lastPosition: number | undefined;
}

/** Outcomes of rows that made one change each. */
export const CHANGING_OUTCOMES = [
  'created', 'updated', 'applied', 'zeroed', 'restored', 'deleted', 'recreated',
] as const;

/** How many changes the import made. */
export function countChanges({ counts }: Pick<ImportRecord, 'counts'>): number {
  return CHANGING_OUTCOMES.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
}

/** The JSON text of a record. */
export function formatImport(record: ImportRecord): string {
  const { sellerId, keyId, actor, reverts, startedAt, finishedAt } = record;
  return JSON.stringify({
    id: formatImportId(sellerId, record.id),
    kind: record.kind,
    started_at: formatTime(startedAt),
    finished_at: finishedAt === undefined ? null : formatTime(finishedAt),
    key_id: formatKeyId({ sellerId, keyId }),
    actor,
    address: record.address ?? null,
    file_name: record.fileName ?? null,
    mode: record.mode ?? null,
    source: record.source ?? null,
    counts: record.counts,
    first_position: record.firstPosition ?? null,
    last_position: record.lastPosition ?? null,
    reverts: reverts && {
      import: reverts.importId && formatImportId(sellerId, reverts.importId),
      after: reverts.after,
      up_to: reverts.upTo,
      key_id: reverts.keyId && formatKeyId({ sellerId, keyId: reverts.keyId }),
      source: reverts.source,
    },
  });
}
