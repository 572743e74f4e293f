/** The kinds of cells: number formats, numbers, dates, and what a cell may be used for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CellUse } from '../../../src/transfer/csv-reader.ts';
import {
  type Cell, classifyFormat, parseNumberCell, SheetRow,
} from '../../../src/transfer/workbook/cells.ts';
import { forRandom } from '../../domain/random.ts';

test('classifies built-in formats', () => {
  for (const [kind, ids] of [
    ['number', [0, 1, 3, 37, 38, 49]], ['scaled', [9, 10]],
    ['date', [14, 15, 22, 27, 36, 45, 46, 47, 50, 58, 71, 81]],
    ['formatted', [2, 4, 5, 8, 11, 12, 39, 40, 41, 44, 48, 59, 163]],
  ] as const) {
    for (const id of ids) assert.equal(classifyFormat(id, undefined), kind, String(id));
  }
  assert.equal(classifyFormat(14, '0'), 'number');
});

test('classifies formats by their codes', () => {
  for (const [kind, codes] of [
    ['number', ['General', 'GENERAL', 'general;-general', '0', '#', '@', '0;-0', '0_ ', '0_);(0)',
      '[Red]0', '[$-409]General', '[Color10]0', '[$-F800]@', '#,##0', '#,##0_);(#,##0)',
      '#,##0;[Red]-#,##0']],
    ['formatted', ['00000', '0.00', '#,##0.00', '#,##0000', '0000000000000', '0 "kg"', '"SKU-"0',
      '0\\ \\d', '0.00E+00', '##0.0E+0', '# ?/?', '#,##0.00 [$€-407]', '_-* #,##0.00 "€"_-',
      '0;-0;"none"', ';;;', '[>100]0;0', '0 "days"', '"m"0', '[$USD] 0', '']],
    ['date', ['yyyy-mm-dd', 'd/m/yy h:mm', 'mmm', 'dddd', '[h]:mm:ss', '[mm]:ss', '[s]', 'hh:mm',
      '[$-409]d-mmm-yy;@', '[$-F400]h:mm:ss AM/PM', 'ge.m.d', 'yyyy"年"m"月"d"日"', 'bbbb',
      'General yyyy', '[Red]m']],
    ['scaled', ['0%', '0.0 %', '#,##0,', '0.0,,"M"', '0,;-0,']],
  ] as const) {
    for (const code of codes) assert.equal(classifyFormat(164, code), kind, code);
  }
});

const numberOf = (text: string): string => {
  const { kind, text: number } = parseNumberCell(text, 'number', false);
  return kind === 'number' ? number : `${kind} ${number}`;
};

test('rounds numbers to 15 digits, and writes them without exponents', () => {
  for (const [text, number] of [
    ['12.300000000000001', '12.3'], ['0.30000000000000004', '0.3'], ['1.005', '1.005'],
    ['4006381333931', '4006381333931'], ['4.006381333931E+12', '4006381333931'], ['1E3', '1000'],
    ['1e-7', '0.0000001'], ['12.50', '12.5'], ['0012', '12'], ['-0', '0'], ['-1.50', '-1.5'],
    ['+5', '5'], ['.5', '0.5'], ['5.', '5'], ['0.0', '0'], ['99.999999999999999', '100'],
    ['1234567890123456789', '1234567890123460000'], ['999999999999999.9', '1000000000000000'],
    ['123456.789', '123456.789'], ['1.23456789012345E-3', '0.00123456789012345'],
    ['1e21', '1000000000000000000000'], ['-1e-5', '-0.00001'], ['1e-400', '0'],
  ] as const) assert.equal(numberOf(text), number, text);
  assert.equal(numberOf('1e308').length, 309);
});

test('writes any number as a decimal that is equal to 15 digits', () => {
  forRandom(2_000, (random) => {
    const exponent = random.below(40) - 20;
    const value = (random.below(2 ** 53) - 2 ** 52) * 10 ** exponent;
    const text = numberOf(String(value));
    assert.match(text, /^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/);
    assert.equal(Number(text), Number(value.toPrecision(15)) + 0);
  });
});

test('has what is no number as an error', () => {
  for (const text of ['1,5', '0x10', 'NaN', 'INF', '1e400', '1 2', '--1', '1e', '.', 'e5', '１']) {
    assert.equal(numberOf(text), `error ${text}`);
  }
});

test('writes dates in ISO 8601, by both systems of dates', () => {
  for (const [serial, is1904, date] of [
    ['46082', false, '2026-03-01'], ['44620', true, '2026-03-01'], ['46082.5', false,
      '2026-03-01T12:00:00'], ['46082.520833333336', false, '2026-03-01T12:30:00'],
    ['61', false, '1900-03-01'], ['2958465', false, '9999-12-31'], ['-1', false, '-1'],
    ['2958466', false, '2958466'],
  ] as const) {
    assert.deepEqual(parseNumberCell(serial, 'date', is1904), { kind: 'date', text: date });
  }
});

test('allows each kind of cell only for what it is', () => {
  const fault = (kind: Cell['kind'], use: CellUse, text = '12') => {
    const row = new SheetRow(1);
    row.set(0, { kind, text });
    return row.validate(0, use)?.detail ?? 'allowed';
  };
  for (const use of ['identifier', 'number', 'text'] as const) {
    for (const kind of ['blank', 'text', 'number'] as const) {
      assert.equal(fault(kind, use), 'allowed', `${kind} ${use}`);
    }
    assert.match(fault('error', use, '#N/A'), /cell #N\/A is an error\. Correct it/);
    assert.match(fault('uncalculated', use, ''), /The cell is a formula without a value\. Save/);
    assert.match(fault('merged', use), /is merged with others\. Unmerge/);
    assert.match(fault('date', use, '2026-03-01'), /cell 2026-03-01 is a date\. Format .* as text/);
    assert.match(fault('scaled', use), /is shown as another number, such as percent\. Format/);
  }
  assert.equal(fault('formatted', 'number'), 'allowed');
  for (const use of ['identifier', 'text'] as const) {
    assert.match(fault('formatted', use), /cell 12 is shown with zeros or text .*\. Format/);
  }
  assert.equal(fault('boolean', 'text', 'TRUE'), 'allowed');
  assert.match(fault('boolean', 'identifier', 'TRUE'), /is true or false\. Format/);
  assert.match(fault('boolean', 'number', 'TRUE'), /is true or false\. Format/);
  for (const text of ['0', '4006381333931', '999999999999999']) {
    assert.equal(fault('number', 'identifier', text), 'allowed');
  }
  for (const text of ['1.5', '-1', '1000000000000000', '']) {
    assert.match(fault('number', 'identifier', text), /no whole number of up to 15 digits/);
  }
});
