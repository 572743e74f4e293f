/**
 * Finds the CSV columns of stock changes: by the names that tills and ERPs give them, or as named
 * by `map`. Never chooses between two columns for the same member, such as Quantity and Available:
 * a wrong guess would change the stock of the whole file.
 */
import type { StockChange } from '../domain/catalogue/stock-change.ts';
import { PRODUCT_FIELD_NAMES } from '../domain/catalogue/product-fields.ts';
import {
  explainUntrusted, findUntrusted, foldName, hasSkuLists, recognizeColumns,
} from './column-names.ts';
import { countColumns } from './csv-cells.ts';
import {
  ambiguousColumns, assertUnmerged, countFound, findNamedColumns, listIgnored, missingColumns,
  normalizeName, parseMap,
} from './header.ts';

export type StockMember = keyof StockChange;

/** The members in the order in which errors name them. */
export const STOCK_MEMBERS: readonly StockMember[] =
  ['sku', 'id', 'barcode', 'set', 'adjust', 'expect', 'sequence', 'reason'];

/** Of each group, a row has one; `map` naming one leaves the others out. */
const GROUPS = [['sku', 'id', 'barcode'], ['set', 'adjust']] as const;
/** Columns of our own export that are ignored without reporting them. */
const EXPORT_ONLY_COLUMNS: ReadonlySet<string> =
  new Set<string>(PRODUCT_FIELD_NAMES).difference(new Set(['name', 'category', 'price']));

export type StockColumnMap = ReadonlyMap<StockMember, string>;

/**
 * Parses `sku:Code,set:On hand`; `stock`, as imports of products name it, is the same as `set`.
 * @throws AppError `invalid_query`
 */
export function parseStockColumnMap(text: string): StockColumnMap {
  const members = text.replace(/(^|,)stock:/g, '$1set:');
  return parseMap(members, STOCK_MEMBERS, 'sku:Code,set:Quantity');
}

/** The columns of a stock file, by their index from 0. */
export interface StockColumns {
  /** Cells that each row must have. */
  readonly count: number;
  /** The columns that each member might have: at most one, unless it is ambiguous. */
  readonly indexes: Readonly<Record<StockMember, readonly number[]>>;
  /** Whether a cell of SKUs may list those of several products. */
  readonly hasSkuLists: boolean;
  /** The first ignored columns. */
  readonly ignored: readonly string[];
  /** Members with several columns, of which one must be chosen. */
  readonly ambiguous: readonly StockMember[];
  /** Groups of members of which none has a column, and one needs it. */
  readonly missing: readonly (readonly StockMember[])[];
  /** Whether the rows can be read. */
  readonly isUsable: boolean;
}

/**
 * @param sample the first rows, which show whether a column has quantities
 * @throws AppError `invalid_data` if a member has several columns, or the file lacks a product or a
 *   quantity; `invalid_query` if `map` names a missing column
 */
export function findStockColumns(
  header: readonly string[], map: StockColumnMap = new Map(),
  sample: readonly (readonly string[])[] = [],
): StockColumns {
  const untrusted = findUntrusted(header, sample);
  const columns = matchStockColumns(header, map, untrusted);
  const { indexes, ambiguous, missing } = columns;
  for (const member of ambiguous) throw ambiguousColumns(header, member, indexes[member]);
  if (missing.length > 0) {
    const names = missing.map((group) => `${group.slice(0, -1).join(', ')} or ${group.at(-1)}`)
      .join(', and none for ');
    const needed = missing.flatMap(([member]) => member ?? []);
    throw missingColumns(header, names, needed, explainUntrusted(header, untrusted, ['stock']));
  }
  assertUnmerged(header, indexes, map, sample);
  return columns;
}

/**
 * Matches a header to members, even if rows could not be read.
 * @throws AppError `invalid_query` if `map` names a missing column
 */
export function matchStockColumns(
  header: readonly string[], map: StockColumnMap = new Map(), untrusted: readonly number[] = [],
): StockColumns {
  const mapped = new Map([...map].map(([member, name]) =>
    [member, findNamedColumns(header, name)] as const));
  const mappedIndexes = new Set([...mapped.values()].flat());
  const recognized = recognizeColumns(header, untrusted);
  // In Odoo, a sequence is the place in a list.
  const isOdoo = header.some((name) => foldName(name) === 'internal reference');
  const listOwn = (member: StockMember): readonly number[] => {
    const group = GROUPS.find((names) => names.some((name) => name === member));
    if (group?.some((other) => other !== member && map.has(other))) return [];
    if (member === 'sequence' && isOdoo) return [];
    const named = recognized.get(member === 'set' ? 'stock' : member) ?? [];
    const own = [...header.keys()].filter((index) => !mappedIndexes.has(index)
      && (named.includes(index) || foldName(header[index]) === member));
    // A column named Set may say whether a product is one.
    const exact = member === 'set' ? []
      : own.filter((index) => normalizeName(header[index] ?? '') === member);
    return exact.length > 0 ? exact : own;
  };
  // The cast: each member has its entry.
  const indexes = Object.fromEntries(STOCK_MEMBERS.map((member) =>
    [member, mapped.get(member) ?? listOwn(member)])) as Record<StockMember, readonly number[]>;
  // A row without SKU and id has none of several barcodes: none is chosen.
  const isNamed = indexes.sku.length + indexes.id.length > 0;
  if (isNamed && indexes.barcode.length > 1) indexes.barcode = [];
  const used = new Set(Object.values(indexes).flat());
  const ignored = listIgnored(header, (index) =>
    !used.has(index) && !EXPORT_ONLY_COLUMNS.has(normalizeName(header[index] ?? '')));
  const ambiguous = STOCK_MEMBERS.filter((member) => indexes[member].length > 1);
  const missing = GROUPS.filter((names) => names.every((member) => indexes[member].length === 0));
  return {
    count: countColumns(header), indexes, ignored, ambiguous, missing,
    hasSkuLists: hasSkuLists(header) && !map.has('sku'),
    isUsable: ambiguous.length === 0 && missing.length === 0,
  };
}

/** How many members have columns of these names; 0 if `map` names one that is not there. */
export function countStockMembers(names: readonly string[], map: StockColumnMap): number {
  return countFound(() => Object.values(matchStockColumns(names, map).indexes));
}
