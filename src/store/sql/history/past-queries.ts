/**
 * The queries behind past catalogues: where the version chains of products begin that may have
 * existed at a position; and those behind the planner of reverts.
 */
import type { Sku } from '../../../domain/catalogue/product-fields.ts';
import type { ProductId } from '../../../domain/id.ts';
import type { HistoryQueries } from '../../rules/history/queries.ts';
import {
  prepareFind, prepareList, readId, readInteger, readText, type Row, type Sql,
} from '../sql.ts';

export function pastQueries(sql: Sql) {
  const list = prepareList(sql, (row) => ({
    id: readId<ProductId>(row, 'id'),
    // The column matches this brand.
    sku: readText(row, 'sku') as Sku,
    stock: readInteger(row, 'stock'),
    position: readInteger(row, 'position'),
  }), `
    SELECT id, sku, stock, position FROM product WHERE seller_id = :sellerId AND id > :after
    UNION ALL
    SELECT product_id, sku, stock_after, position FROM change
    WHERE seller_id = :sellerId AND product_id > :after AND type = 'deleted'
      AND position > :position
    ORDER BY 1 LIMIT :limit`);
  // Changes by which products lost their SKUs.
  const listDeletions = sql.prepare(`
    SELECT product_id, position, product FROM change ${sql.indexedBy('change_deleted')}
    WHERE seller_id = :sellerId AND ${sql.isAmong('product_id', ':ids')} AND type = 'deleted'
      AND position > :position`);
  const findSkuDeletion = prepareFind(sql, readProductId, `
    SELECT product_id FROM change ${sql.indexedBy('change_deleted_sku')}
    WHERE seller_id = :sellerId AND sku = :sku AND type = 'deleted' AND position > :position
    ORDER BY position LIMIT 1`);
  const findRename = prepareFind(sql, readProductId, `
    SELECT c.product_id FROM change AS c
    JOIN change AS b ON b.seller_id = c.seller_id AND b.position = c.prior
    WHERE c.seller_id = :sellerId AND c.position > :after AND c.position <= :upTo
      AND c.type = 'updated' AND c.sku <> :sku AND b.sku = :sku
    ORDER BY c.position LIMIT 1`);
  return {
    listLastLevels: (sellerId, after, position, limit) =>
      list({ sellerId, after, position, limit }),
    async findDeletionsAfter(sellerId, ids, position) {
      const first = new Map<ProductId, { position: number; snapshot: string }>();
      // Only products that reverts created again have several.
      for (const row of await listDeletions.all({ sellerId, ids, position })) {
        const id = readProductId(row);
        const deleted = readInteger(row, 'position');
        if (deleted >= (first.get(id)?.position ?? Infinity)) continue;
        first.set(id, { position: deleted, snapshot: readText(row, 'product') });
      }
      return first;
    },
    findSkuDeletionAfter: (sellerId, sku, position) => findSkuDeletion({ sellerId, sku, position }),
    findRename: (sellerId, sku, { after, upTo }) => findRename({ sellerId, sku, after, upTo }),
  } satisfies Partial<HistoryQueries>;
}

function readProductId(row: Row): ProductId {
  return readId(row, 'product_id');
}

export function revertQueries(sql: Sql) {
  const listSelected = prepareList(sql, (row) => ({
    id: readProductId(row), first: readInteger(row, 'position'),
  }), `
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
    listTouched: (sellerId, { after, upTo, importId, keyId, source }) =>
      listSelected({ sellerId, after, upTo, importId, keyId, source }),
    async findLastDeletions(sellerId, ids) {
      const last = new Map<ProductId, number>();
      for (const row of await listDeletions.all({ sellerId, ids })) {
        const id = readProductId(row);
        last.set(id, Math.max(last.get(id) ?? 0, readInteger(row, 'position')));
      }
      return last;
    },
  } satisfies Partial<HistoryQueries>;
}
