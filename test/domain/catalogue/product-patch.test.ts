/** Bodies of PUT and PATCH for products: which members are required. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseProductPatch, parseReplacement } from '../../../src/domain/catalogue/product.ts';
import { catchAppError } from '../validation-errors.ts';

const EUR = { code: 'EUR', decimals: 2 };
const MEMBERS = { name: 'Mug', category: 'Kitchen', price: 19.99, stock: 7 };

function errors(run: () => unknown): unknown[] {
  return catchAppError(run).issues.map(({ pointer, code }) => `${pointer} ${code}`);
}

test('a patch has only the members that were sent', () => {
  assert.deepEqual(parseProductPatch({}, EUR), {});
  assert.deepEqual(parseProductPatch({ stock: 0 }, EUR), { stock: 0 });
  assert.deepEqual(parseProductPatch({ ...MEMBERS, sku: 'A' }, EUR), {
    name: 'Mug', category: 'Kitchen', sku: 'A', priceMinor: 1999, stock: 7,
  });
});

test('a patch with null is rejected, since every member is required', () => {
  const nothing = { name: null, category: null, sku: null, price: null, stock: null };
  assert.deepEqual(errors(() => parseProductPatch(nothing, EUR)), [
    '/name type', '/category type', '/sku type', '/price type', '/stock type',
  ]);
});

test('reports every invalid and unknown member of a patch', () => {
  const patch = { price: 1.234, id: 'prd_1', colour: 'red' };
  assert.deepEqual(errors(() => parseProductPatch(patch, EUR)), [
    '/price precision', '/id unknown', '/colour unknown',
  ]);
  assert.deepEqual(errors(() => parseProductPatch([], EUR)), [' type']);
});

test('PUT uses the SKU in the path, and the body may repeat it', () => {
  const expected = { name: 'Mug', category: 'Kitchen', sku: 'É', priceMinor: 1999, stock: 7 };
  for (const body of [MEMBERS, { ...MEMBERS, sku: 'É' }, { ...MEMBERS, sku: 'E\u0301' }]) {
    assert.deepEqual(parseReplacement(body, 'E\u0301', EUR), expected);
  }
});

test('a replacement requires the same SKU and every other member', () => {
  assert.deepEqual(errors(() => parseReplacement({ ...MEMBERS, sku: 'B' }, 'A', EUR)), [
    '/sku mismatch',
  ]);
  assert.deepEqual(errors(() => parseReplacement({ sku: 'A', name: 'Mug' }, 'A', EUR)), [
    '/category required', '/price required', '/stock required',
  ]);
});

test('reports an invalid SKU in the path as an error in /sku', () => {
  assert.deepEqual(errors(() => parseReplacement(MEMBERS, ' A', EUR)), ['/sku characters']);
});

test('a patch rejects a SKU that no product may have', () => {
  assert.deepEqual(errors(() => parseProductPatch({ sku: 'A\u00a01' }, EUR)), ['/sku characters']);
});
