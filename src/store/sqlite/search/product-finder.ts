/**
 * Finds the products of a seller in the projection, a page at a time. Where a condition has few
 * matches, they are fetched by its index and sorted. Else the index of the sort is followed from
 * where the page before ended, and what does not match is passed over: there are many matches, so
 * the page is soon full, unless conditions that are often met are never met together. No value
 * enters the text of a query.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SEARCH_PROBE_LIMIT, SEARCH_STATEMENTS_LIMIT } from './limits.ts';
import type { ProductId } from '../../../domain/id.ts';
import type {
  ProductFilter, ProductQuery, ProductSort,
} from '../../../domain/catalogue/product-query.ts';
import type { FoundRows } from './messages.ts';
import { PRODUCT_COLUMNS, type ProductRow } from '../catalogue/products.ts';
import {
  between, type Condition, conditionsOf, type RowRange, rowsOf, SORT_COLUMNS, type Value,
  type AccessPath, wayOf, accessPathsOf,
} from './access-paths.ts';

const COLUMNS = PRODUCT_COLUMNS.map((column) => `p.${column}`).join(', ');

export class ProductFinder {
  readonly #db: DatabaseSync;
  readonly #probeLimit: number;
  /** By their text, which the members of a query make; the oldest is forgotten first. */
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, probeLimit = SEARCH_PROBE_LIMIT) {
    this.#db = db;
    this.#probeLimit = probeLimit;
  }

  /** The product that a page is to follow may be gone. */
  find(ordinal: number, query: ProductQuery): FoundRows {
    const rows = this.#read(ordinal, query, query.limit + 1);
    return { rows: rows.slice(0, query.limit), hasMore: rows.length > query.limit };
  }

  #read(ordinal: number, { filter, sort, after }: ProductQuery, limit: number): ProductRow[] {
    const way = this.#chooseWay(ordinal, filter, sort);
    const conditions = [...way.seek, ...conditionsOf(filter, sort, after !== undefined)];
    const [direction, beyond] = sort.isDescending ? ['DESC', '<'] : ['ASC', '>'];
    const column = SORT_COLUMNS[sort.by];
    const byRow = `${way.row} ${direction}`;
    const order = column === 'row' ? byRow : `p.${column} ${direction}, p.row ${direction}`;

    const select = (range: RowRange, place: Condition[], by: string, count: number) => {
      const where = [between(range, way.row), ...place, ...conditions];
      const statement = this.#prepare(`
        SELECT ${COLUMNS} FROM ${way.from} WHERE ${textOf(where)} ORDER BY ${by} LIMIT ?`);
      // The columns are those of a ProductRow, and #prepare asks for arrays.
      return statement.all(...valuesOf(where), count) as unknown as ProductRow[];
    };
    if (!after) return select(rowsOf(ordinal), [], order, limit);
    const rest = this.#rowsAfter(ordinal, after.id, sort.isDescending);
    if (column === 'row') return select(rest, [], order, limit);
    // Two queries: one alone goes to a key in an index, but not to a row among those of that key.
    const ties = select(rest, [[`p.${column} = ?`, after.key]], byRow, limit);
    if (ties.length === limit) return ties;
    const place: Condition = [`p.${column} ${beyond} ?`, after.key];
    return [...ties, ...select(rowsOf(ordinal), [place], order, limit - ties.length)];
  }

  /**
   * The way of the condition with the fewest matches, where they are few; else the order of the
   * sort, along which a condition's own way may lead too. That one is not weighed where it is the
   * only one.
   */
  #chooseWay(ordinal: number, filter: ProductFilter, sort: ProductSort): AccessPath {
    const ways = accessPathsOf(ordinal, filter);
    const ordered = ways.find(({ order }) => order === SORT_COLUMNS[sort.by]);
    if (ordered && ways.length === 1) return ordered;
    let best = ordered ?? wayOf(ordinal, sort);
    let fewest = this.#probeLimit;
    for (const way of ways) {
      const count = this.#countMatches(ordinal, way, fewest);
      if (count < fewest) [best, fewest] = [way, count];
    }
    return best;
  }

  /** Counts no further than to the limit. */
  #countMatches(ordinal: number, way: AccessPath, limit: number): number {
    const where = [between(rowsOf(ordinal), way.row), ...way.seek, ...way.filter];
    const matches = `SELECT 1 FROM ${way.matches} WHERE ${textOf(where)} LIMIT ?`;
    const statement = this.#prepare(`SELECT count(*) FROM (${matches})`);
    // One row of one number, as an array.
    const [count] = statement.get(...valuesOf(where), limit) as unknown as [number];
    return count;
  }

  /** The rows of a seller that come after a product, which may be gone: rows are ordered by id. */
  #rowsAfter(ordinal: number, id: ProductId, isDescending: boolean): RowRange {
    const all = rowsOf(ordinal);
    const [end, direction] = isDescending ? ['>=', 'ASC'] : ['<=', 'DESC'];
    const statement = this.#prepare(`
      SELECT row FROM product INDEXED BY product_id
      WHERE seller = ? AND id ${end} ? ORDER BY id ${direction} LIMIT 1`);
    // One row of one number, as an array, or none.
    const found = statement.get(ordinal, id) as unknown as [number] | undefined;
    if (!found) return all;
    return isDescending ? { ...all, last: found[0] } : { ...all, first: found[0] };
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
