/** The queries behind `revert-planner.ts`, each with a limit. */
import type { DatabaseSync } from 'node:sqlite';
import type { Change } from '../../../domain/catalogue/change.ts';
import type { RevertedChanges } from '../../../domain/catalogue/import.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { readId, readInteger, readOptional } from '../engine/row.ts';
import { CHANGE_COLUMNS, mapChange, prepareFindLastDeletion } from './history-queries.ts';
import type { TouchedProduct } from './touched-products.ts';

/** A change in the version chain of its product. */
export interface ChainedChange extends Change {
  /** Undefined for the first change. */
  readonly previousPosition: number | undefined;
}

export function revertQueries(db: DatabaseSync) {
  const listSelected = db.prepare(`
    SELECT position, product_id FROM change
    WHERE seller_id = :sellerId AND position > :after AND position <= :upTo
      AND (:importId IS NULL OR import_id = :importId)
      AND (:keyId IS NULL OR key_id = :keyId)
      AND (:source IS NULL OR source = :source)
    ORDER BY position`);
  const find = db.prepare(`
    SELECT ${CHANGE_COLUMNS}, prior FROM change WHERE seller_id = ? AND position = ?`);
  return {
    /** The products of the selected changes: scans the whole range. */
    listTouched(
      sellerId: SellerId, { after, upTo, importId, keyId, source }: RevertedChanges,
    ): TouchedProduct[] {
      return listSelected.all({
        sellerId, after, upTo, importId: importId ?? null, keyId: keyId ?? null,
        source: source ?? null,
      }).map((row) => ({
        id: readId<ProductId>(row, 'product_id'), first: readInteger(row, 'position'),
      }));
    },
    findChainedChange(sellerId: SellerId, position: number): ChainedChange | undefined {
      const row = find.get(sellerId, position);
      return row && {
        ...mapChange(sellerId, row), previousPosition: readOptional(row, 'prior', readInteger),
      };
    },
    findLastDeletion: prepareFindLastDeletion(db),
  };
}
