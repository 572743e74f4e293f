/**
 * The OpenAPI operations of products. Those of a single product exist by id and by SKU; PUT exists
 * by SKU only.
 */
import { skuValidator } from '../../domain/catalogue/product-fields.ts';
import { formatProductId, type SellerId } from '../../domain/id.ts';
import type { Store } from '../../store/store.ts';
import { CSV_TYPE, JSON_TYPE, MERGE_PATCH_TYPE, NDJSON_TYPE } from '../media-types.ts';
import {
  groupOperations, type Operation, type OperationResponse, type PathParameter, type Tag,
} from '../description/operation.ts';
import { jsonOf, linesOf, PAGE_OR_EXPORT, respondJson, tableOf } from '../description/schema.ts';
import { newProduct, product } from '../description/examples.ts';
import { lookupParameters } from './lookup.ts';
import { productListParameters, productReadParameters } from './product-query.ts';

export const productPathParameters: readonly PathParameter[] = [
  {
    name: 'id', description: 'Id of the product.', example: product.id,
    schema: { type: 'string' },
    async findSample(store, sellerId) {
      const product = await findAnyProduct(store, sellerId);
      return product && formatProductId(sellerId, product.id);
    },
  },
  {
    name: 'sku', description: 'SKU of the product, percent-encoded: `/` is `%2F`, `%` is `%25`.',
    example: product.sku, schema: skuValidator.schema,
    findSample: async (store, sellerId) => (await findAnyProduct(store, sellerId))?.sku,
  },
];

async function findAnyProduct(store: Store, sellerId: SellerId) {
  const { products } = await store.listProducts(sellerId, { after: undefined, limit: 1 });
  return products[0];
}

const tag: Tag = {
  name: 'Products', description: 'Create, read, change, find and export the products you sell.',
};

const content = jsonOf('Product', product);

const created: OperationResponse = {
  description: 'The product was created.', headers: ['Location', 'ProductTag'], content,
};

const changed: OperationResponse = {
  description: 'The product after the request. If it already had these values, nothing was written '
    + 'and its position is unchanged.',
  headers: ['ProductTag'],
  content,
};

const patch = jsonOf('ProductPatch', { price: 11 });

const operations = groupOperations(tag, {
  list: {
    id: 'listProducts',
    summary: 'List, find or export products',
    description: 'Returns a page of the products that match all conditions of the query, and the '
      + 'cursor of the next page. Paging neither skips nor repeats a product that keeps its place '
      + 'in the sort order. With `Accept: application/x-ndjson` or `text/csv`, or with `format`, '
      + 'returns an export: all matching products, as of the position in `Seller-Position`. With '
      + '`fields`, products have only those members. With `at`, returns the products as they were '
      + 'at an earlier position or time.',
    query: productListParameters,
    requestHeaders: ['IfNoneMatch'],
    responses: {
      200: {
        description: PAGE_OR_EXPORT,
        headers: ['CatalogueTag', 'Link', 'SellerPosition'],
        content: jsonOf('ProductPage', { products: [product], next_cursor: null }),
        alternatives: {
          ...jsonOf('PartialProductPage', {
            products: [{ sku: product.sku, stock: product.stock }], next_cursor: null,
          }),
          [NDJSON_TYPE]: linesOf('PartialProduct', product),
          [CSV_TYPE]: tableOf(product, 'A value that a spreadsheet would read as a formula gets a '
            + 'leading apostrophe, which an import removes.'),
        },
      },
      304: { description: 'The catalogue has not changed.', headers: ['CatalogueTag'] },
    },
    problems: [410],
  },
  create: {
    id: 'createProduct',
    summary: 'Create a product',
    description: 'All five members are required.',
    requestHeaders: ['IdempotencyKey'],
    request: jsonOf('NewProduct', newProduct),
    responses: { 201: created },
    problems: [409],
  },
  lookUp: {
    id: 'lookUpProducts',
    summary: 'Look up many products',
    description: 'Each query has one of `sku`, `id`, `barcode` and `metadata`. Returns an array '
      + 'for each query, in the order sent, with the products that match, archived ones included. '
      + 'All are read at one position. Writes nothing.',
    query: lookupParameters,
    request: jsonOf('ProductLookup', {
      queries: [{ sku: product.sku }, { metadata: { erp_id: '10473' } }],
    }),
    responses: {
      200: {
        ...respondJson('The products of each query.', 'LookedUpProducts', {
          results: [[product], []], position: 12,
        }),
        alternatives: jsonOf('PartialLookedUpProducts', {
          results: [[{ sku: product.sku, stock: product.stock }], []], position: 12,
        }),
        headers: ['SellerPosition'],
      },
    },
  },
  read: {
    id: 'readProduct',
    summary: 'Read a product',
    description: 'The `ETag` is the position of the product\'s last change. With `at`, returns the '
      + 'product as it was at an earlier position or time, even if it was deleted since. With '
      + '`fields`, it has only those members.',
    query: productReadParameters,
    requestHeaders: ['IfMatch', 'IfNoneMatch'],
    responses: {
      200: {
        description: 'The product.', headers: ['ProductTag'], content,
        alternatives: jsonOf('PartialProduct', { sku: product.sku, stock: product.stock }),
      },
      304: { description: 'The product has not changed.', headers: ['ProductTag'] },
    },
    problems: [410],
  },
  putBySku: {
    id: 'putProductBySku',
    summary: 'Create or replace the product with a SKU',
    description: '`If-None-Match: *` only creates; `If-Match` only replaces that version.',
    requestHeaders: ['IfMatch', 'IfNoneMatch', 'IdempotencyKey'],
    request: jsonOf('ProductReplacement', newProduct),
    responses: {
      200: changed,
      201: { ...created, description: 'No product had this SKU: it was created.' },
    },
  },
  patch: {
    id: 'patchProduct',
    summary: 'Change members of a product',
    description: 'A merge patch (RFC 7396): null removes an optional member, or a pair of '
      + '`metadata`. `{"archived":true}` hides the product from lists, and `{"archived":false}` '
      + 'restores it. With the scope `prices:write`, `price` must be the only member.',
    requestHeaders: ['IfMatch', 'IfNoneMatch', 'IdempotencyKey'],
    request: { [MERGE_PATCH_TYPE]: patch[JSON_TYPE], ...patch },
    responses: { 200: changed },
    problems: [409],
  },
  delete: {
    id: 'deleteProduct',
    summary: 'Delete a product',
    description: 'The SKU becomes available again. The id is never reused.',
    requestHeaders: ['IfMatch', 'IfNoneMatch', 'IdempotencyKey'],
    responses: { 204: { description: 'The product was deleted.' } },
  },
});

export const productOperations = {
  ...operations,
  readBySku: bySku(operations.read),
  patchBySku: bySku(operations.patch),
  deleteBySku: bySku(operations.delete),
};

function bySku(operation: Operation): Operation {
  const { id, summary } = operation;
  return { ...operation, id: `${id}BySku`, summary: `${summary}, by its SKU` };
}
