/**
 * Finds a seller's products in the projection, page by page. If a condition has few matches, they
 * are read by its index and sorted. Otherwise the sort index is scanned from the anchor, and rows
 * that do not match are skipped: with many matches the page fills quickly, unless conditions that
 * are each common rarely hold together. Values are bound, never part of the SQL.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SEARCH_PROBE_LIMIT, SEARCH_STATEMENTS_LIMIT } from './limits.ts';
import type { ProductId } from '../../../domain/id.ts';
import type {
  ProductFilter, ProductQuery, ProductSort,
} from '../../../domain/catalogue/product-query.ts';
import type { FoundRows } from './protocol.ts';
import { PRODUCT_COLUMNS, type ProductRow } from '../../sql/product-rows.ts';
import {
  between, type Condition, conditionsOf, type RowRange, rowsOf, SORT_COLUMNS, type Value,
  type AccessPath, sortPath, filterPaths,
} from './access-paths.ts';

const COLUMNS = PRODUCT_COLUMNS.map((column) => `p.${column}`).join(', ');

export class ProductFinder {
  readonly #db: DatabaseSync;
  readonly #probeLimit: number;
  /** By SQL, which depends on the members of a query; the oldest is evicted first. */
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, probeLimit = SEARCH_PROBE_LIMIT) {
    this.#db = db;
    this.#probeLimit = probeLimit;
  }

  /** The product at the anchor may have been deleted. */
  find(ordinal: number, query: ProductQuery): FoundRows {
    const rows = this.#read(ordinal, query, query.limit + 1);
    return { rows: rows.slice(0, query.limit), hasMore: rows.length > query.limit };
  }

  #read(ordinal: number, { filter, sort, after }: ProductQuery, limit: number): ProductRow[] {
    const path = this.#choosePath(ordinal, filter, sort);
    const conditions = [...path.seek, ...conditionsOf(filter, sort, after !== undefined)];
    const [direction, beyond] = sort.isDescending ? ['DESC', '<'] : ['ASC', '>'];
    const column = SORT_COLUMNS[sort.by];
    const byRow = `${path.row} ${direction}`;
    const order = column === 'row' ? byRow : `p.${column} ${direction}, p.row ${direction}`;

    const select = (range: RowRange, anchor: Condition[], by: string, count: number) => {
      const where = [between(range, path.row), ...anchor, ...conditions];
      const statement = this.#prepare(`
        SELECT ${COLUMNS} FROM ${path.from} WHERE ${textOf(where)} ORDER BY ${by} LIMIT ?`);
      // The columns match a ProductRow, and #prepare requests arrays.
      return statement.all(...valuesOf(where), count) as unknown as ProductRow[];
    };
    if (!after) return select(rowsOf(ordinal), [], order, limit);
    const rest = this.#rowsAfter(ordinal, after.id, sort.isDescending);
    if (column === 'row') return select(rest, [], order, limit);
    // Two queries: a single one can seek a key in an index, but not a row among equal keys.
    const ties = select(rest, [[`p.${column} = ?`, after.key]], byRow, limit);
    if (ties.length === limit) return ties;
    const anchor: Condition = [`p.${column} ${beyond} ?`, after.key];
    return [...ties, ...select(rowsOf(ordinal), [anchor], order, limit - ties.length)];
  }

  /**
   * The path of the condition with the fewest matches, if few; otherwise the path of the sort,
   * which may also be that of a condition. If that is the only path, nothing is counted.
   */
  #choosePath(ordinal: number, filter: ProductFilter, sort: ProductSort): AccessPath {
    const paths = filterPaths(ordinal, filter);
    const ordered = paths.find(({ order }) => order === SORT_COLUMNS[sort.by]);
    if (ordered && paths.length === 1) return ordered;
    let best = ordered ?? sortPath(ordinal, sort);
    let fewest = this.#probeLimit;
    for (const path of paths) {
      const count = this.#countMatches(ordinal, path, fewest);
      if (count < fewest) [best, fewest] = [path, count];
    }
    return best;
  }

  /** Counts up to the limit. */
  #countMatches(ordinal: number, path: AccessPath, limit: number): number {
    const where = [between(rowsOf(ordinal), path.row), ...path.seek, ...path.filter];
    const matches = `SELECT 1 FROM ${path.matches} WHERE ${textOf(where)} LIMIT ?`;
    return this.#findNumber(`SELECT count(*) FROM (${matches})`, ...valuesOf(where), limit) ?? 0;
  }

  /** The rows after a product, which may have been deleted: rows are ordered by id. */
  #rowsAfter(ordinal: number, id: ProductId, isDescending: boolean): RowRange {
    const all = rowsOf(ordinal);
    const [end, direction] = isDescending ? ['>=', 'ASC'] : ['<=', 'DESC'];
    const row = this.#findNumber(`
      SELECT row FROM product INDEXED BY product_id
      WHERE seller = ? AND id ${end} ? ORDER BY id ${direction} LIMIT 1`, ordinal, id);
    return row === undefined ? all : { ...all, [isDescending ? 'last' : 'first']: row };
  }

  /** Counts products with at most `stockMax` in stock, up to the limit. */
  countLowStock(ordinal: number, stockMax: number, limit: number): number {
    return this.#findNumber(`
      SELECT count(*) FROM (
        SELECT 1 FROM product INDEXED BY product_stock WHERE seller = ? AND stock <= ? LIMIT ?)`,
    ordinal, stockMax, limit) ?? 0;
  }

  #findNumber(sql: string, ...values: Value[]): number | undefined {
    // A row of one number, if any; #prepare requests arrays.
    const row = this.#prepare(sql).get(...values) as unknown as [number] | undefined;
    return row?.[0];
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const [oldest] = this.#statements.keys();
    if (oldest !== undefined && this.#statements.size >= SEARCH_STATEMENTS_LIMIT) {
      this.#statements.delete(oldest);
    }
    const statement = this.#db.prepare(sql);
    statement.setReturnArrays(true);
    this.#statements.set(sql, statement);
    return statement;
  }
}

function textOf(conditions: readonly Condition[]): string {
  return conditions.map(([sql]) => sql).join(' AND ');
}

function valuesOf(conditions: readonly Condition[]): Value[] {
  return conditions.flatMap(([, ...values]) => values);
}
