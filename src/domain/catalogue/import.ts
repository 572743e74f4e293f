/**
 * Import records: one for each import of products, stock sync, stocktake and revert. A record says
 * who changed the catalogue from where, and between which positions its changes are.
 */
import type { ImportId, KeyId, SellerId } from '../id.ts';
import { FILE_NAME_LIMIT_CODE_POINTS } from '../limits.ts';
import { lineValidator } from '../validation.ts';

/** `stocktake`: a stock sync that sets the products that it does not name to 0. */
export const IMPORT_KINDS = ['products', 'stock', 'stocktake', 'revert'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

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
  /** Of an import of products: `upsert`, `create`, ... */
  readonly mode?: string | undefined;
  /** The system that stock numbers come from. */
  readonly source?: string | undefined;
  /** The client's network address. */
  readonly address?: string | undefined;
  /** Only for the kind `revert`. */
  readonly reverts?: RevertedChanges | undefined;
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
