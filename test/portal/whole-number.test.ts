/** Whole numbers in addresses and hidden fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findWholeNumber } from '../../src/portal/whole-number.ts';

test('reads whole numbers that a double holds', () => {
  for (const [text, number] of [
    ['0', 0], ['007', 7], [String(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER],
  ] as const) {
    assert.equal(findWholeNumber(text), number, text);
  }
});

test('finds none in any other text', () => {
  const largest = String(Number.MAX_SAFE_INTEGER + 1);
  for (const text of ['', ' 1', '-1', '+1', '1.0', '1e3', '0x1', '١', largest, '9'.repeat(17)]) {
    assert.equal(findWholeNumber(text), undefined, text);
  }
});
