/** Products with some of their members. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProductId, SellerId } from '../../../src/domain/id.ts';
import { formatProduct, type Product, type Sku } from '../../../src/domain/catalogue/product.ts';
import { formatFields, PRODUCT_FIELDS } from '../../../src/domain/catalogue/product-fields.ts';

const PRODUCT: Product = {
  sellerId: 7 as SellerId, id: 9 as ProductId, name: 'Mug "Zoë"', category: 'Kitchen',
  sku: 'É/%' as Sku, priceMinor: 1999, currency: { code: 'EUR', decimals: 2 }, stock: 7,
  position: 3, createdAt: 1_767_323_045_678, updatedAt: 1_767_323_045_679,
};

test('all members together are the product as it is answered', () => {
  assert.equal(formatFields(PRODUCT, PRODUCT_FIELDS), formatProduct(PRODUCT));
});

test('has the members that are asked for and no others', () => {
  assert.equal(formatFields(PRODUCT, ['sku', 'price', 'stock']),
    '{"sku":"É/%","price":19.99,"stock":7}');
});
