/** From the parameters of a list to what is asked for: every fault of them is named at once. */
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_LIMIT } from '../config.ts';
import { type Currency, toMinorUnits } from '../domain/currency.ts';
import type { Issue } from '../domain/error.ts';
import {
  CATEGORY_LIMIT_CODE_POINTS, NAME_LIMIT_CODE_POINTS, PRICE_LIMIT, STOCK_LIMIT,
} from '../domain/limits.ts';
import type { Parsed } from '../domain/parsed.ts';
import { findSku, type Sku } from '../domain/product.ts';
import {
  isProductField, PRODUCT_FIELDS, type ProductField,
} from '../domain/product-fields.ts';
import {
  foldText, type ProductFilter, type ProductSort, SORT_KEYS, type SortKey,
} from '../domain/product-query.ts';
import { findTextFault } from '../domain/text.ts';
import { parseTime } from '../domain/time.ts';
import { invalidQuery, type Query } from '../http/query.ts';

export type ListFormat = 'json' | 'ndjson' | 'csv';

/** What a list is asked for; the cursor, which only the whole of it can check, is left out. */
export interface ListQuery {
  readonly filter: ProductFilter;
  readonly sort: ProductSort;
  /** Whether the catalogue can answer itself: it keeps the order of creation and no other. */
  readonly isPlain: boolean;
  readonly limit: number;
  /** Undefined for whole products. */
  readonly fields: readonly ProductField[] | undefined;
  /** Undefined where the parameter is not given. */
  readonly format: ListFormat | undefined;
}

const BY_ID: ProductSort = { by: 'id', isDescending: false };
const FORMATS: readonly ListFormat[] = ['json', 'ndjson', 'csv'];
/** What a list without parameters is: most are. */
const FIRST_PAGE: ListQuery = {
  filter: {}, sort: BY_ID, isPlain: true, limit: PAGE_SIZE_DEFAULT, fields: undefined,
  format: undefined,
};

/** @throws AppError `invalid_query` naming every faulty parameter */
export function parseListQuery(query: Query, currency: Currency): ListQuery {
  if (query.size === 0) return FIRST_PAGE;
  const issues: Issue[] = [];
  const read = <Value>(
    name: string, parse: (text: string) => Parsed<Value>,
  ): Value | undefined => {
    const text = query.get(name);
    if (text === undefined) return undefined;
    const parsed = parse(text);
    if ('value' in parsed) return parsed.value;
    issues.push({ parameter: name, ...parsed.fault });
    return undefined;
  };
  const price = (text: string): Parsed<number> => parsePrice(text, currency);
  const filter: ProductFilter = {
    q: read('q', parseSearch),
    category: read('category', (text) => parseText(text, CATEGORY_LIMIT_CODE_POINTS)),
    sku: read('sku', parseSku),
    priceMin: read('price_min', price),
    priceMax: read('price_max', price),
    stockMin: read('stock_min', (text) => parseInteger(text, 0, STOCK_LIMIT)),
    stockMax: read('stock_max', (text) => parseInteger(text, 0, STOCK_LIMIT)),
    updatedSince: read('updated_since', parseInstant),
    changedSince: read('changed_since', (text) => parseInteger(text, 0, Number.MAX_SAFE_INTEGER)),
  };
  const sort = read('sort', parseSort) ?? BY_ID;
  const isFiltered = Object.values(filter).some((condition) => condition !== undefined);
  const list: ListQuery = {
    filter,
    sort,
    isPlain: sort.by === 'id' && !sort.isDescending && !isFiltered,
    limit: read('limit', (text) => parseInteger(text, 1, PAGE_SIZE_LIMIT)) ?? PAGE_SIZE_DEFAULT,
    fields: read('fields', parseFields),
    format: read('format', parseFormat),
  };
  if (issues.length > 0) throw invalidQuery(issues);
  return list;
}

function parseText(text: string, limitCodePoints: number): Parsed<string> {
  const fault = findTextFault(text, limitCodePoints);
  return fault ? { fault } : { value: text };
}

function parseSearch(text: string): Parsed<string> {
  if (foldText(text) !== '') return parseText(text, NAME_LIMIT_CODE_POINTS);
  return { fault: { code: 'blank', detail: 'Must have something to look for.' } };
}

function parseSku(text: string): Parsed<Sku> {
  const value = findSku(text);
  if (value !== undefined) return { value };
  return { fault: { code: 'format', detail: 'Cannot be a SKU.' } };
}

function parseInteger(text: string, least: number, most: number): Parsed<number> {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return { value };
  return { fault: { code: 'range', detail: `Must be a whole number from ${least} to ${most}.` } };
}

function parsePrice(text: string, currency: Currency): Parsed<number> {
  const amount = /^\d{1,12}(?:\.\d{1,10})?$/.test(text) ? Number(text) : NaN;
  if (!(amount < PRICE_LIMIT)) {
    const detail = 'Must be a price such as 12.50, at least 0 and below 1,000,000,000,000.';
    return { fault: { code: 'range', detail } };
  }
  const value = toMinorUnits(amount, currency);
  if (value !== undefined) return { value };
  const detail = `Must have at most ${currency.decimals} decimals in ${currency.code}.`;
  return { fault: { code: 'precision', detail } };
}

function parseInstant(text: string): Parsed<number> {
  const value = parseTime(text);
  if (value !== undefined) return { value };
  const detail = 'Must be a time of RFC 3339, such as 2026-01-31T12:00:00Z.';
  return { fault: { code: 'format', detail } };
}

function parseSort(text: string): Parsed<ProductSort> {
  const isDescending = text.startsWith('-');
  const name = isDescending ? text.slice(1) : text;
  const by = SORT_KEYS.find((key): key is SortKey => key === name);
  if (by) return { value: { by, isDescending } };
  const detail = `Must be one of ${SORT_KEYS.join(', ')}, or one of them after a minus.`;
  return { fault: { code: 'format', detail } };
}

/** Members in the order of the product's own, each once. */
function parseFields(text: string): Parsed<readonly ProductField[]> {
  const names = text.split(',');
  if (names.every(isProductField)) {
    return { value: PRODUCT_FIELDS.filter((field) => names.includes(field)) };
  }
  const detail = `Must be members of a product, with commas between: ${PRODUCT_FIELDS.join(', ')}.`;
  return { fault: { code: 'format', detail } };
}

function parseFormat(text: string): Parsed<ListFormat> {
  const value = FORMATS.find((format) => format === text);
  if (value) return { value };
  return { fault: { code: 'format', detail: `Must be one of ${FORMATS.join(', ')}.` } };
}
