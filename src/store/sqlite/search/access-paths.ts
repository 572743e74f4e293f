/**
 * The ways to the products of a seller in the projection, and the conditions that a product must
 * meet: query text with `?` for every value. Each way says in which order products come along it.
 */
import {
  foldText, type ProductFilter, type ProductSort, type SortKey,
} from '../../../domain/catalogue/product-query.ts';

export type Value = number | string | bigint;
/** A condition in SQL, with its values. */
export type Condition = readonly [sql: string, ...values: Value[]];

/** One way to the products of a seller. */
export interface AccessPath {
  /** For the FROM clause of what reads products, called `p`. */
  readonly from: string;
  /** For that of what reads no more than which rows match. */
  readonly matches: string;
  /** The column of the rows. */
  readonly row: string;
  /** The column by whose value products come, and by row where that is the same. */
  readonly order: string;
  /** What leads there, beside the rows of the seller and the conditions of the filter. */
  readonly seek: readonly Condition[];
  /** Which conditions of the filter lead there. */
  readonly filter: readonly Condition[];
}

/** The rows of a seller: between these two. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
}

interface Comparison {
  readonly column: keyof typeof INDEXES;
  readonly operator: '=' | '>' | '>=' | '<=';
  readonly value: Value;
}

const ROWS_PER_SELLER = 2 ** 32;

export const SORT_COLUMNS = {
  id: 'row',
  name: 'name_key',
  sku: 'sku',
  price: 'price_minor',
  stock: 'stock',
  updated_at: 'updated_at',
} as const satisfies Record<SortKey, string>;

const INDEXES = {
  name_key: 'product_name',
  sku: 'product_sku',
  category: 'product_category',
  price_minor: 'product_price',
  stock: 'product_stock',
  updated_at: 'product_updated',
  position: 'product_position',
} as const;

/** FTS5 knows a text by each three characters in a row. */
const TRIGRAM_CODE_POINTS = 3;

export function rowsOf(ordinal: number): RowRange {
  return { first: ordinal * ROWS_PER_SELLER, last: (ordinal + 1) * ROWS_PER_SELLER };
}

/** As integers: FTS5 goes straight to such a row, but not to a REAL, as which numbers are bound. */
export function between({ first, last }: RowRange, row: string): Condition {
  return [`${row} > ? AND ${row} < ?`, BigInt(first), BigInt(last)];
}

/** The way on which all products come in the order of the sort. */
export function wayOf(ordinal: number, sort: ProductSort): AccessPath {
  const column = SORT_COLUMNS[sort.by];
  if (column !== 'row') return byIndex(ordinal, column, []);
  const from = 'product AS p NOT INDEXED';
  return { from, matches: from, row: 'p.row', order: 'row', seek: [], filter: [] };
}

/** The ways on which only matches of one condition come. */
export function accessPathsOf(ordinal: number, filter: ProductFilter): AccessPath[] {
  const comparisons = Map.groupBy(compare(filter), ({ column }) => column);
  const ways = [...comparisons].map(([column, those]) => byIndex(ordinal, column, those));
  const text = foldText(filter.q ?? '');
  return [...text].length < TRIGRAM_CODE_POINTS ? ways : [...ways, byText(text)];
}

/**
 * All that the filter asks for. A page that goes on from a place along the index of its sort is not
 * to begin at the bound of the filter that lies before: to SQLite, a unary plus is no index.
 */
export function conditionsOf(
  filter: ProductFilter, sort: ProductSort, isContinued: boolean,
): Condition[] {
  const passed = sort.isDescending ? '<=' : '>=';
  const conditions = compare(filter).map(({ column, operator, value }): Condition => {
    const isPassed = isContinued && column === SORT_COLUMNS[sort.by] && operator === passed;
    return [`${isPassed ? '+' : ''}p.${column} ${operator} ?`, value];
  });
  if (filter.q === undefined) return conditions;
  // What FTS5 finds contains the text, but for characters that Unicode reserves and FTS5 takes for
  // each other. A text of one or two characters has no trigram: it is looked for in every product
  // on the way.
  return [...conditions, ['instr(p.text, ?) > 0', foldText(filter.q)]];
}

function compare(filter: ProductFilter): Comparison[] {
  const asked: { [Member in keyof Comparison]: Comparison[Member] | undefined }[] = [
    { column: 'sku', operator: '=', value: filter.sku },
    { column: 'position', operator: '>', value: filter.changedSince },
    { column: 'updated_at', operator: '>=', value: filter.updatedSince },
    { column: 'category', operator: '=', value: filter.category },
    { column: 'price_minor', operator: '>=', value: filter.priceMin },
    { column: 'price_minor', operator: '<=', value: filter.priceMax },
    { column: 'stock', operator: '>=', value: filter.stockMin },
    { column: 'stock', operator: '<=', value: filter.stockMax },
  ];
  return asked.filter((one): one is Comparison => one.value !== undefined);
}

function byIndex(
  ordinal: number, column: Comparison['column'], comparisons: readonly Comparison[],
): AccessPath {
  const from = `product AS p INDEXED BY ${INDEXES[column]}`;
  const isOneValue = comparisons.some(({ operator }) => operator === '=');
  return {
    from, matches: from, row: 'p.row', order: isOneValue ? 'row' : column,
    seek: [['p.seller = ?', ordinal]],
    filter: comparisons.map((one) => [`p.${one.column} ${one.operator} ?`, one.value]),
  };
}

function byText(text: string): AccessPath {
  return {
    from: 'product_text AS t CROSS JOIN product AS p NOT INDEXED ON p.row = t.rowid',
    matches: 'product_text AS t', row: 't.rowid', order: 'row',
    seek: [['t.folded MATCH ?', `"${text.replaceAll('"', '""')}"`]], filter: [],
  };
}
