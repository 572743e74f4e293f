/** Parses the query of a product list; an error names every invalid parameter. */
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_LIMIT } from '../limits.ts';
import { type Currency, toMinorUnits } from '../../domain/catalogue/currency.ts';
import {
  CATEGORY_LIMIT_CODE_POINTS, NAME_LIMIT_CODE_POINTS, PRICE_LIMIT, STOCK_LIMIT,
} from '../../domain/limits.ts';
import { validateNumberText } from '../../domain/number-text.ts';
import type { ParseResult } from '../../domain/validation.ts';
import {
  PRODUCT_FIELD_NAMES, type ProductFieldName,
} from '../../domain/catalogue/product-fields.ts';
import {
  foldText, type ProductFilter, type ProductSort, SORT_KEYS, type SortKey,
} from '../../domain/catalogue/product-query.ts';
import type { Query } from '../../http/request/query.ts';
import { LIST_FORMATS, type ListFormat } from '../media-types.ts';
import {
  parseChoice, parseChoices, parseInstant, parsePosition, parseSku, parseText, QueryReader,
} from '../query-reader.ts';

/** A parsed query, without its cursor: that is bound to all of the query. */
export interface ListQuery {
  readonly filter: ProductFilter;
  readonly sort: ProductSort;
  /** Whether the catalogue can answer itself: it keeps the order of creation and no other. */
  readonly isPlain: boolean;
  readonly limit: number;
  /** Undefined for whole products. */
  readonly fields: readonly ProductFieldName[] | undefined;
  /** Undefined where the parameter is not given. */
  readonly format: ListFormat | undefined;
}

const BY_ID: ProductSort = { by: 'id', isDescending: false };
/** What a list without parameters is: most are. */
const FIRST_PAGE: ListQuery = {
  filter: {}, sort: BY_ID, isPlain: true, limit: PAGE_SIZE_DEFAULT, fields: undefined,
  format: undefined,
};

/** @throws AppError `invalid_query` naming every faulty parameter */
export function parseListQuery(query: Query, currency: Currency): ListQuery {
  if (query.size === 0) return FIRST_PAGE;
  const reader = new QueryReader(query);
  const price = (text: string): ParseResult<number> => parsePrice(text, currency);
  const filter: ProductFilter = {
    q: reader.read('q', parseSearch),
    category: reader.read('category', (text) => parseText(text, CATEGORY_LIMIT_CODE_POINTS)),
    sku: reader.read('sku', parseSku),
    priceMin: reader.read('price_min', price),
    priceMax: reader.read('price_max', price),
    stockMin: reader.readInteger('stock_min', 0, STOCK_LIMIT),
    stockMax: reader.readInteger('stock_max', 0, STOCK_LIMIT),
    updatedSince: reader.read('updated_since', parseInstant),
    changedSince: reader.read('changed_since', parsePosition),
  };
  const sort = reader.read('sort', parseSort) ?? BY_ID;
  const isFiltered = Object.values(filter).some((condition) => condition !== undefined);
  const list: ListQuery = {
    filter,
    sort,
    isPlain: sort.by === 'id' && !sort.isDescending && !isFiltered,
    limit: reader.readInteger('limit', 1, PAGE_SIZE_LIMIT) ?? PAGE_SIZE_DEFAULT,
    fields: reader.read('fields', (text) => parseChoices(text, PRODUCT_FIELD_NAMES)),
    format: reader.read('format', (text) => parseChoice(text, LIST_FORMATS)),
  };
  reader.assertValid();
  return list;
}

function parseSearch(text: string): ParseResult<string> {
  if (foldText(text) !== '') return parseText(text, NAME_LIMIT_CODE_POINTS);
  return { error: { code: 'blank', detail: 'Must have something to look for.' } };
}

function parsePrice(text: string, currency: Currency): ParseResult<number> {
  const amount = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,10})?$/.test(text) ? Number(text) : NaN;
  if (!(amount < PRICE_LIMIT)) {
    const detail = 'Must be a price such as 12.50, at least 0 and below 1,000,000,000,000.';
    return { error: { code: 'range', detail } };
  }
  const error = validateNumberText(text);
  if (error) return { error };
  const value = toMinorUnits(amount, currency);
  if (value !== undefined) return { value };
  const detail = `Must have at most ${currency.decimals} decimals in ${currency.code}.`;
  return { error: { code: 'precision', detail } };
}

function parseSort(text: string): ParseResult<ProductSort> {
  const isDescending = text.startsWith('-');
  const name = isDescending ? text.slice(1) : text;
  const by = SORT_KEYS.find((key): key is SortKey => key === name);
  if (by) return { value: { by, isDescending } };
  const detail = `Must be one of ${SORT_KEYS.join(', ')}, or one of them after a minus.`;
  return { error: { code: 'format', detail } };
}
