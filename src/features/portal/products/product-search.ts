/**
 * The search of the product list: translates the query of its page into a list query of the API. A
 * filter that is not valid is ignored, with an error at its field.
 */
import { cursorScope } from '../../../api/products/product-list.ts';
import { type ListQuery, parseListQuery } from '../../../api/products/product-query.ts';
import { AppError } from '../../../domain/error.ts';
import type { KeysetAnchor } from '../../../domain/catalogue/product-query.ts';
import type { FieldErrors } from '../forms/form.ts';
import { PORTAL_PAGE_PRODUCTS } from '../limits.ts';
import type { Portal, PageRequest } from '../route.ts';
import { parseTypedPrice } from '../forms/typed-values.ts';

export interface ProductSearch {
  readonly list: ListQuery;
  /** The scope of the list's cursors. */
  readonly scope: string;
  /** The filters as entered, and the sort; without blank ones. */
  readonly typed: ReadonlyMap<SearchField, string>;
  readonly errors: FieldErrors;
  readonly isFiltered: boolean;
  /** Where the page begins; undefined for the first page. */
  readonly anchor: KeysetAnchor | undefined;
}

const FIELDS = ['q', 'category', 'stock', 'price_min', 'price_max', 'sort'] as const;
type SearchField = typeof FIELDS[number];

/** The values of the field `stock`. */
export const STOCK_LOW = 'low';
export const STOCK_OUT = 'out';

export function readSearch(request: PageRequest, { cursors }: Portal): ProductSearch {
  const typed = readFields(request);
  const errors = new Map<string, string>();
  const parameters = translate(request, typed, errors);
  const list = parseValid(parameters, request, errors);
  const scope = cursorScope(request.account.sellerId, list);
  const anchor = ignoreErrors(
    () => cursors.parse<KeysetAnchor>(scope, request.query.get('cursor') ?? undefined),
    () => { errors.set('cursor', 'This page link is no longer valid. The list starts again.'); },
  );
  const isFiltered = [...parameters.keys()].some((name) => name !== 'sort' && name !== 'limit');
  return { list, scope, typed, errors, isFiltered, anchor };
}

/** Sort buttons of the table send `sort` after the field of the form: the last one counts. */
function readFields({ query }: PageRequest): Map<SearchField, string> {
  const typed = new Map<SearchField, string>();
  for (const field of FIELDS) {
    const text = query.getAll(field).at(-1)?.trim() ?? '';
    if (text !== '') typed.set(field, text);
  }
  return typed;
}

/** The query parameters of the API. */
function translate(
  { account, format }: PageRequest, typed: ReadonlyMap<SearchField, string>,
  errors: Map<string, string>,
): Map<string, string> {
  const parameters = new Map([['limit', String(PORTAL_PAGE_PRODUCTS)]]);
  for (const [field, text] of typed) {
    if (field === 'price_min' || field === 'price_max') {
      const parsed = parseTypedPrice(text, account.currency, format.decimalMark);
      if ('value' in parsed) parameters.set(field, String(parsed.value));
      else errors.set(field, parsed.error.detail);
    } else if (field !== 'stock') {
      parameters.set(field, text);
    } else if (text === STOCK_OUT || text === STOCK_LOW) {
      parameters.set('stock_max', text === STOCK_OUT ? '0' : String(account.lowStock));
    }
  }
  return parameters;
}

/** Parses the query, without its invalid parameters. */
function parseValid(
  parameters: Map<string, string>, { account }: PageRequest, errors: Map<string, string>,
): ListQuery {
  return ignoreErrors(() => parseListQuery(parameters, account), (error) => {
    for (const { parameter = '', detail } of error.issues) {
      errors.set(parameter, detail);
      parameters.delete(parameter);
    }
  }) ?? parseListQuery(parameters, account);
}

/** Undefined for an invalid query, which is passed to `note`. */
function ignoreErrors<Value>(
  read: () => Value, note: (error: AppError) => void,
): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'invalid_query')) throw error;
    note(error);
    return undefined;
  }
}
