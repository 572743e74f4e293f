/** The products that the examples of the OpenAPI document show. */
import {
  PRODUCT_FIELDS, type ProductFieldName, SENT_FIELDS,
} from '../../domain/catalogue/product-fields.ts';

export const newProduct = Object.fromEntries(SENT_FIELDS.map(({ name, example }) =>
  [name, example]));

// The cast: the table has every field.
export const product = Object.fromEntries(PRODUCT_FIELDS.map(({ name, example }) =>
  [name, example])) as Readonly<Record<ProductFieldName, string | number>>;

export const importId = 'imp_1k7s94cmc001k7s94bi600';

export const stockMovement = {
  before: 40, after: 38, delta: -2, reason: 'sold', source: 'erp', sequence: null,
};

export const stockChange = {
  position: 13, type: 'stock', product_id: product.id, sku: product.sku,
  at: '2026-11-20T10:49:00.000Z',
  key_id: 'key_1k7s94cm8001k7s94bi600', data: stockMovement,
};
