/**
 * What the OpenAPI document says of one product. Each operation is there twice, at the address by
 * id and at the one by SKU, except that nothing can be put at an id.
 */
import { JSON_TYPE, MERGE_PATCH_TYPE } from '../media-types.ts';
import type { Answer, Operation } from '../description/operation.ts';
import { refer } from '../description/schema.ts';
import { newProduct, product } from '../description/examples.ts';

const content = { [JSON_TYPE]: { schema: refer('Product'), example: product } };

const changed: Answer = {
  description: 'The product as it stands now; where it was like that before, nothing was written '
    + 'and its position is the same.',
  headers: ['ProductTag', 'IdempotentReplay'],
  content,
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
  description: 'A merge patch (RFC 7396). No member can be removed, so `null` is a fault.',
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
