/**
 * Reads the history by position, its storage order, and finds positions by time. Every query limits
 * the changes that it scans, and returns how far it got.
 */
import { type Change, CHANGE_TYPES } from '../../../domain/catalogue/change.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId } from '../../../domain/id.ts';
import { MINUTE_MS } from '../../../domain/time.ts';
import type { ChangePage, ChangeQuery } from '../../history-store.ts';
import { HISTORY_SCAN_LIMIT } from '../../limits.ts';
import { assertReached, type Reach } from '../../rules/history.ts';
import type { Awaitable, HistoryQueries } from '../../rules/history/queries.ts';
import { prepareFind, readInteger, readOptional, type Sql } from '../sql.ts';
import { CHANGE_COLUMNS, mapChange } from './changes.ts';

/** Reads the changes of all types after a position, and the reach of their history. */
type ReadFeed = (
  sellerId: SellerId, after: number, limit: number, findReach: HistoryQueries['findReach'],
) => Awaitable<{ readonly reach: Reach; readonly changes: readonly Change[] }>;

export function historyQueries(sql: Sql, readFeed: ReadFeed) {
  const spans = spanQueries(sql);
  const listMatching = sql.prepare(`
    SELECT ${CHANGE_COLUMNS} FROM change
    WHERE seller_id = :sellerId AND position > :from AND position <= :end
      AND ${sql.isPartOf('type', ':types')}
      AND (CAST(:importId AS bigint) IS NULL OR import_id = :importId)
    ORDER BY position LIMIT :limit`);
  /** Changes of some types, or of an import. */
  async function listMatchingChanges(
    sellerId: SellerId, { after, limit, types = CHANGE_TYPES, importId }: ChangeQuery,
  ): Promise<ChangePage> {
    const { position } = await spans.findReach(sellerId);
    const all = { after: 0, upTo: importId === undefined ? position : 0 };
    const span = importId === undefined ? all
      : await spans.findImportSpan(sellerId, importId) ?? all;
    const from = Math.max(after, span.after);
    const end = Math.min(span.upTo, from + HISTORY_SCAN_LIMIT);
    const rows = await listMatching.all({
      sellerId, from, end, limit, types: types.join(' '), importId,
    });
    // Read after the changes, which pruning may have removed.
    assertReached({ ...await spans.findReach(sellerId), position }, from, 'after');
    const changes = rows.map((row) => mapChange(sellerId, row));
    const last = changes.length < limit ? undefined : changes.at(-1)?.position;
    return { changes, next: last ?? (end >= span.upTo ? position : end), position };
  }

  return {
    ...spans,
    findTime: prepareFindTime(sql),
    async listChanges(sellerId: SellerId, query: ChangeQuery): Promise<ChangePage> {
      const { after, limit, types, importId } = query;
      if (types || importId !== undefined) return listMatchingChanges(sellerId, query);
      const { reach, changes } = await readFeed(sellerId, after, limit, spans.findReach);
      assertReached(reach, after, 'after');
      return { changes, next: changes.at(-1)?.position ?? after, position: reach.position };
    },
  };
}

/** The reach of the history, and the spans of imports. */
function spanQueries(sql: Sql) {
  const findReach = sql.prepare('SELECT pruned_to, position FROM seller WHERE id = :sellerId');
  const findSpan = prepareFind(sql, (row) => ({
    after: readInteger(row, 'first_position') - 1, upTo: readInteger(row, 'last_position'),
  }), `
    SELECT first_position, last_position FROM import
    WHERE seller_id = :sellerId AND id = :id AND first_position IS NOT NULL`);
  return {
    async findReach(sellerId) {
      const row = await findReach.get({ sellerId });
      if (!row) throw noSeller();
      return { prunedTo: readInteger(row, 'pruned_to'), position: readInteger(row, 'position') };
    },
    findImportSpan: (sellerId, id) => findSpan({ sellerId, id }),
  } satisfies Partial<HistoryQueries>;
}

/**
 * Finds the position of a time. The history has no index on time: a small table has the last change
 * of each minute, and within a minute time follows position, so that a binary search finds it.
 */
function prepareFindTime(sql: Sql): HistoryQueries['findTime'] {
  const lastOf = (minutes: string): string => `coalesce((
    SELECT m.position FROM change_minute AS m WHERE m.seller_id = :sellerId AND ${minutes}
    ORDER BY m.minute DESC LIMIT 1), 0)`;
  // The last change first: in the minute in which a clock was put right, earlier ones may be later.
  const middle = `CASE search.step WHEN 1 THEN search.high
    ELSE (search.low + search.high + 1) / 2 END`;
  // A change in the middle that is pruned is older than all others.
  const find = sql.prepare(`
    WITH RECURSIVE search (step, low, high) AS (
      SELECT 1, ${lastOf('m.minute < :minute')}, ${lastOf('m.minute <= :minute')}
      UNION ALL
      SELECT search.step + 1, CASE WHEN c.at > :at THEN search.low ELSE ${middle} END,
        CASE WHEN c.at > :at THEN ${middle} - 1 ELSE search.high END
      FROM search LEFT JOIN change AS c ON c.seller_id = :sellerId AND c.position = ${middle}
      WHERE search.low < search.high)
    SELECT search.low, s.position, s.pruned_to, ${lastOf('m.minute < :minute')} AS minute_end,
      (SELECT p.at FROM change AS p
        WHERE p.seller_id = :sellerId AND p.position = s.pruned_to) AS pruned_at
    FROM search CROSS JOIN seller AS s
    WHERE search.low >= search.high AND s.id = :sellerId`);
  return async (sellerId, at) => {
    const row = await find.get({ sellerId, at, minute: Math.floor(at / MINUTE_MS) });
    if (!row) throw noSeller();
    const prunedTo = readInteger(row, 'pruned_to');
    const position = Math.max(readInteger(row, 'low'), prunedTo);
    const prunedAt = readOptional(row, 'pruned_at', readInteger);
    const isPruned = prunedAt === undefined ? readInteger(row, 'minute_end') < prunedTo
      : prunedAt > at;
    return {
      reach: { prunedTo, position: readInteger(row, 'position') },
      position,
      isKnown: position > prunedTo || prunedTo === 0 || !isPruned,
    };
  };
}

export function noSeller(): AppError {
  return new AppError('not_found', 'There is no such seller.');
}
