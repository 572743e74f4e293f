/**
 * The OpenAPI operations of products. Those of one product exist twice, at the address by id and at
 * the one by SKU, except that nothing can be put at an id.
 */
import {
  PRODUCT_FIELD_NAMES, SENT_FIELDS, type SentFieldName,
} from '../../domain/catalogue/product-fields.ts';
import { SORT_KEYS } from '../../domain/catalogue/product-query.ts';
import type { Schema } from '../../domain/validation.ts';
import {
  CSV_TYPE, JSON_TYPE, LIST_FORMATS, MERGE_PATCH_TYPE, NDJSON_TYPE,
} from '../media-types.ts';
import { cursor, instant, pageLimit, position } from '../description/parameters.ts';
import type { Answer, Operation, Parameter } from '../description/operation.ts';
import { linesOf, refer } from '../description/schema.ts';
import { newProduct, product, productLines, productTable } from '../description/examples.ts';

const content = { [JSON_TYPE]: { schema: refer('Product'), example: product } };

const changed: Answer = {
  description: 'The product as it stands now; where it was like that before, nothing was written '
    + 'and its position is the same.',
  headers: ['ProductTag', 'IdempotentReplay'],
  content,
};

// The cast: the table has each field.
const fields = Object.fromEntries(SENT_FIELDS.map(({ name, schema }) =>
  [name, schema])) as Readonly<Record<SentFieldName, Schema>>;

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
    schema: fields.name,
  },
  {
    name: 'category', description: 'Is the category, exactly.', example: 'Kitchen',
    schema: fields.category,
  },
  { name: 'sku', description: 'Is the SKU.', example: 'MUG-1', schema: fields.sku },
  { name: 'price_min', description: 'The lowest price.', example: 10, schema: fields.price },
  { name: 'price_max', description: 'The highest price.', example: 12.5, schema: fields.price },
  { name: 'stock_min', description: 'The lowest stock.', example: 1, schema: fields.stock },
  { name: 'stock_max', description: 'The highest stock.', example: 5, schema: fields.stock },
  {
    name: 'updated_since', description: 'Changed at this time or later.',
    example: '2026-11-20T10:48:13.257Z', schema: instant,
  },
  {
    name: 'changed_since', example: 12,
    description: 'Changed after this position of the catalogue.',
    schema: position,
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

export const listProductsOperation: Operation = {
  id: 'listProducts',
  summary: 'List, find or export products',
  description: 'A page of the products that meet all conditions of the query, and the cursor of '
    + 'the next one: a product that stays in its place is neither skipped nor repeated. With '
    + '`Accept: application/x-ndjson` or `text/csv`, or with `format`, all of them at once: an '
    + 'export, which shows the catalogue as it stood at the position in `Seller-Position`.',
  requestHeaders: ['IfNoneMatch'],
  answers: {
    200: {
      description: 'A page, or an export.',
      headers: ['CatalogueTag', 'Link', 'SellerPosition'],
      content: {
        [JSON_TYPE]: {
          schema: { anyOf: [refer('ProductPage'), refer('PartialProductPage')] },
          example: { products: [product], next_cursor: null },
        },
        [NDJSON_TYPE]: { schema: linesOf('PartialProduct'), example: productLines },
        [CSV_TYPE]: {
          schema: {
            type: 'string', contentMediaType: CSV_TYPE,
            description: 'RFC 4180, in UTF-8, with a header. An apostrophe stands before what a '
              + 'spreadsheet would take for a formula; an import takes it away.',
          },
          example: productTable,
        },
      },
    },
    304: {
      description: 'The catalogue has not changed.', headers: ['CatalogueTag'],
    },
  },
};

export const createProductOperation: Operation = {
  id: 'createProduct',
  summary: 'Create a product',
  description: 'All five members are required.',
  requestHeaders: ['IdempotencyKey'],
  request: { [JSON_TYPE]: { schema: refer('NewProduct'), example: newProduct } },
  answers: {
    201: {
      description: 'The product was created.',
      headers: ['Location', 'ProductTag', 'IdempotentReplay'],
      content,
    },
  },
  problems: [409],
};

export const readProductOperation: Operation = {
  id: 'readProduct',
  summary: 'Read a product',
  description: 'Its `ETag` is the position of its last change.',
  requestHeaders: ['IfMatch', 'IfNoneMatch'],
  answers: {
    200: { description: 'The product.', headers: ['ProductTag'], content },
    304: { description: 'The product has not changed.', headers: ['ProductTag'] },
  },
};

export const putProductBySkuOperation: Operation = {
  id: 'putProductBySku',
  summary: 'Create or replace the product with a SKU',
  description: '`If-None-Match: *` creates only, `If-Match` replaces only that version.',
  requestHeaders: ['IfMatch', 'IfNoneMatch', 'IdempotencyKey'],
  request: { [JSON_TYPE]: { schema: refer('ProductReplacement'), example: newProduct } },
  answers: {
    200: changed,
    201: {
      description: 'There was none with this SKU: the product was created.',
      headers: ['Location', 'ProductTag', 'IdempotentReplay'],
      content,
    },
  },
};

const patch = { schema: refer('ProductPatch'), example: { price: 11, stock: 38 } };

export const patchProductOperation: Operation = {
  id: 'patchProduct',
  summary: 'Change members of a product',
  description: 'A merge patch (RFC 7396). No member can be removed, so `null` is an error.',
  requestHeaders: ['IfMatch', 'IfNoneMatch', 'IdempotencyKey'],
  request: { [MERGE_PATCH_TYPE]: patch, [JSON_TYPE]: patch },
  answers: { 200: changed },
  problems: [409],
};

export const deleteProductOperation: Operation = {
  id: 'deleteProduct',
  summary: 'Delete a product',
  description: 'Its SKU is free again, its id is given to no other.',
  requestHeaders: ['IfMatch', 'IfNoneMatch', 'IdempotencyKey'],
  answers: { 204: { description: 'The product is gone.', headers: ['IdempotentReplay'] } },
};

export const readProductBySkuOperation = bySku(readProductOperation);
export const patchProductBySkuOperation = bySku(patchProductOperation);
export const deleteProductBySkuOperation = bySku(deleteProductOperation);

function bySku(operation: Operation): Operation {
  const { id, summary } = operation;
  return { ...operation, id: `${id}BySku`, summary: `${summary}, by its SKU` };
}
