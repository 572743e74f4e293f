/**
 * Finds a seller's products in the projection, page by page. If a condition has few matches, they
 * are read by its index and sorted. Otherwise the sort index is scanned from the anchor, and rows
 * that do not match are skipped: with many matches the page fills quickly, unless conditions that
 * are each common rarely hold together. Values are bound, never part of the SQL.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SEARCH_COUNT_LIMIT, SEARCH_PROBE_LIMIT, SEARCH_STATEMENTS_LIMIT } from './limits.ts';
import type { ProductId } from '../../../domain/id.ts';
import {
  BY_ID, type ProductFilter, type ProductQuery, type ProductSort,
} from '../../../domain/catalogue/product-query.ts';
import { LOOKUP_MATCHES_LIMIT, LOOKUP_PRODUCTS_LIMIT } from '../../limits.ts';
import { BoundedMap } from '../../../runtime/bounded-map.ts';
import { COUNTED_ROWS, toListCount } from '../../rules/list-count.ts';
import type { Category, CategoryQuery } from '../../search-store.ts';
import type { ListCount } from '../../write.ts';
import {
  type AccessPath, between, type Condition, conditionsOf, type FilterPart, filterPaths, mergeRows,
  partsOf, type RowRange, rowsOf, SORT_COLUMNS, sortPath, type Value,
} from './access-paths.ts';
import type { FoundRows } from './protocol.ts';
import { PRODUCT_COLUMNS, type ProductRow } from '../../sql/product-rows.ts';

const COLUMNS = PRODUCT_COLUMNS.map((column) => `p.${column}`).join(', ');

export class ProductFinder {
  readonly #db: DatabaseSync;
  readonly #probeLimit: number;
  /** By SQL, which depends on the members of a query; the oldest is evicted first. */
  readonly #statements = new BoundedMap<string, StatementSync>(SEARCH_STATEMENTS_LIMIT);

  constructor(db: DatabaseSync, probeLimit = SEARCH_PROBE_LIMIT) {
    this.#db = db;
    this.#probeLimit = probeLimit;
  }

  /** The product at the anchor may have been deleted. */
  find(ordinal: number, query: ProductQuery): FoundRows {
    const { filter, sort, limit } = query;
    const lists = partsOf(filter).map((part) =>
      this.#read(ordinal, { ...query, filter: part }, limit + 1));
    const rows = mergeRows(lists, sort);
    return { rows: rows.slice(0, query.limit), hasMore: rows.length > query.limit };
  }

  /** As `SearchStore.lookUpProducts`: archived products included. */
  lookUp(ordinal: number, filters: readonly ProductFilter[]): (readonly ProductRow[])[] {
    const query = { sort: BY_ID, after: undefined, limit: LOOKUP_MATCHES_LIMIT + 1 };
    let products = 0;
    return filters.map((filter) => {
      if (products > LOOKUP_PRODUCTS_LIMIT) return [];
      const { rows } = this.find(ordinal, { ...query, filter: { ...filter, archived: 'any' } });
      products += rows.length;
      return rows;
    });
  }

  #read(
    ordinal: number, { filter, sort, after }: Omit<ProductQuery, 'filter'> & { filter: FilterPart },
    limit: number,
  ): ProductRow[] {
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
  #choosePath(ordinal: number, filter: FilterPart, sort: ProductSort): AccessPath {
    const paths = filterPaths(ordinal, filter);
    const ordered = paths.find(({ order }) => order === SORT_COLUMNS[sort.by]);
    if (ordered && paths.length === 1) return ordered;
    return this.#findFewest(ordinal, paths, this.#probeLimit)
      ?? ordered ?? sortPath(ordinal, filter, sort);
  }

  /** The path with the fewest matches, if they are below the limit. */
  #findFewest(
    ordinal: number, paths: readonly AccessPath[], limit: number,
  ): AccessPath | undefined {
    let [best, fewest]: [AccessPath | undefined, number] = [undefined, limit];
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

  /**
   * Counts the matches of one condition in its index, and those of several by the one with the
   * fewest matches, whose products are read. Null if that would be too many.
   */
  count(ordinal: number, filter: ProductFilter, products: number): ListCount | null {
    if (Object.values(filter).every((condition) => condition === undefined)) {
      return { count: products, isExact: true };
    }
    let sum = 0;
    for (const part of partsOf(filter)) {
      const matches = this.#countPart(ordinal, part);
      if (matches === null) return null;
      sum += matches;
    }
    return toListCount(sum);
  }

  /** Up to more than a list counts. */
  #countPart(ordinal: number, part: FilterPart): number | null {
    const paths = filterPaths(ordinal, part);
    const [path = sortPath(ordinal, part, BY_ID)] = paths;
    if (paths.length <= 1 && part.q === undefined && part.metadata === undefined) {
      return this.#countMatches(ordinal, path, COUNTED_ROWS);
    }
    const best = this.#findFewest(ordinal, paths, SEARCH_COUNT_LIMIT);
    if (!best) return null;
    const where = [between(rowsOf(ordinal), best.row), ...best.seek,
      ...conditionsOf(part, BY_ID, false)];
    return this.#findNumber(
      `SELECT count(*) FROM ${best.from} WHERE ${textOf(where)}`, ...valuesOf(where),
    ) ?? 0;
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

  /** Counts products with low stock, up to the limit, that are not archived. */
  countLowStock(ordinal: number, stockMax: number, limit: number): number {
    const count = (from: string, ...values: number[]): number => this.#findNumber(`
      SELECT count(*) FROM (SELECT 1 FROM product INDEXED BY ${from} LIMIT ?)`,
    ...values, limit) ?? 0;
    const most = 'seller = ? AND archived = 0 AND stock <=';
    const own = count(`product_low WHERE ${most} low_stock`, ordinal);
    const others = count(`product_stock WHERE ${most} ? AND low_stock IS NULL`, ordinal, stockMax);
    return Math.min(own + others, limit);
  }

  listCategories(ordinal: number, { from = '', limit }: CategoryQuery): readonly Category[] {
    // The index has the products and then the archived ones: both in the order of categories.
    const counted = (archived: 0 | 1): string => `
      SELECT * FROM (SELECT category, count(*) AS rows FROM product INDEXED BY product_category
      WHERE seller = ?1 AND archived = ${archived} AND category >= ?2
      GROUP BY category ORDER BY category LIMIT ?3)`;
    // Rows of a text and two numbers; #prepare requests arrays.
    const rows = this.#prepare(`
      SELECT category, sum(products), sum(archived) FROM (
        SELECT category, rows AS products, 0 AS archived FROM (${counted(0)})
        UNION ALL SELECT category, 0, rows FROM (${counted(1)}))
      GROUP BY category ORDER BY category LIMIT ?3`)
      .all(ordinal, from, limit) as unknown as [string, number, number][];
    return rows.map(([category, products, archived]) => ({ category, products, archived }));
  }

  #findNumber(sql: string, ...values: Value[]): number | undefined {
    // A row of one number, if any; #prepare requests arrays.
    const row = this.#prepare(sql).get(...values) as unknown as [number] | undefined;
    return row?.[0];
  }

  #prepare(sql: string): StatementSync {
    const cached = this.#statements.get(sql);
    if (cached) return cached;
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
