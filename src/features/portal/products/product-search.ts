/**
 * Product search: translates the page's query into an API list query. An invalid filter is ignored
 * and shows an error at its field.
 */
import { cursorScope, readProductPage } from '../../../api/products/product-list.ts';
import { type ListQuery, parseListQuery } from '../../../api/products/product-query.ts';
import type { Product } from '../../../domain/catalogue/product-fields.ts';
import { anchorOf, type KeysetAnchor } from '../../../domain/catalogue/product-query.ts';
import { AppError } from '../../../domain/error.ts';
import { CATEGORY_LIMIT_CODE_POINTS, NAME_LIMIT_CODE_POINTS } from '../../../domain/limits.ts';
import type { ProductPage } from '../../../store/catalogue-store.ts';
import type { Choice, Field } from '../forms/fields.ts';
import { filterState, readFilters } from '../forms/filter.ts';
import { Form } from '../forms/form.ts';
import {
  type ListPage, type PageStart, readListPage, type ReadRows, readStart,
} from '../forms/paging.ts';
import { PORTAL_PAGE_PRODUCTS } from '../limits.ts';
import type { Portal, PageRequest } from '../route.ts';
import { parseTypedPrice } from '../forms/typed-values.ts';

export type ProductSearch = ReturnType<typeof readSearch>;

const SORTS: readonly Choice[] = [
  { value: 'id', label: 'Oldest first' }, { value: '-id', label: 'Newest first' },
  { value: 'name', label: 'Name, A to Z' }, { value: '-name', label: 'Name, Z to A' },
  { value: 'sku', label: 'SKU, A to Z' }, { value: '-sku', label: 'SKU, Z to A' },
  { value: 'price', label: 'Lowest price' }, { value: '-price', label: 'Highest price' },
  { value: 'stock', label: 'Lowest stock' }, { value: '-stock', label: 'Highest stock' },
  { value: '-updated_at', label: 'Recently updated' },
  { value: 'updated_at', label: 'Least recently updated' },
];

const ARCHIVED: readonly Choice[] = [
  { value: '', label: 'No' }, { value: 'true', label: 'Only archived' },
  { value: 'any', label: 'All' },
];

/** Search form fields. `maxLength` is in UTF-16 code units, up to two per code point. */
export function searchFields({ account: { lowStock } }: PageRequest): readonly Field[] {
  return [
    { name: 'q', label: 'Search', type: 'search', maxLength: 2 * NAME_LIMIT_CODE_POINTS },
    { name: 'category', label: 'Category', maxLength: 2 * CATEGORY_LIMIT_CODE_POINTS },
    {
      name: 'stock', label: 'Stock', control: 'select', choices: [
        { value: '', label: 'All' },
        { value: 'low', label: `Low: in general ${lowStock} or less` },
        { value: 'out', label: 'Sold out' },
      ],
    },
    { name: 'price_min', label: 'Price from', inputMode: 'decimal' },
    { name: 'price_max', label: 'Price to', inputMode: 'decimal' },
    { name: 'metadata', label: 'Metadata', hint: 'A name and its value: erp_id=10473' },
    { name: 'archived', label: 'Archived', control: 'select', choices: ARCHIVED },
    { name: 'sort', label: 'Sort by', control: 'select', choices: SORTS },
  ];
}

export function readSearch(request: PageRequest, portal: Portal) {
  const form = readFilters(request.query, searchFields(request));
  const errors = new Map<string, string>();
  const parameters = translate(request, form, errors);
  const valid = parseValid(parameters, request, errors);
  const { lowStock } = request.account;
  // The API has no such filter: it depends on the thresholds of the products and the shop.
  const list = form.get('stock') !== 'low' ? valid
    : { ...valid, filter: { ...valid.filter, lowStock }, isPlain: false };
  const scope = cursorScope(request.account.sellerId, list);
  const start = readStart<KeysetAnchor>(request, portal, scope, errors);
  const isFiltered = form.get('stock') === 'low'
    || [...parameters.keys()].some((name) => name !== 'sort' && name !== 'limit');
  return {
    list, scope, isFiltered,
    /** Undefined for the first page. */
    start,
    /** The filters as entered, and the sort. */
    state: filterState(form, errors),
  };
}

