/** The port of reverts, which restore products to their state before some changes. */
import type { RevertedChanges } from '../domain/catalogue/import.ts';
import type { NewProduct, Product, Sku } from '../domain/catalogue/product-fields.ts';
import type { ImportId, ProductId } from '../domain/id.ts';
import type { WriteContext } from './write.ts';

/** The changes to revert: of an import, or of a range of positions. */
export type RevertSelection = { readonly importId: ImportId } | Omit<RevertedChanges, 'importId'>;

export interface RevertRequest {
  readonly selection: RevertSelection;
  /** Whether to restore products that something else changed since, too. */
  readonly isForced: boolean;
  readonly isDryRun: boolean;
}

/**
 * `restored`: the product has its earlier values again. `deleted`: the changes had created it.
 * `recreated`: it had been deleted, and exists again. `unchanged`: there was nothing to restore.
 * `conflict`: it was left alone.
 */
export type RevertStatus = 'restored' | 'deleted' | 'recreated' | 'unchanged' | 'conflict';

/**
 * Why a product was left alone: only its stock `moved` since, or it `changed` or was `deleted`;
 * another product has its SKU (`sku_taken`), or its earlier state was pruned (`history_pruned`).
 */
export type RevertConflict =
  'moved' | 'changed' | 'deleted' | 'sku_taken' | 'history_pruned';

/** Each conflict in words, for people. The last two are conflicts of a forced revert, too. */
export const REVERT_CONFLICTS: Readonly<Record<RevertConflict, string>> = {
  moved: 'only its stock changed since',
  changed: 'it changed since',
  deleted: 'it was deleted since',
  sku_taken: 'another product has its SKU',
  history_pruned: 'its earlier state was removed with old history',
};

/** The outcome of a product. */
export interface RevertedProduct {
  readonly id: ProductId;
  /** After the revert. Undefined if its last change was pruned. */
  readonly sku: Sku | undefined;
  readonly status: RevertStatus;
  /** Of its last change; in a dry run, before the revert. Undefined as `sku` is. */
  readonly position: number | undefined;
  /** Only of the status `conflict`. */
  readonly conflict?: RevertConflict | undefined;
  /** The product before and after; undefined while it does not exist, and in a retry. */
  readonly before?: Product | undefined;
  readonly after?: NewProduct | undefined;
}

/** A revert in progress. Dispose of it. */
export interface Revert extends Disposable {
  /** Undefined in a dry run. */
  readonly importId: ImportId | undefined;
  /** Whether an earlier request with this idempotency key finished it. */
  readonly isReplay: boolean;
  /**
   * Restores the next products, up to a limit, and returns their outcomes: none after the last. A
   * batch is durable when this resolves.
   */
  next(): Promise<readonly RevertedProduct[]>;
  /** Ends the record. Returns the position of the catalogue afterwards. */
  finish(): Promise<number>;
}

export interface RevertStore {
  /**
   * Starts a revert. After a crash, a retry with the same idempotency key continues it, and a
   * request without one does the rest as another revert.
   * @throws AppError `not_found` for an unknown import, `invalid_query` if the catalogue has not
   *   reached the range, `history_pruned` if changes of the range were removed
   */
  startRevert(write: WriteContext, request: RevertRequest): Promise<Revert>;
}
