/**
 * What the list of products is asked for, from the address of its page to the query that the API
 * would be sent. A condition that cannot be read is left out, and its field says so.
 */
import { cursorScope, decodeCursor } from '../../../api/products/product-pages.ts';
import { type ListQuery, parseListQuery } from '../../../api/products/product-query.ts';
import { AppError } from '../../../domain/error.ts';
import type { KeysetAnchor } from '../../../domain/catalogue/product-query.ts';
import type { FieldErrors } from '../forms/form.ts';
import { PORTAL_PAGE_PRODUCTS } from '../limits.ts';
import type { Portal, PageRequest } from '../route.ts';
import { parseTypedPrice } from '../forms/typed-values.ts';

export interface ProductSearch {
  readonly list: ListQuery;
  /** What cursors of the list are signed for. */
  readonly name: string;
  /** The conditions as they were typed, and the sort; none of them is blank. */
  readonly typed: ReadonlyMap<SearchField, string>;
  readonly errors: FieldErrors;
  readonly isFiltered: boolean;
  /** Where the page begins; undefined for the first one. */
  readonly place: KeysetAnchor | undefined;
}

const FIELDS = ['q', 'category', 'stock', 'price_min', 'price_max', 'sort'] as const;
type SearchField = typeof FIELDS[number];

/** The values of the field `stock`. */
export const STOCK_LOW = 'low';
export const STOCK_OUT = 'out';

export function readSearch(request: PageRequest, { cursors }: Portal): ProductSearch {
  const typed = readFields(request);
  const errors = new Map<string, string>();
  const asked = translate(request, typed, errors);
  const list = parseSound(asked, request, errors);
  const name = cursorScope(request.account.sellerId, list);
  const place = ignoreFaults(
    () => decodeCursor(cursors, name, request.query.get('cursor') ?? undefined),
    () => { errors.set('cursor', 'This page link is no longer valid. The list starts again.'); },
  );
  const conditions = [...asked.keys()].filter((field) => field !== 'sort' && field !== 'limit');
  return { list, name, typed, errors, isFiltered: conditions.length > 0, place };
}

/** Buttons of the table send the sort, too, after that of the form: the last one counts. */
function readFields({ query }: PageRequest): Map<SearchField, string> {
  const typed = new Map<SearchField, string>();
  for (const field of FIELDS) {
    const text = query.getAll(field).at(-1)?.trim() ?? '';
    if (text !== '') typed.set(field, text);
  }
  return typed;
}

/** The parameters of the API. */
function translate(
  { account, format }: PageRequest, typed: ReadonlyMap<SearchField, string>,
  errors: Map<string, string>,
): Map<string, string> {
  const asked = new Map([['limit', String(PORTAL_PAGE_PRODUCTS)]]);
  for (const [field, text] of typed) {
    if (field === 'price_min' || field === 'price_max') {
      const parsed = parseTypedPrice(text, account.currency, format.decimalMark);
      if ('value' in parsed) asked.set(field, String(parsed.value));
      else errors.set(field, parsed.error.detail);
    } else if (field !== 'stock') {
      asked.set(field, text);
    } else if (text === STOCK_OUT || text === STOCK_LOW) {
      asked.set('stock_max', text === STOCK_OUT ? '0' : String(account.lowStock));
    }
  }
  return asked;
}

/** Removes what is faulty. */
function parseSound(
  asked: Map<string, string>, { account }: PageRequest, errors: Map<string, string>,
): ListQuery {
  return ignoreFaults(() => parseListQuery(asked, account.currency), (error) => {
    for (const { parameter = '', detail } of error.issues) {
      errors.set(parameter, detail);
      asked.delete(parameter);
    }
  }) ?? parseListQuery(asked, account.currency);
}

/** Undefined where the query is faulty, of which `note` is told. */
function ignoreFaults<Value>(
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
