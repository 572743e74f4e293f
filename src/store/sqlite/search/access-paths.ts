/**
 * Access paths to a seller's products in the projection, and the conditions of a filter, in SQL
 * with `?` for every value. Each path states the order of its rows. A filter is split into parts
 * without common products, each of which is one range of every index: archived products and others,
 * and products with a low-stock threshold of their own and others.
 */
import {
  anchorOf, type KeysetAnchor, type ProductFilter, type ProductSort, type SearchTerm, searchTermsOf,
} from '../../../domain/catalogue/product-query.ts';
import {
  comparedBy, type Comparison, comparisonsOf, SORT_COLUMNS as COLUMNS,
} from '../../sql/product-filter.ts';
import { decodeProduct, type ProductRow } from '../../sql/product-rows.ts';

export type Value = number | string | bigint;
/** A condition in SQL, with its values. */
export type Condition = readonly [sql: string, ...values: Value[]];

/** An index by which a seller's products can be read. */
export interface AccessPath {
  /** The FROM clause of a query that reads products as `p`. */
  readonly from: string;
  /** The FROM clause of a query that only counts rows. */
  readonly matches: string;
  /** The column of the rows. */
  readonly row: string;
  /** The column that orders the rows; ties are ordered by row. */
  readonly order: string;
  /** Conditions that select the index, in addition to the seller and the filter. */
  readonly seek: readonly Condition[];
  /** The filter's conditions that the index serves. */
  readonly filter: readonly Condition[];
}

/** A seller's rows are between these two, exclusively. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
}

const ROWS_PER_SELLER = 2 ** 32;

export const SORT_COLUMNS = { ...COLUMNS, id: 'row' } as const;

const INDEXES = {
  id: 'product_id',
  name_key: 'product_name',
  sku: 'product_sku',
  barcode: 'product_barcode',
  category: 'product_category',
  price_minor: 'product_price',
  stock: 'product_stock',
  updated_at: 'product_updated',
  position: 'product_position',
} as const;

/** The SKU without punctuation. */
const FIRST_LINE = 'substr(p.text, 1, instr(p.text, char(10)) - 1)';
const HAS_PAIR = `EXISTS (
  SELECT 1 FROM metadata_pair AS o WHERE o.name = ? AND o.value = ? AND o.row = p.row)`;
/** Which thresholds of low stock a part has. */
const THRESHOLDS: Readonly<Record<'own' | 'shop' | 'any', readonly Condition[]>> = {
  own: [['p.stock <= p.low_stock']], shop: [['p.low_stock IS NULL']], any: [],
};

/** FTS5 indexes every three consecutive characters. */
const TRIGRAM_CODE_POINTS = 3;

export function rowsOf(ordinal: number): RowRange {
  return { first: ordinal * ROWS_PER_SELLER, last: (ordinal + 1) * ROWS_PER_SELLER };
}

/** As integers: FTS5 can seek to an integer, but not to a REAL, the type of bound numbers. */
export function between({ first, last }: RowRange, row: string): Condition {
  return [`${row} > ? AND ${row} < ?`, BigInt(first), BigInt(last)];
}

/** The path that returns all products of a part in sort order. */
export function sortPath(ordinal: number, part: FilterPart, sort: ProductSort): AccessPath {
  const column = SORT_COLUMNS[sort.by];
  return column === 'row' ? byIndex('product_archived', ordinal, 'row', [inPart(part)])
    : byColumn(ordinal, part, column, []);
}

/** The paths that return only matches of one condition. */
export function filterPaths(ordinal: number, filter: FilterPart): AccessPath[] {
  const comparisons = Map.groupBy(comparisonsOf(filter), ({ column }) => column);
  const paths = [...comparisons].map(([column, group]) => byColumn(ordinal, filter, column, group));
  if (filter.threshold === 'own') {
    // The index has only products whose stock is low by a threshold of their own.
    paths.push(byIndex('product_low', ordinal, 'stock', [inPart(filter), ...THRESHOLDS.own]));
  }
  paths.push(...Object.entries(filter.metadata ?? {}).map(byPair));
  const expression = matchExpression(searchTermsOf(filter.q ?? ''));
  return expression === '' ? paths : [...paths, byText(expression)];
}

/**
 * All conditions of the filter. A page after the first must start at its anchor, not at an earlier
 * bound of the filter: a unary plus keeps SQLite from using the index for that bound.
 */
