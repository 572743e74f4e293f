/** The queries behind the planner of reverts. */
import type { RevertedChanges } from '../../../domain/catalogue/import.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import type { TouchedProduct } from '../../temporary/touched-products.ts';
import { readId, readInteger } from '../row.ts';
import type { Sql } from '../sql.ts';

export function revertQueries(sql: Sql) {
  const listSelected = sql.prepare(`
    SELECT position, product_id FROM change
    WHERE seller_id = :sellerId AND position > :after AND position <= :upTo
      AND (CAST(:importId AS bigint) IS NULL OR import_id = :importId)
      AND (CAST(:keyId AS bigint) IS NULL OR key_id = :keyId)
      AND (CAST(:source AS text) IS NULL OR source = :source)
    ORDER BY position`);
  const listDeletions = sql.prepare(`
    SELECT product_id, position FROM change ${sql.indexedBy('change_deleted')}
    WHERE seller_id = :sellerId AND ${sql.isAmong('product_id', ':ids')} AND type = 'deleted'`);
  return {
    async listTouched(
      sellerId: SellerId, { after, upTo, importId, keyId, source }: RevertedChanges,
    ): Promise<TouchedProduct[]> {
      const rows = await listSelected.all({ sellerId, after, upTo, importId, keyId, source });
      return rows.map((row) => ({
        id: readId<ProductId>(row, 'product_id'), first: readInteger(row, 'position'),
      }));
    },
    async findLastDeletions(
      sellerId: SellerId, ids: readonly ProductId[],
    ): Promise<ReadonlyMap<ProductId, number>> {
      const last = new Map<ProductId, number>();
      for (const row of await listDeletions.all({ sellerId, ids })) {
        const id = readId<ProductId>(row, 'product_id');
        last.set(id, Math.max(last.get(id) ?? 0, readInteger(row, 'position')));
      }
      return last;
    },
  };
}
