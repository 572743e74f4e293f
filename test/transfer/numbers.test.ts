/** Numbers in cells: each notation is read as meant, or rejected as unclear. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type DecimalMark, findColumnMark, parseLevel, parseNumber,
} from '../../src/transfer/numbers.ts';

const MARKS = [undefined, 'point', 'comma'] as const;

/** The number, or the code of the error. */
const read = (cell: string, mark?: DecimalMark, isWhole = false): number | string => {
  const parsed = parseNumber(cell, { mark, isWhole });
  if ('value' in parsed) return parsed.value;
  assert.ok(parsed.error.detail.length > 5);
  return parsed.error.code;
};
const readWhole = (cell: string, mark?: DecimalMark): number | string => read(cell, mark, true);

test('reads decimals with one decimal mark, white space around them and trailing zeros', () => {
  for (const [cell, value] of [
    ['0', 0], ['7', 7], ['19.99', 19.99], [' 19.9\t', 19.9], ['34.0000', 34], ['10.0', 10],
    ['007', 7], ['-5', -5], ['999999999999.99', 999_999_999_999.99], ['\u00a012', 12],
    ['1.2340', 1.234], ['0.500', 0.5], ['1234.567', 1234.567], ['-0', 0],
  ] as const) {
    assert.equal(read(cell), value, cell);
    assert.equal(read(cell, 'point'), value, cell);
    const other = cell.replace('.', ',');
    assert.equal(read(other), value, other);
    assert.equal(read(other, 'comma'), value, other);
  }
});

test('reads thousands separators that differ from the decimal mark', () => {
  for (const [cell, value] of [
    ['1.234,50', 1234.5], ['1,234.50', 1234.5], ['1.234.567', 1_234_567], ['1,234,567', 1_234_567],
    ['1 234', 1234], ['1\u00a0234,5', 1234.5], ['1\u202f234', 1234], ['1\'234', 1234],
    ['1’234.0', 1234], ['-1.234,5', -1234.5], ['1.234,567', 1234.567], ['12 345 678', 12_345_678],
  ] as const) assert.equal(read(cell), value, cell);
});

test('rejects a mark before three digits unless the decimal mark is known', () => {
  for (const cell of ['1,234', '1.234', '1.000', '-1,000', '250,000', '999.999']) {
    assert.equal(read(cell), 'format', cell);
    assert.equal(readWhole(cell), 'format', cell);
  }
  const parsed = parseNumber('1.200', { mark: undefined, isWhole: false });
  assert.match('error' in parsed ? parsed.error.detail : '',
    /^Could mean 1200, or 1 with the decimals 200\. Set decimal=point or decimal=comma\.$/);
  assert.deepEqual([read('1.200', 'point'), read('1.200', 'comma')], [1.2, 1200]);
  assert.deepEqual([read('1,200', 'point'), read('1,200', 'comma')], [1200, 1.2]);
  assert.deepEqual([readWhole('250,000', 'comma'), readWhole('250,000', 'point')], [250, 250_000]);
});

test('rejects a number that contradicts the decimal mark, and says how to write it', () => {
  for (const [cell, mark, remedy] of [
    ['19,99', 'point', /Write 19\.99, or set decimal=comma/],
    ['1.250,50', 'point', /Write 1250\.50,/], ['1,250.50', 'comma', /Write 1250,50,/],
    ['19.99', 'comma', /Write 19,99, or set decimal=point/], ['1.234.567', 'point', /1234567/],
  ] as const) {
    const parsed = parseNumber(cell, { mark, isWhole: false });
    assert.match('error' in parsed ? parsed.error.detail : '', remedy, cell);
  }
});

test('rejects other notations of numbers', () => {
  for (const mark of MARKS) {
    for (const cell of ['€5', '5 EUR', '$1', '1e3', '1,2,3', '.5', '5.', ',5', '+5', '--5', '−5',
      '0x10', 'NaN', 'Infinity', '٣', '1_000', 'five', '(3)', '3-', '1.234,567.8', '1.234.56',
      '12.34.567', '1 234\u00a0567', '0 123', '9'.repeat(100_000), '1.234.'.repeat(50_000)]) {
      assert.equal(read(cell, mark), 'format', `${cell.slice(0, 20)} ${mark}`);
    }
    for (const cell of ['', ' ', '\t']) assert.equal(read(cell, mark), 'blank');
  }
  assert.equal(read('0.10000000000000000001'), 'precision');
});

test('reads whole numbers with decimals that are 0, and rejects fractions', () => {
  for (const [cell, value] of [
    ['12', 12], ['12,0', 12], ['12.00', 12], ['12.0000', 12], ['0,000', 0], ['1234,000', 1234],
    ['1.234,00', 1234], ['1000000001', 1_000_000_001], ['\'-3', -3],
  ] as const) assert.equal(readWhole(cell), value, cell);
  for (const cell of ['12,5', '0.500', '1.234,50']) {
    assert.equal(readWhole(cell), 'precision', cell);
  }
});

test('reads a plus sign only in differences', () => {
  assert.equal(readWhole('+3'), 'format');
  assert.deepEqual(parseNumber('+3', { mark: undefined, isWhole: true, isDifference: true }),
    { value: 3 });
});

test('rejects signs of stock levels, and names the remedy for differences', () => {
  assert.deepEqual(parseLevel('3', undefined, ''), { value: 3 });
  for (const cell of ['+5', '-3', '\'+5', '+1.234,0', '-0', '+0', '-0,00']) {
    const parsed = parseLevel(cell, undefined, 'Do this.');
    const detail = 'error' in parsed ? parsed.error.detail : '';
    assert.match(detail, /^A stock level has no sign\. Do this\.$/, cell);
  }
});

test('takes the decimal mark of a column from the cells that settle it, if they agree', () => {
  for (const [cells, mark] of [
    [['5', '1.200', '1,200', 'x', ''], undefined], [['1.200', '899,90'], 'comma'],
    [['1.250', '1.250.300'], 'comma'], [['1 200', '1,200.5'], 'point'], [['0,500', '1,5'], 'comma'],
    [['12.5', '1,5'], undefined], [['12.5', '7', '1,000.5'], 'point'], [[], undefined],
  ] as const) assert.equal(findColumnMark(cells), mark, cells.join(' | '));
});
