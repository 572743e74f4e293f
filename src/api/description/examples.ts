/** The products that the examples of the OpenAPI document show. */
import { PRODUCT_FIELDS, type ProductField } from '../../domain/catalogue/product-fields.ts';

export const newProduct = {
  name: 'Blue mug', category: 'Kitchen', sku: 'MUG-1', price: 12.5, stock: 40,
};

const { name, category, sku, price, stock } = newProduct;

export const product: Readonly<Record<ProductField, string | number>> = {
  id: 'prd_1k7s94cm9001k7s94bi600',
  name, category, sku, price,
  currency: 'EUR',
  stock,
  position: 12,
  created_at: '2026-11-20T10:48:13.257Z',
  updated_at: '2026-11-20T10:48:13.257Z',
};

export const productLines = `${JSON.stringify(product)}\n`;

export const productTable = [PRODUCT_FIELDS, PRODUCT_FIELDS.map((field) => product[field])]
  .map((cells) => `${cells.join(',')}\r\n`).join('');

/** What people send who keep their catalogue in a table. */
export const newProductTable = [Object.keys(newProduct), Object.values(newProduct)]
  .map((cells) => `${cells.join(',')}\r\n`).join('');

export const stockMovement = {
  before: 40, after: 38, delta: -2, reason: 'sold', source: 'erp', sequence: null,
};

export const stockChange = {
  position: 13, type: 'stock', product_id: product.id, sku, at: '2026-11-20T10:49:00.000Z',
  key_id: 'key_1k7s94cm8001k7s94bi600', data: stockMovement,
};
