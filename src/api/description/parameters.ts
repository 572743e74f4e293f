/**
 * Parameters that several operations share, as the OpenAPI document describes them. A query has the
 * parameters that its route lists, and no others.
 */
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_LIMIT } from '../limits.ts';
import { skuReference } from '../../domain/catalogue/product-fields.ts';
import { LIST_FORMATS } from '../media-types.ts';
import { formatProductId, type SellerId } from '../../domain/id.ts';
import type { Store } from '../../store/store.ts';
import type { Parameter, PathParameter } from './operation.ts';

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
    example: 'MUG-1', schema: skuReference.schema,
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

export const dryRun: Parameter = {
  name: 'dry_run', description: 'Return what would be done, and do nothing.', example: true,
  schema: { type: 'boolean', default: false },
};

export const position = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

export const instant = { type: 'string', format: 'date-time' };

export const format: Parameter = {
  name: 'format', example: 'csv', schema: { type: 'string', enum: LIST_FORMATS },
  description: 'The form of the answer where it is easier to say here than in `Accept`.',
};