/** The page of the list that a search selects, and the position that it was read at. */
export async function readSearchPage(
  request: PageRequest, portal: Portal, { list, scope, start }: ProductSearch,
): Promise<ListPage<Product> & ReadPosition> {
  return readListPage<Product, KeysetAnchor, ReadPosition>(portal, {
    scope, start, keyOf: (product) => anchorOf(product, list.sort),
    read: (from) => readProducts(request, portal, list, from),
  });
}

type ReadPosition = Pick<ProductPage, 'position'>;

async function readProducts(
  { account: { sellerId }, position }: PageRequest, { store }: Portal, list: ListQuery,
  start: PageStart<KeysetAnchor> | undefined,
): Promise<ReadRows<Product, KeysetAnchor> & ReadPosition> {
  const { filter, sort, limit } = list;
  const page = start?.isBackward ? await store.searchProducts(sellerId, {
    filter, sort: { ...sort, isDescending: !sort.isDescending }, after: start.key, limit,
  }, position) : await readProductPage(store, { sellerId, position }, list, start?.key);
  const last = page.hasMore ? page.products.at(-1) : undefined;
  return {
    rows: page.products, next: last && anchorOf(last, sort), position: page.position,
  };
}

/** Longer cursors contain long names; a form does without them. */
const CURSOR_LIMIT_CHARACTERS = 400;
const LIST_PREFIX = 'list_';

/** The part of a query that selects a page of the list; the first page if its cursor is long. */
export function listQuery(request: PageRequest, query: Form): URLSearchParams {
  const cursor = query.get('cursor');
  return new URLSearchParams([
    ...readFilters(query, searchFields(request)),
    ...cursor === '' || cursor.length > CURSOR_LIMIT_CHARACTERS ? [] : [['cursor', cursor]],
  ]);
}

/** The list's query as fields of another form or query. */
export function listFields(list: URLSearchParams): [name: string, value: string][] {
  return [...list].map(([name, value]) => [LIST_PREFIX + name, value]);
}

/** The reverse of `listFields`. */
export function readList(request: PageRequest, form: Form): URLSearchParams {
  const fields = [...form].filter(([name]) => name.startsWith(LIST_PREFIX));
  return listQuery(request, new Form(fields.map(([name, value]) =>
    [name.slice(LIST_PREFIX.length), value])));
}

/** The path of a page of the list, below `/portal`. */
export function listPath(list: URLSearchParams): string {
  return list.size > 0 ? `/products?${list}` : '/products';
}

/** Translates the form to the API's query parameters. */
function translate(
  { account, format }: PageRequest, form: Form, errors: Map<string, string>,
): Map<string, string> {
  const parameters = new Map([['limit', String(PORTAL_PAGE_PRODUCTS)]]);
  for (const [field, text] of form) {
    if (field === 'price_min' || field === 'price_max') {
      const parsed = parseTypedPrice(text, account.currency, format.decimalMark);
      if ('value' in parsed) parameters.set(field, String(parsed.value));
      else errors.set(field, parsed.error.detail);
    } else if (field === 'metadata') {
      const [name = '', ...values] = text.split('=');
      parameters.set(`metadata.${name.trim()}`, values.join('=').trim());
    } else if (field !== 'stock') {
      parameters.set(field, text);
    } else if (text === 'out') {
      parameters.set('stock_max', '0');
    }
  }
  return parameters;
}

/** Parses the query without its invalid parameters. */
function parseValid(
  parameters: Map<string, string>, { account, generation }: PageRequest,
  errors: Map<string, string>,
): ListQuery {
  const caller = { ...account, generation };
  try {
    return parseListQuery(parameters, caller);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_query')) throw error;
    for (const { parameter = '', detail } of error.issues) {
      errors.set(parameter.startsWith('metadata.') ? 'metadata' : parameter, detail);
      parameters.delete(parameter);
    }
    return parseListQuery(parameters, caller);
  }
}
