/** Import records: queries and row mapper. */
import {
  IMPORT_KINDS, type ImportCounts, type ImportRecord, type RevertedChanges,
} from '../../../domain/catalogue/import.ts';
import type { ImportId, KeyId, SellerId } from '../../../domain/id.ts';
import type { ImportStore } from '../../history-store.ts';
import { IMPORTS_SEARCHED_LIMIT } from '../../limits.ts';
import { COUNTED_ROWS, toListCount } from '../../rules/list-count.ts';
import type { HistoryQueries } from '../../rules/history/queries.ts';
import type { QueriesOf } from '../port-methods.ts';
import { likePattern } from '../product-filter.ts';
import {
  prepareList, readId, readInteger, readOneOf, readOptional, readText, type Row, type Sql,
} from '../sql.ts';

export function importQueries(sql: Sql) {
  const columns = `seller_id, ${Object.keys(IMPORT_ROW).join(', ')}`;
  const listAmong = prepareList(sql, mapImport, `
    SELECT ${columns} FROM import
    WHERE seller_id = :sellerId AND ${sql.isAmong('id', ':ids')}`);
  const prepareFrom = (beyond: string, order: 'ASC' | 'DESC') => prepareList(sql, mapImport, `
    SELECT ${columns} FROM import
    WHERE seller_id = :sellerId AND id ${beyond}
      AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    ORDER BY id ${order} LIMIT :limit`);
  const listNewest = prepareFrom('< :before', 'DESC');
  const listOldest = prepareFrom('> :after', 'ASC');
  const count = sql.prepare(`
    SELECT count(*) AS listed,
      count(CASE WHEN CAST(:kind AS text) IS NULL OR kind = :kind THEN 1 END) AS matching
    FROM (
      SELECT kind FROM import WHERE seller_id = :sellerId ORDER BY id DESC LIMIT :limit
    ) AS newest`);
  // Without an index, so the newest only.
  const search = prepareList(sql, mapImport, `
    SELECT ${columns} FROM (
      SELECT * FROM import WHERE seller_id = :sellerId
      ORDER BY id DESC LIMIT ${IMPORTS_SEARCHED_LIMIT}) AS newest
    WHERE lower(file_name) LIKE lower(:pattern) ESCAPE '\\'
      OR lower(source) LIKE lower(:pattern) ESCAPE '\\'
    ORDER BY id DESC LIMIT :limit`);
  const findImports: HistoryQueries['findImports'] = async (sellerId, ids) => {
    const records = await listAmong({ sellerId, ids });
    return new Map(records.map((record) => [record.id, record]));
  };
  return {
    findImports,
    findImport: async (sellerId, id) => (await findImports(sellerId, [id])).get(id),
    listImports: (sellerId, { before = Number.MAX_SAFE_INTEGER, after, kind, limit }) =>
      (after === undefined ? listNewest({ sellerId, before, kind, limit })
        : listOldest({ sellerId, after, kind, limit })),
    async countImports(sellerId, kind) {
      const row = await count.get({ sellerId, kind, limit: COUNTED_ROWS }) ?? {};
      const listed = toListCount(readInteger(row, 'listed'));
      if (kind === undefined) return listed;
      return listed.isExact ? toListCount(readInteger(row, 'matching')) : undefined;
    },
    searchImports: (sellerId, text, limit) =>
      search({ sellerId, pattern: likePattern(text), limit }),
  } satisfies QueriesOf<ImportStore> & Pick<HistoryQueries, 'findImports'>;
}

function mapImport(row: Row): ImportRecord {
  const reverts = readOptional(row, 'reverts', readText);
  return {
    sellerId: readId<SellerId>(row, 'seller_id'),
    kind: readOneOf(row, 'kind', IMPORT_KINDS),
    id: readId<ImportId>(row, 'id'),
    keyId: readId<KeyId>(row, 'key_id'),
    actor: readOptional(row, 'actor', readText),
    address: readOptional(row, 'address', readText),
    fileName: readOptional(row, 'file_name', readText),
    mode: readOptional(row, 'mode', readText),
    source: readOptional(row, 'source', readText),
    // The column holds what `insert` or `update` wrote.
    reverts: reverts === undefined ? undefined : JSON.parse(reverts) as RevertedChanges,
    startedAt: readInteger(row, 'started_at'),
    finishedAt: readOptional(row, 'finished_at', readInteger),
    counts: readCounts(row),
    firstPosition: readOptional(row, 'first_position', readInteger),
    lastPosition: readOptional(row, 'last_position', readInteger),
  };
}

export function readCounts(row: Row): ImportCounts {
  // The column holds what `insert` or `update` wrote.
  return JSON.parse(readText(row, 'counts')) as ImportCounts;
}

/** The columns of a row after `seller_id`, with their types in PostgreSQL. */
export const IMPORT_ROW = {
  id: 'bigint', kind: 'text', key_id: 'bigint', actor: 'text', address: 'text', file_name: 'text',
  mode: 'text', source: 'text', reverts: 'text', started_at: 'bigint', finished_at: 'bigint',
  counts: 'text', first_position: 'bigint', last_position: 'bigint',
} as const;

/** A row: its seller, and the values of `IMPORT_ROW`. */
export function encodeImport(record: ImportRecord): [SellerId, ...(number | string | null)[]] {
  const { actor, address, fileName, mode, source, reverts, finishedAt } = record;
  return [
    record.sellerId, record.id, record.kind, record.keyId, actor ?? null, address ?? null,
    fileName ?? null, mode ?? null, source ?? null, reverts ? JSON.stringify(reverts) : null,
    record.startedAt, finishedAt ?? null, JSON.stringify(record.counts),
    record.firstPosition ?? null, record.lastPosition ?? null,
  ];
}
