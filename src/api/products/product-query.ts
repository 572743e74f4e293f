/** The query parameters of a product list, and their parsers. */
import { type Currency, priceValidator } from '../../domain/catalogue/currency.ts';
import { barcodeValidator } from '../../domain/catalogue/barcode.ts';
import { metadataValidator } from '../../domain/catalogue/metadata.ts';
import {
  PRODUCT_FIELD_NAMES, type ProductFieldName,
} from '../../domain/catalogue/product-fields.ts';
import {
  BY_ID, foldText, type ProductQuery, type ProductSort, SORT_KEYS,
} from '../../domain/catalogue/product-query.ts';
import type { AppError } from '../../domain/error.ts';
import {
  CATEGORY_LIMIT_CODE_POINTS, METADATA_NAME_LIMIT_CODE_POINTS, NAME_LIMIT_CODE_POINTS, STOCK_LIMIT,
} from '../../domain/limits.ts';
import { validateNumberText } from '../../domain/number-text.ts';
import { invalid, lineValidator, type ParseResult } from '../../domain/validation.ts';
import { invalidQuery, type Query } from '../../http/request/query.ts';
import { PAGE_SIZE_DEFAULT } from '../limits.ts';
import { listParameters } from '../list.ts';
import {
  choice, choiceList, instant, integer, type Moment, moment, type ParameterTable, parseParameters,
  position, type QueryCaller, sku,
} from '../parameters.ts';

const name = lineValidator(NAME_LIMIT_CODE_POINTS);
const stock = integer(0, STOCK_LIMIT);
const price = {
  schema: priceValidator.schema,
  parse: (text: string, { currency }: { currency: Currency }) => parsePrice(text, currency),
};

export const productListParameters = {
  limit: listParameters.limit,
  cursor: {
    ...listParameters.cursor,
    description: '`next_cursor` of the previous page. All other parameters except `limit` and '
      + '`fields` must stay the same. Not for exports.',
  },
  at: {
    ...moment, example: 12,
    description: 'The catalogue position, or the time, to show the products at. Combines only with '
      + '`limit`, `cursor`, `fields` and `format`.',
  },
  q: {
    schema: name.schema, parse: parseSearch, example: 'mug',
    description: 'Words, in any order: each is a part of the name, the SKU, the category or the '
      + 'barcode. Ignores case, accents, and punctuation in SKUs.',
  },
  category: {
    ...lineValidator(CATEGORY_LIMIT_CODE_POINTS),
    description: 'The exact category.', example: 'Kitchen',
  },
  sku: { ...sku, description: 'The exact SKU.', example: 'MUG-1' },
  barcode: {
    ...barcodeValidator, example: '4006381333931',
    description: 'The barcode, with any number of leading zeros.',
  },
  'metadata.*': {
    schema: {
      ...metadataValidator.schema,
      propertyNames: { minLength: 10, maxLength: 9 + METADATA_NAME_LIMIT_CODE_POINTS },
    },
    parse: parsePair, example: { 'metadata.erp_id': '10473' },
    description: 'Pairs that the metadata must have, each as a separate parameter: '
      + '`metadata.erp_id=10473`.',
  },
  price_min: { ...price, description: 'The lowest price.', example: 10 },
  price_max: { ...price, description: 'The highest price.', example: 12 },
  stock_min: { ...stock, description: 'The lowest stock.', example: 1 },
  stock_max: { ...stock, description: 'The highest stock.', example: 5 },
  updated_since: {
    ...instant, example: '2026-11-20T10:48:13.257Z',
    description: 'Changed at this time or later. To synchronize, use changed_since.',
  },
  changed_since: {
    ...position, example: 12,
    description: 'Changed after this position of the catalogue. A product that was archived since '
      + 'is only found with `archived=any`.',
  },
  archived: {
    ...choice(['false', 'true', 'any']), example: 'any',
    description: '`false`: products that are not archived; `true`: only archived ones; `any`: '
      + 'both. Default: `false`, and `any` for exports. With `at`, both are listed.',
  },
  sort: {
    schema: {
      type: 'string', enum: SORT_KEYS.flatMap((key) => [key, `-${key}`]), default: BY_ID.by,
    },
    parse: parseSort, default: BY_ID, example: '-price',
    description: '`id` is the creation order. A leading minus reverses an order. Ties are sorted '
      + 'by id.',
  },
  fields: {
    ...choiceList(PRODUCT_FIELD_NAMES),
    description: 'The members to return, instead of all.', example: ['sku', 'stock'],
  },
  format: {
    ...listParameters.format,
    description: `${listParameters.format.description.slice(0, -1)}: a page as JSON, or all `
      + 'products as an export.',
  },
} as const satisfies ParameterTable;

