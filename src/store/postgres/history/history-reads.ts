/** Reads that differ from SQLite's: the feed, the newest time, and stock levels. */
import type { HistoryStore } from '../../history-store.ts';
import type { HistoryQueries } from '../../rules/history/queries.ts';
import { copyLevel, LevelTable } from '../../rules/stock-levels.ts';
import { CHANGE_COLUMNS, mapChange } from '../../sql/history/changes.ts';
import { historyQueries, noSeller } from '../../sql/history/history-queries.ts';
import type { QueriesOf } from '../../sql/port-methods.ts';
import { readInteger, type Sql } from '../../sql/sql.ts';
import { LEVEL_COLUMNS, loadLevels, mapLevel } from '../catalogue/level-queries.ts';
import type { Query } from '../sql.ts';

const LIST_CHANGES = `
  SELECT s.position AS reached, s.pruned_to, c.*
  FROM seller AS s LEFT JOIN LATERAL (
    SELECT ${CHANGE_COLUMNS} FROM change
    WHERE seller_id = $1 AND position > $2 ORDER BY position LIMIT $3
  ) AS c ON true
  WHERE s.id = $1 ORDER BY c.position`;
const FIND_NEWEST_TIME = `
  SELECT greatest((
    SELECT max(greatest(s.last_at, (
      SELECT a.at FROM audit_event AS a WHERE a.seller_id = s.id ORDER BY a.n DESC LIMIT 1)))
    FROM seller AS s
  ), (SELECT at FROM audit_event WHERE seller_id = 0 ORDER BY n DESC LIMIT 1)) AS at`;
const LIST_LEVELS = `
  SELECT ${LEVEL_COLUMNS} FROM product
  WHERE seller_id = $1 AND id > $2 ORDER BY id LIMIT $3`;

/** Every commit changes it. */
const FIND_SUM = 'SELECT coalesce(sum(position), 0)::text AS sum FROM seller';

export function historyReads(query: Query, sql: Sql) {
  return {
    ...historyQueries(sql, async (sellerId, after, limit) => {
      const rows = await query(LIST_CHANGES, sellerId, after, limit);
      const [first] = rows;
      if (!first) throw noSeller();
      const changes = rows.filter((row) => row['position'] !== null)
        .map((row) => mapChange(sellerId, row));
      const position = readInteger(first, 'reached');
      return { changes, reach: { prunedTo: readInteger(first, 'pruned_to'), position } };
    }),
    findSum: async () => (await query(FIND_SUM))[0]?.['sum'],
    async findNewestTime() {
      const [row] = await query(FIND_NEWEST_TIME);
      return row?.['at'] ? readInteger(row, 'at') : undefined;
    },
    async readLevels(sellerId, changes, source) {
      const levels = await loadLevels(query, sellerId, changes, source !== undefined);
      return levels.read(sellerId, changes, source, new LevelTable());
    },
    async listLevels(sellerId, { after, limit }) {
      const rows = await query(LIST_LEVELS, sellerId, after ?? 0, limit);
      return rows.map((row) => copyLevel(mapLevel(row)));
    },
  } satisfies Partial<HistoryQueries & QueriesOf<HistoryStore>> & { findSum(): Promise<unknown> };
}
