/** The queries behind the ledger and the collapsed history, each with a limit. */
import type { SellerId } from '../../../domain/id.ts';
import type { MovementFilter } from '../../history-store.ts';
import type { HistoryQueries, Span } from '../../rules/history/queries.ts';
import { prepareList, readInteger, readOptional, readText, type Sql } from '../sql.ts';
import { CHANGE_COLUMNS, mapChange } from './changes.ts';

export function ledgerQueries(sql: Sql) {
  return {
    listVersions: prepareListVersions(sql), ...scanQueries(sql), findNewest: prepareFindNewest(sql),
  };
}

function prepareListVersions(sql: Sql): HistoryQueries['listVersions'] {
  // A number instead of a LIMIT, which PostgreSQL does not know within a recursion.
  const list = prepareList(sql, (row) => ({
    position: readInteger(row, 'position'),
    previousPosition: readOptional(row, 'prior', readInteger),
  }), `
    WITH RECURSIVE version (position, prior, n) AS (
      SELECT position, prior, 1 FROM change WHERE seller_id = :sellerId AND position = :from
      UNION ALL
      SELECT c.position, c.prior, version.n + 1 FROM version CROSS JOIN change AS c
      WHERE c.seller_id = :sellerId AND c.position = version.prior
        AND version.prior > :after AND version.n < :limit)
    SELECT position, prior FROM version`);
  return (sellerId, from, after, limit) => list({ sellerId, from, after, limit });
}

/** Changes of any product. */
function scanQueries(sql: Sql) {
  const listAt = sql.prepare(`
    SELECT ${CHANGE_COLUMNS} FROM change
    WHERE seller_id = :sellerId AND ${sql.isAmong('position', ':positions')}`);
  const matches = `
    seller_id = :sellerId AND position > :after AND position <= :upTo
      AND CASE WHEN CAST(:types AS text) IS NULL THEN stock_before <> stock_after
        ELSE ${sql.isPartOf('type', ':types')} END
      AND (CAST(:source AS text) IS NULL OR source = :source)
      AND (CAST(:reason AS text) IS NULL OR reason = :reason)
      AND at <= :until AND (CAST(:importId AS bigint) IS NULL OR import_id = :importId)
      AND (CAST(:keyId AS bigint) IS NULL OR key_id = :keyId)`;
  const scan = prepareBothWays(sql, `
    SELECT ${CHANGE_COLUMNS} FROM change WHERE ${matches}`);
  const count = sql.prepare(`SELECT count(*) AS count FROM change WHERE ${matches}`);
  // Changes whose record is gone are listed.
  const scanCollapsed = prepareBothWays(sql, `
    SELECT ${CHANGE_COLUMNS} FROM change AS c
    WHERE seller_id = :sellerId AND position > :after AND position <= :upTo
      AND (import_id IS NULL OR position = coalesce((
        SELECT i.last_position FROM import AS i
        WHERE i.seller_id = :sellerId AND i.id = c.import_id), position))`);
  return {
    async listChangesAt(sellerId, positions) {
      const rows = await listAt.all({ sellerId, positions });
      const found = new Map(rows.map((row) =>
        [readInteger(row, 'position'), mapChange(sellerId, row)]));
      return positions.flatMap((position) => found.get(position) ?? []);
    },
    async scanMovements(sellerId, span, filter, isDescending, limit) {
      const rows = await scan(isDescending).all({ ...bindFilter(sellerId, span, filter), limit });
      return rows.map((row) => mapChange(sellerId, row));
    },
    countMovements: async (sellerId, span, filter) =>
      readInteger(await count.get(bindFilter(sellerId, span, filter)) ?? {}, 'count'),
    async scanCollapsed(sellerId, { after, upTo }, isDescending, limit) {
      const rows = await scanCollapsed(isDescending).all({ sellerId, after, upTo, limit });
      return rows.map((row) => mapChange(sellerId, row));
    },
  } satisfies Partial<HistoryQueries>;
}

function prepareBothWays(sql: Sql, select: string) {
  const ascending = sql.prepare(`${select} ORDER BY position LIMIT :limit`);
  const descending = sql.prepare(`${select} ORDER BY position DESC LIMIT :limit`);
  return (isDescending: boolean) => (isDescending ? descending : ascending);
}

function bindFilter(sellerId: SellerId, { after, upTo }: Span, filter: MovementFilter) {
  const { source, reason, until = Number.MAX_SAFE_INTEGER, types, importId, keyId } = filter;
  return { sellerId, after, upTo, source, reason, until, importId, keyId, types: types?.join(' ') };
}

/** Finds the last changes of products, and then those of deleted ones. */
function prepareFindNewest(sql: Sql): HistoryQueries['findNewest'] {
  const findById = sql.prepare(`
    SELECT position, sku FROM product WHERE seller_id = :sellerId AND id = :id`);
  const findDeletion = sql.prepare(`
    SELECT position, sku FROM change ${sql.indexedBy('change_deleted')}
    WHERE seller_id = :sellerId AND product_id = :id AND type = 'deleted'
    ORDER BY position DESC LIMIT 1`);
  const findBySku = sql.prepare(`
    SELECT position FROM product WHERE seller_id = :sellerId AND sku = :sku`);
  const listDeletions = sql.prepare(`
    SELECT c.position FROM change AS c ${sql.indexedBy('change_deleted_sku')}
    WHERE c.seller_id = :sellerId AND c.sku = :sku AND c.type = 'deleted'
      AND NOT EXISTS (
        SELECT 1 FROM product AS p WHERE p.seller_id = c.seller_id AND p.id = c.product_id)
      AND NOT EXISTS (
        SELECT 1 FROM change AS d WHERE d.seller_id = c.seller_id
          AND d.product_id = c.product_id AND d.type = 'deleted' AND d.position > c.position)
    ORDER BY c.position DESC LIMIT :limit`);
  return async (sellerId, { sku, productId: id }, limit) => {
    if (id !== undefined) {
      const row = await findById.get({ sellerId, id }) ?? await findDeletion.get({ sellerId, id });
      const isNamed = row && (sku === undefined || readText(row, 'sku') === sku);
      return isNamed ? [readInteger(row, 'position')] : [];
    }
    if (sku === undefined) return [];
    const row = await findBySku.get({ sellerId, sku });
    const deletions = await listDeletions.all({ sellerId, sku, limit });
    return [...row ? [row] : [], ...deletions].map((match) => readInteger(match, 'position'));
  };
}
