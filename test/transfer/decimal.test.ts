/** Numbers as they stand in files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DecimalMarks, parseDecimal } from '../../src/transfer/decimal.ts';

const read = (cell: string, marks: DecimalMarks): number | string => {
  const parsed = parseDecimal(cell, marks);
  if ('value' in parsed) return parsed.value;
  assert.ok(parsed.error.detail.length > 5);
  return parsed.error.code;
};

test('reads plain decimals, with white space around them and zeros behind', () => {
  for (const marks of ['point', 'either', 'unclear'] as const) {
    for (const [cell, value] of [
      ['0', 0], ['7', 7], ['19.99', 19.99], [' 19.9\t', 19.9], ['34.0000', 34], ['10.0', 10],
      ['007', 7], ['-5', -5], ['999999999999.99', 999_999_999_999.99], ['\u00a012', 12],
    ] as const) assert.equal(read(cell, marks), value, cell);
  }
});

test('refuses whatever else people write', () => {
  for (const marks of ['point', 'either', 'unclear'] as const) {
    for (const cell of ['€5', '5 EUR', '$1', '1e3', '1 000', '1,234.50', '1.234,50', '1,2,3', '.5',
      '5.', ',5', '+5', '--5', '−5', '0x10', 'NaN', 'Infinity', '٣', "1'000", '1_000', 'five']) {
      assert.equal(read(cell, marks), 'format', `${cell} ${marks}`);
    }
    for (const cell of ['', ' ', '\t']) assert.equal(read(cell, marks), 'blank');
  }
});

test('takes a comma for a decimal mark only where it can be one', () => {
  assert.equal(read('19,99', 'point'), 'format');
  assert.equal(read('19,99', 'either'), 19.99);
  assert.equal(read('19,99', 'unclear'), 19.99);
});

test('refuses three digits after a mark where it may be one of thousands', () => {
  for (const cell of ['1,234', '1.234', '1.000', '-1,000']) {
    assert.equal(read(cell, 'unclear'), 'format', cell);
  }
  assert.equal(read('1.2340', 'unclear'), 1.234);
  assert.equal(read('1,234', 'either'), 1.234);
  assert.equal(read('1.234', 'point'), 1.234);
});
