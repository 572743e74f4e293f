/**
 * Version chains on PostgreSQL: each statement follows many chains at once, back through the
 * positions of the previous changes. A chain that is longer than a step is continued by the caller.
 */
import type { FoundSnapshot, HistoryQueries } from '../../rules/history/queries.ts';
import {
  CHANGE_COLUMNS, mapChange, mapVersion, VERSION_COLUMNS,
} from '../../sql/history/changes.ts';
import { readInteger, readOptional, readText, type Row } from '../../sql/sql.ts';
import type { Query } from '../sql.ts';

/** `prior` may lead to a change that is pruned: then the chain ends there. */
const FIND_VERSIONS = `
  WITH RECURSIVE chain (start, position, prior, type, is_edited, step) AS (
    SELECT c.position, c.position, c.prior, c.type, 0, 1 FROM change AS c
    WHERE c.seller_id = $1 AND c.position = ANY ($2::bigint[])
    UNION ALL
    SELECT h.start, c.position, c.prior, c.type,
      CASE WHEN h.type IN ('created', 'updated') THEN 1 ELSE h.is_edited END, h.step + 1
    FROM chain AS h JOIN change AS c ON c.seller_id = $1 AND c.position = h.prior
    WHERE h.position > $3 AND h.step < $4
  ), last AS (SELECT DISTINCT ON (start) * FROM chain ORDER BY start, step DESC)
  SELECT last.start, last.is_edited, last.step, ${qualify(VERSION_COLUMNS)}
  FROM last JOIN change AS c ON c.seller_id = $1 AND c.position = last.position`;

const FIND_SNAPSHOTS = `
  WITH RECURSIVE chain (start, position, prior, product, step) AS (
    SELECT c.position, c.position, c.prior, CAST(NULL AS text), 1 FROM change AS c
    WHERE c.seller_id = $1 AND c.position = ANY ($2::bigint[])
    UNION ALL
    SELECT h.start, c.position, c.prior, c.product, h.step + 1
    FROM chain AS h JOIN change AS c ON c.seller_id = $1 AND c.position = h.prior
    WHERE h.product IS NULL AND h.step < $3
  )
  SELECT DISTINCT ON (start) start, position, prior, product, step FROM chain
  ORDER BY start, step DESC`;

const LIST_CHAINS = `
  WITH RECURSIVE chain (n, first, position, prior, step) AS (
    SELECT s.n, s.first, c.position, c.prior, 1
    FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS s (start, first, n)
    JOIN change AS c ON c.seller_id = $1 AND c.position = s.start
    UNION ALL
    SELECT h.n, h.first, c.position, c.prior, h.step + 1
    FROM chain AS h JOIN change AS c ON c.seller_id = $1 AND c.position = h.prior
    WHERE h.position > h.first AND h.step < $4
  )
  SELECT chain.n, chain.prior, ${qualify(CHANGE_COLUMNS)}
  FROM chain JOIN change AS c ON c.seller_id = $1 AND c.position = chain.position
  ORDER BY chain.n, chain.step LIMIT $4`;

export function chainQueries(query: Query) {
  return {
    async findVersions(sellerId, from, position, limit) {
      const rows = byStart(await query(FIND_VERSIONS, sellerId, from, position, limit));
      return from.map((start) => {
        const row = rows.get(start);
        const version = row && mapVersion(row, position, readInteger(row, 'is_edited') === 1);
        // Else the chain ends at a change that is pruned.
        return version?.isEnd || row?.['step'] === limit ? version : undefined;
      });
    },
    async findSnapshots(sellerId, from, limit) {
      const rows = byStart(await query(FIND_SNAPSHOTS, sellerId, from, limit));
      return from.map((start) => {
        const row = rows.get(start);
        return row && mapSnapshot(row, limit);
      });
    },
    async listChains(sellerId, chains, limit) {
      const rows = await query(
        LIST_CHAINS, sellerId, chains.map(({ from }) => from), chains.map(({ first }) => first),
        limit,
      );
      const rowsByChain = Map.groupBy(rows, (row) => readInteger(row, 'n'));
      const last = rows.length < limit ? chains.length : readInteger(rows.at(-1) ?? {}, 'n');
      return chains.slice(0, last).map((_, index) =>
        (rowsByChain.get(index + 1) ?? []).map((row) => ({
          ...mapChange(sellerId, row), previousPosition: readOptional(row, 'prior', readInteger),
        })));
    },
  } satisfies Partial<HistoryQueries>;
}

/** Undefined if the chain ends at a change that is pruned. */
function mapSnapshot(row: Row, limit: number): FoundSnapshot | undefined {
  const product = readOptional(row, 'product', readText);
  const isEnd = product !== undefined || row['prior'] === null;
  if (!isEnd && readInteger(row, 'step') < limit) return undefined;
  return { position: readInteger(row, 'position'), product, isEnd };
}

function byStart(rows: readonly Row[]): ReadonlyMap<number, Row> {
  return new Map(rows.map((row) => [readInteger(row, 'start'), row]));
}

function qualify(columns: string): string {
  return columns.replaceAll(/\w+/g, 'c.$&');
}
