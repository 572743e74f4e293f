/**
 * The parameters of paths and queries, as the OpenAPI document tells them. A query has those that
 * its route lists and no others.
 */
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_LIMIT } from '../limits.ts';
import {
  CATEGORY_LIMIT_CODE_POINTS, NAME_LIMIT_CODE_POINTS, PRICE_LIMIT, REASON_LIMIT_CODE_POINTS,
  SKU_LIMIT_CODE_POINTS, SOURCE_LIMIT_CODE_POINTS, STOCK_LIMIT,
} from '../../domain/limits.ts';
import { PRODUCT_FIELD_NAMES } from '../../domain/catalogue/product-fields.ts';
import { SORT_KEYS } from '../../domain/catalogue/product-query.ts';
import { LIST_FORMATS } from '../media-types.ts';
import { formatProductId, type SellerId } from '../../domain/id.ts';
import type { Store } from '../../store/store.ts';
import type { Parameter, PathParameter } from './operation.ts';

const price = { type: 'number', minimum: 0, exclusiveMaximum: PRICE_LIMIT };
const stock = { type: 'integer', minimum: 0, maximum: STOCK_LIMIT };
export const sku = { type: 'string', minLength: 1, maxLength: SKU_LIMIT_CODE_POINTS };

export const pathParameters: readonly PathParameter[] = [
  {
    name: 'id', description: 'Id of the product.', example: 'prd_1k7s94cm9001k7s94bi600',
    schema: { type: 'string' },
    async findSample(store, sellerId) {
      const product = await findAnyProduct(store, sellerId);
      return product && formatProductId(sellerId, product.id);
    },
  },
  {
    name: 'sku', description: 'SKU of the product, percent-encoded: `/` is `%2F`, `%` is `%25`.',
    example: 'MUG-1', schema: sku,
    findSample: async (store, sellerId) => (await findAnyProduct(store, sellerId))?.sku,
  },
];

async function findAnyProduct(store: Store, sellerId: SellerId) {
  const { products } = await store.listProducts(sellerId, { after: undefined, limit: 1 });
  return products[0];
}

export const pageLimit: Parameter = {
  name: 'limit', description: 'Entries on a page. Not for exports.', example: 10,
  schema: { type: 'integer', minimum: 1, maximum: PAGE_SIZE_LIMIT, default: PAGE_SIZE_DEFAULT },
};

export const cursor: Parameter = {
  name: 'cursor', example: 'IWxzdGFydA', schema: { type: 'string', minLength: 1 },
  description: '`next_cursor` of the page before, with all other parameters the same but `limit`. '
    + 'Not for exports.',
};

/** Of lists that have neither conditions nor exports. */
export const pageParameters: readonly Parameter[] = [
  { ...pageLimit, description: 'Entries on a page.' },
  { ...cursor, description: '`next_cursor` of the page before.' },
];

export const listParameters: readonly Parameter[] = [
  pageLimit,
  {
    ...cursor,
    description: '`next_cursor` of the page before, with all other parameters the same but `limit` '
      + 'and `fields`. Not for exports.',
  },
  {
    name: 'q', example: 'mug',
    description: 'Stands in the name, the SKU or the category; case and accents do not count.',
    schema: { type: 'string', minLength: 1, maxLength: NAME_LIMIT_CODE_POINTS },
  },
  {
    name: 'category', description: 'Is the category, exactly.', example: 'Kitchen',
    schema: { type: 'string', minLength: 1, maxLength: CATEGORY_LIMIT_CODE_POINTS },
  },
  { name: 'sku', description: 'Is the SKU.', example: 'MUG-1', schema: sku },
  { name: 'price_min', description: 'The lowest price.', example: 10, schema: price },
  { name: 'price_max', description: 'The highest price.', example: 12.5, schema: price },
  { name: 'stock_min', description: 'The lowest stock.', example: 1, schema: stock },
  { name: 'stock_max', description: 'The highest stock.', example: 5, schema: stock },
  {
    name: 'updated_since', description: 'Changed at this time or later.',
    example: '2026-11-20T10:48:13.257Z', schema: { type: 'string', format: 'date-time' },
  },
  {
    name: 'changed_since', example: 12,
    description: 'Changed after this position of the catalogue.',
    schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
  {
    name: 'sort', example: '-price',
    description: '`id` is the order of creation; a minus turns an order round. Products that are '
      + 'the same in it follow each other by id.',
    schema: {
      type: 'string', enum: SORT_KEYS.flatMap((key) => [key, `-${key}`]), default: SORT_KEYS[0],
    },
  },
  {
    name: 'fields', description: 'The members to answer with, instead of all.',
    example: ['sku', 'stock'],
    schema: { type: 'array', minItems: 1, items: { type: 'string', enum: PRODUCT_FIELD_NAMES } },
  },
  {
    name: 'format', example: 'csv', schema: { type: 'string', enum: LIST_FORMATS },
    description: 'The form of the answer where it is easier to say here than in `Accept`: a page '
      + 'as JSON, or all products as an export.',
  },
];

export const dryRun: Parameter = {
  name: 'dry_run', description: 'Answer what would be done, and do nothing.', example: true,
  schema: { type: 'boolean', default: false },
};

/** Beside `dry_run`, they are for changes that are sent as lines: in JSON they are members. */
export const stockSyncParameters: readonly Parameter[] = [
  dryRun,
  {
    name: 'report', description: 'The changes that get a line in the answer to lines.',
    example: 'failed', schema: { type: 'string', enum: ['all', 'failed'], default: 'all' },
  },
  {
    name: 'source', example: 'erp',
    description: 'The system that the numbers come from, for changes that are sent as lines.',
    schema: { type: 'string', minLength: 1, maxLength: SOURCE_LIMIT_CODE_POINTS },
  },
  {
    name: 'reason', description: 'Why, for changes that are sent as lines.', example: 'count',
    schema: { type: 'string', minLength: 1, maxLength: REASON_LIMIT_CODE_POINTS },
  },
];

export const position = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

export const instant = { type: 'string', format: 'date-time' };

export const format: Parameter = {
  name: 'format', example: 'csv', schema: { type: 'string', enum: LIST_FORMATS },
  description: 'The form of the answer where it is easier to say here than in `Accept`.',
};

export const stockParameters: readonly Parameter[] = [
  {
    name: 'at', description: 'The position of the catalogue, or the time, to look at.', example: 12,
    schema: { anyOf: [position, instant] },
  },
  pageLimit, cursor, format,
];