export function conditionsOf(
  filter: FilterPart, sort: ProductSort, isContinued: boolean,
): Condition[] {
  const passed = sort.isDescending ? '<=' : '>=';
  const compared = comparisonsOf(filter).map(({ column, operator, value }): Condition => {
    const isPassed = isContinued && column === SORT_COLUMNS[sort.by] && operator === passed;
    return [`${isPassed ? '+' : ''}${comparedBy({ column, operator })} ?`, value];
  });
  const pairs = Object.entries(filter.metadata ?? {}).map((pair): Condition => [HAS_PAIR, ...pair]);
  const thresholds = THRESHOLDS[filter.threshold ?? 'any'];
  const conditions = [inPart(filter), ...compared, ...thresholds, ...pairs];
  // FTS5 treats some reserved characters as equal. A term of one or two characters has no trigram:
  // without a longer one, every row is searched.
  return [...conditions, ...searchTermsOf(filter.q ?? '').map(({ text, bareSku }): Condition =>
    bareSku === undefined ? ['instr(p.text, ?) > 0', text]
      : [`(instr(p.text, ?) > 0 OR instr(${FIRST_LINE}, ?) > 0)`, text, bareSku])];
}

/** In the syntax of FTS5: all that the index can know of the terms. Empty if that is nothing. */
function matchExpression(terms: readonly SearchTerm[]): string {
  const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  return terms.map(({ text, bareSku }) => (bareSku === undefined ? [text] : [text, bareSku]))
    .filter((texts) => texts.every((text) => [...text].length >= TRIGRAM_CODE_POINTS))
    .map((texts) => `(${texts.map(quote).join(' OR ')})`).join(' AND ');
}

function inPart({ isArchived }: FilterPart): Condition {
  return ['p.archived = ?', Number(isArchived)];
}

function byColumn(
  ordinal: number, part: FilterPart, column: keyof typeof INDEXES,
  comparisons: readonly Comparison[],
): AccessPath {
  const isOneValue = comparisons.some(({ operator }) => operator === '=');
  return byIndex(INDEXES[column], ordinal, isOneValue ? 'row' : column, [
    inPart(part),
    ...comparisons.map((comparison): Condition =>
      [`${comparedBy(comparison)} ?`, comparison.value]),
    ...column === 'stock' ? THRESHOLDS[part.threshold ?? 'any'] : [],
  ]);
}

function byIndex(
  index: string, ordinal: number, order: string, filter: readonly Condition[],
): AccessPath {
  const from = `product AS p INDEXED BY ${index}`;
  return { from, matches: from, row: 'p.row', order, seek: [['p.seller = ?', ordinal]], filter };
}

function byText(expression: string): AccessPath {
  return {
    from: 'product_text AS t CROSS JOIN product AS p NOT INDEXED ON p.row = t.rowid',
    matches: 'product_text AS t', row: 't.rowid', order: 'row',
    seek: [['t.folded MATCH ?', expression]], filter: [],
  };
}

function byPair(pair: readonly [name: string, value: string]): AccessPath {
  return {
    from: 'metadata_pair AS m CROSS JOIN product AS p NOT INDEXED ON p.row = m.row',
    matches: 'metadata_pair AS m', row: 'm.row', order: 'row',
    seek: [['m.name = ? AND m.value = ?', ...pair]], filter: [],
  };
}

export interface FilterPart extends Omit<ProductFilter, 'archived' | 'lowStock'> {
  readonly isArchived: boolean;
  /** Only products with low stock by a threshold of their own, or only those without one. */
  readonly threshold?: 'own' | 'shop';
}

export function partsOf({ archived, lowStock, ...filter }: ProductFilter): readonly FilterPart[] {
  const sides = archived === 'any' ? [false, true] : [archived === true];
  return sides.flatMap((isArchived): FilterPart[] => {
    const part = { ...filter, isArchived };
    if (lowStock === undefined) return [part];
    const stockMax = Math.min(filter.stockMax ?? lowStock, lowStock);
    return [{ ...part, stockMax, threshold: 'shop' }, { ...part, threshold: 'own' }];
  });
}

/** The rows of sorted lists as one. */
export function mergeRows(
  lists: readonly (readonly ProductRow[])[], sort: ProductSort,
): readonly ProductRow[] {
  const [first = [], ...others] = lists.filter(({ length }) => length > 0);
  if (others.length === 0) return first;
  const direction = sort.isDescending ? -1 : 1;
  return [first, ...others].flat()
    .map((row) => ({ row, anchor: anchorOf(decodeProduct({}, row), sort) }))
    .sort((one, other) => direction * compareAnchors(one.anchor, other.anchor))
    .map(({ row }) => row);
}

/** As SQLite does: texts by their bytes in UTF-8. */
function compareAnchors(one: KeysetAnchor, other: KeysetAnchor): number {
  const order = typeof one.key === 'number' || typeof other.key === 'number'
    ? Number(one.key) - Number(other.key)
    : Buffer.compare(Buffer.from(one.key), Buffer.from(other.key));
  return order || one.id - other.id;
}
