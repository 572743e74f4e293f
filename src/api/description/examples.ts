/** The products that the examples of the OpenAPI document show. */
import {
  PRODUCT_FIELDS, type ProductField, type ProductFieldName, SENT_FIELDS,
} from '../../domain/catalogue/product-fields.ts';

const optional: ReadonlySet<string> =
  new Set(SENT_FIELDS.filter(({ isRequired }) => !isRequired).map(({ name }) => name));

export const newProduct = exampleOf(SENT_FIELDS);

export const product = exampleOf(PRODUCT_FIELDS);

/** Without the optional fields, which most products do not have. */
function exampleOf(fields: readonly ProductField[]): Readonly<Record<ProductFieldName, string>> {
  const required = fields.filter(({ name }) => !optional.has(name));
  // The cast: examples read required texts only.
  return Object.fromEntries(required.map(({ name, example }) => [name, example])) as
    Record<ProductFieldName, string>;
}

export const importId = 'imp_1k7s94cmc001k7s94bi600';

export const stockMovement = {
  before: 40, after: 38, delta: -2, reason: 'sold', source: 'erp', sequence: null,
};

export const stockChange = {
  position: 13, type: 'stock', product_id: product.id, sku: product.sku,
  at: '2026-11-20T10:49:00.000Z',
  key_id: 'key_1k7s94cm8001k7s94bi600', data: stockMovement,
};
