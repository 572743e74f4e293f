/** The stored form of stock results in idempotency records. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { StockResult } from '../../../src/domain/catalogue/stock-change.ts';
import type { ProductId } from '../../../src/domain/id.ts';
import { decodeResults, encodeResults } from '../../../src/store/rules/stock-outcome.ts';

// The casts make them a SKU and an id.
const [sku, id] = ['A' as Sku, 9 as ProductId];
const known = { id, sku, previous: 7, stock: 5, position: 2 };

test('keeps the values of each result in an order that never changes', () => {
  const changes = [{ sku }, { id: 'prd_1' }, { sku }, { id: 'prd_0' }, { sku }, { sku }, { sku }];
  const unknown = { id: undefined, previous: undefined, stock: undefined, position: undefined };
  const results: StockResult[] = [
    { status: 'ok', ...known }, { status: 'unchanged', ...known },
    { status: 'not_found', sku, ...unknown }, { status: 'not_found', sku: undefined, ...unknown },
    { status: 'conflict', ...known }, { status: 'stale', ...known },
    { status: 'insufficient', ...known, stock: 0 },
  ];
  const encoded = encodeResults(results, changes);
  assert.deepEqual(encoded, [
    0, 9, null, 7, 5, 2,
    1, 9, 'A', 7, 5, 2,
    2, null, null, null, null, null,
    2, null, null, null, null, null,
    3, 9, null, 7, 5, 2,
    4, 9, null, 7, 5, 2,
    5, 9, null, 7, 0, 2,
  ]);
  assert.deepEqual(decodeResults(encoded, changes), results);
  const invalid: StockResult = { status: 'invalid', ...known };
  assert.deepEqual(encodeResults([invalid], [{ sku }]), [6, 9, null, 7, 5, 2]);
});

test('has no values where there are no changes', () => {
  assert.deepEqual(decodeResults(encodeResults([], []), []), []);
});
