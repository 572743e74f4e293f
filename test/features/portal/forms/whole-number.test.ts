/** Whole numbers in addresses and hidden fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findWholeNumber } from '../../../../src/features/portal/forms/whole-number.ts';

test('reads whole numbers that a double holds', () => {
  for (const number of [0, 7, Number.MAX_SAFE_INTEGER]) {
    assert.equal(findWholeNumber(String(number)), number);
  }
});

test('finds none in any other text', () => {
  const largest = String(Number.MAX_SAFE_INTEGER + 1);
  const others = ['', '007', ' 1', '-1', '+1', '1.0', '1e3', '0x1', '١', largest, '9'.repeat(17)];
  for (const text of others) {
    assert.equal(findWholeNumber(text), undefined, text);
  }
});
