/** Products with selected members. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProductId, SellerId } from '../../../src/domain/id.ts';
import { createProductFormatter, formatProduct } from '../../../src/domain/catalogue/product.ts';
import {
  type Product, PRODUCT_FIELDS, selectFields, type Sku,
} from '../../../src/domain/catalogue/product-fields.ts';

const PRODUCT: Product = {
  sellerId: 7 as SellerId, id: 9 as ProductId, name: 'Mug "Zoë"', category: 'Kitchen',
  sku: 'É/%' as Sku, priceMinor: 1999, currency: { code: 'EUR', decimals: 2 }, stock: 7,
  position: 3, createdAt: 1_767_323_045_678, updatedAt: 1_767_323_045_679,
};

test('all members together form the JSON of the product', () => {
  assert.equal(formatProduct(PRODUCT), '{"id":"prd_0000000000900000000007","name":"Mug \\"Zoë\\""'
    + ',"category":"Kitchen","sku":"É/%","price":19.99,"currency":"EUR","stock":7,"position":3'
    + ',"created_at":"2026-01-02T03:04:05.678Z","updated_at":"2026-01-02T03:04:05.679Z"}');
  assert.equal(formatProduct(PRODUCT), JSON.stringify(
    Object.fromEntries(PRODUCT_FIELDS.map(({ name, read }) => [name, read(PRODUCT)]))));
});

test('has only the requested members', () => {
  assert.equal(createProductFormatter(selectFields(['sku', 'price', 'stock']))(PRODUCT),
    '{"sku":"É/%","price":19.99,"stock":7}');
});
