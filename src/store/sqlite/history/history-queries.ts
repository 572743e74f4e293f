/**
 * The change feed: reads the history by position, its storage order. Every query limits the changes
 * that it scans, and returns how far it got.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Change } from '../../../domain/catalogue/change.ts';
import type { ProductId, SellerId } from '../../../domain/id.ts';
import { CHANGE_COLUMNS, mapChange } from '../../sql/history/changes.ts';
import { historyQueries } from '../../sql/history/history-queries.ts';
import { readInteger } from '../../sql/sql.ts';
import { sqlOf } from '../sql.ts';

export function feedQueries(db: DatabaseSync) {
  const list = prepareListChanges(db);
  return {
    ...historyQueries(sqlOf(db), async (sellerId, after, limit, findReach) =>
      ({ changes: list(sellerId, after, limit), reach: await findReach(sellerId) })),
    findNewestTime: prepareFindNewestTime(db),
  };
}

/** Lists the changes after a position. */
export function prepareListChanges(db: DatabaseSync) {
  const list = db.prepare(`
    SELECT ${CHANGE_COLUMNS} FROM change
    WHERE seller_id = ? AND position > ? ORDER BY position LIMIT ?`);
  return (sellerId: SellerId, after: number, limit: number): Change[] =>
    list.all(sellerId, after, limit).map((row) => mapChange(sellerId, row));
}

/** Across all sellers, and so without seller_id. Returns 0 for an empty history. */
function prepareFindNewestTime(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT coalesce(max(max(
      coalesce((SELECT at FROM audit_event WHERE seller_id = s.id ORDER BY n DESC LIMIT 1), 0),
      coalesce((SELECT at FROM change WHERE seller_id = s.id AND position = s.position), 0))), 0)
      AS at
    FROM (SELECT 0 AS id, 0 AS position
      UNION ALL SELECT id, position FROM seller WHERE id > 0) AS s`);
  return (): number => readInteger(find.get() ?? {}, 'at');
}

/** Finds the last deletion of a product; a revert may have created it again since. */
export function prepareFindLastDeletion(db: DatabaseSync) {
  // INDEXED BY: SQLite would read the history in the order of positions instead.
  const find = db.prepare(`
    SELECT position FROM change INDEXED BY change_deleted
    WHERE seller_id = ? AND product_id = ? AND type = 'deleted'
    ORDER BY position DESC LIMIT 1`);
  return (sellerId: SellerId, id: ProductId): number | undefined => {
    const row = find.get(sellerId, id);
    return row && readInteger(row, 'position');
  };
}
