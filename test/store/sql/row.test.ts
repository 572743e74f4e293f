/** Columns of rows that do not contain what the schema promises. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeProduct } from '../../../src/store/sql/product-rows.ts';
import { readInteger, readOneOf, readOptional, readText } from '../../../src/store/sql/sql.ts';

test('rejects a value of another type or set than the column has', () => {
  const row = { n: 7, text: 'owner', nothing: null };
  assert.equal(readInteger(row, 'n'), 7);
  assert.equal(readOneOf(row, 'text', ['owner', 'viewer']), 'owner');
  assert.equal(readOptional(row, 'nothing', readText), undefined);
  for (const read of [
    () => readInteger(row, 'text'), () => readText(row, 'n'), () => readText(row, 'nothing'),
    () => readText(row, 'missing'), () => readOneOf(row, 'text', ['editor', 'viewer']),
    () => readOneOf(row, 'nothing', ['owner']),
  ]) assert.throws(read, { name: 'TypeError', message: /^Column \w+ is / });
});

test('rejects a product whose columns have other types', () => {
  assert.throws(() => decodeProduct({}, ['1']), { name: 'TypeError', message: /has another type/ });
});