export const productReadParameters = {
  fields: productListParameters.fields,
  at: {
    ...moment, example: 12,
    description: 'The catalogue position, or the time, to show the product at.',
  },
} as const satisfies ParameterTable;

/** The parameters of a list at an earlier position, which has creation order and no filters. */
const PAST_PARAMETERS = ['at', 'limit', 'cursor', 'fields', 'format'];

/** A parsed query without its cursor, which is bound to the whole query. */
export interface ListQuery extends Omit<ProductQuery, 'after'> {
  /** Whether the catalogue, which has creation order and no filter but `archived`, serves it. */
  readonly isPlain: boolean;
  /** Undefined for the current products; else the list is plain. */
  readonly moment: Moment | undefined;
  /** Undefined for whole products. */
  readonly fields: readonly ProductFieldName[] | undefined;
  /** Undefined without the parameter. */
  readonly format: 'json' | 'ndjson' | 'csv' | undefined;
}

/** The list without parameters; most requests ask for it. */
const FIRST_PAGE: ListQuery = {
  filter: {}, sort: BY_ID, isPlain: true, moment: undefined, limit: PAGE_SIZE_DEFAULT,
  fields: undefined, format: undefined,
};

/** @throws AppError `invalid_query` naming every invalid parameter */
export function parseListQuery(query: Query, caller: QueryCaller): ListQuery {
  if (query.size === 0) return FIRST_PAGE;
  const values = parseParameters(productListParameters, query, caller);
  const { at: moment, sort, limit, fields, format } = values;
  const filter = {
    q: values.q,
    category: values.category,
    sku: values.sku,
    barcode: values.barcode,
    metadata: sortPairs(values['metadata.*']),
    priceMin: values.price_min,
    priceMax: values.price_max,
    stockMin: values.stock_min,
    stockMax: values.stock_max,
    updatedSince: values.updated_since,
    changedSince: values.changed_since,
    archived: values.archived === 'any' ? 'any' as const : values.archived === 'true' || undefined,
  };
  const isFiltered = Object.entries(filter).some(([name, condition]) =>
    name !== 'archived' && condition !== undefined);
  const isPlain = sort.by === 'id' && !sort.isDescending && !isFiltered;
  if (moment && (!isPlain || query.has('archived'))) throw pastMismatch(query);
  return { filter, sort, isPlain, moment, limit, fields, format };
}

function pastMismatch(query: Query): AppError {
  const detail = 'Does not combine with "at", which lists all products in creation order.';
  const unused = [...query.keys()].filter((name) => !PAST_PARAMETERS.includes(name));
  return invalidQuery(unused.map((parameter) => ({ parameter, code: 'mismatch', detail })));
}

function parseSearch(text: string): ParseResult<string> {
  return foldText(text) === ''
    ? invalid('blank', 'Must contain text to search for.') : name.parse(text);
}

type Pairs = Readonly<Record<string, string>>;

function parsePair(text: string, _caller: unknown, pairName: string): ParseResult<Pairs> {
  const pair = { [pairName]: text };
  const parsed = metadataValidator.parse(pair);
  return 'error' in parsed ? parsed : { value: pair };
}

/** Sorts pairs, so that cursors do not depend on their order. @throws AppError `invalid_query` */
function sortPairs(pairs: Pairs | undefined): Pairs | undefined {
  if (!pairs) return undefined;
  const parsed = metadataValidator.parse(pairs);
  if ('error' in parsed) throw invalidQuery([{ parameter: 'metadata.*', ...parsed.error }]);
  // The cast: it has the pairs.
  return JSON.parse(parsed.value) as Pairs;
}

function parsePrice(text: string, currency: Currency): ParseResult<number> {
  if (!/^(?:0|[1-9]\d{0,11})(?:\.\d{1,10})?$/.test(text)) {
    return invalid(
      'range', 'Must be a price such as 12.50, at least 0 and below 1,000,000,000,000.',
    );
  }
  const error = validateNumberText(text);
  return error ? { error } : priceValidator.parse(Number(text), currency);
}

function parseSort(text: string): ParseResult<ProductSort> {
  const isDescending = text.startsWith('-');
  const by = SORT_KEYS.find((key) => key === (isDescending ? text.slice(1) : text));
  if (by) return { value: { by, isDescending } };
  return invalid('format', `Must be one of ${SORT_KEYS.join(', ')}, with an optional minus.`);
}
