/** Formatting of counts and lists in messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCount, joinNames } from '../../src/domain/wording.ts';

test('formats counts as Intl does in English', () => {
  for (let digits = 1, count = 1; digits <= 15; digits += 1, count = count * 10 + digits % 10) {
    for (const number of [count, -count, count - 1]) {
      assert.equal(formatCount(number), number.toLocaleString('en'));
    }
  }
  assert.equal(formatCount(Number.MAX_SAFE_INTEGER), '9,007,199,254,740,991');
});

test('joins names as Intl does in British English', () => {
  const format = new Intl.ListFormat('en-GB');
  for (const names of [[], ['a'], ['a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'c', 'd']]) {
    assert.equal(joinNames(names), format.format(names));
  }
});
