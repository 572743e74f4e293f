/** What the OpenAPI document says of all products together. */
import { CSV_TYPE, JSON_TYPE, NDJSON_TYPE } from '../media-types.ts';
import type { Operation } from '../description/operation.ts';
import { linesOf, refer } from '../description/schema.ts';
import { newProduct, product, productLines, productTable } from '../description/examples.ts';

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
      content: { [JSON_TYPE]: { schema: refer('Product'), example: product } },
    },
  },
  problems: [409],
};
