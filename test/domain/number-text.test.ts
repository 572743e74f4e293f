/** Which decimal numbers a double represents exactly as written. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { validateNumberText } from '../../src/domain/number-text.ts';
import { forRandom } from './random.ts';

describe('accepts', () => {
  for (const text of [
    '0', '-0', '0.0', '00', '0e5', '-0.000e-400', '7', '007', '-5', '12.50', '1.0', '0.1',
    '34.0000',
    '1e2', '1E+2', '100e-2', '1.5e3', '0.00001', '999999999999.99', '1000000000000',
    '0.30000000000000004', '0.1000000000000000000000', '9007199254740991', '-9007199254740991',
    '123456789012345680', '12345678901234568e1', '1e308', '1.7976931348623157e308', '5e-324',
    '2.2250738585072014E-308', '0.000000000000000000000000125', `1${'0'.repeat(300)}`,
    `1${'0'.repeat(300)}e-300`, `0.${'0'.repeat(300)}1e+301`,
  ]) {
    test(text.slice(0, 40), () => assert.equal(validateNumberText(text), undefined));
  }
});

describe('rejects', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    precision: [
      '0.9999999999999999999999', '-0.9999999999999999999999', '1.00000000000000001', '1e-400',
      '-1e-400', '5e-325', '0.10000000000000001', '9007199254740993', '19.990000000000000001',
      '123456789012345678901234567890', `1${'0'.repeat(100)}1`, `0.${'0'.repeat(400)}1`,
    ],
    range: ['1e309', '-1e400', '9'.repeat(400), '1e99999999999999999999'],
  };
  for (const [code, texts] of Object.entries(cases)) {
    for (const text of texts) {
      test(`${text.slice(0, 40)}: ${code}`, () => {
        assert.equal(validateNumberText(text)?.code, code);
      });
    }
  }
});

test('accepts every number as JavaScript formats it', () => {
  const view = new DataView(new ArrayBuffer(8));
  forRandom(20_000, (random) => {
    for (const at of [0, 4]) view.setUint32(at, random.below(2 ** 32));
    const number = view.getFloat64(0);
    if (!Number.isFinite(number)) return;
    for (const text of [String(number), number.toExponential(), `${number}`.replace('e', 'E')]) {
      assert.equal(validateNumberText(text), undefined, text);
    }
  });
});

test('rejects every number with one digit more than a double can represent', () => {
  forRandom(5_000, (random) => {
    const text = `${random.below(10) + 1}.${String(random.below(2 ** 32)).padStart(10, '0')}1`;
    assert.equal(validateNumberText(`${text}0000000000`), undefined, text);
    assert.equal(validateNumberText(`${text}00000000001`)?.code, 'precision', text);
  });
});

test('rejects a number of two million digits', () => {
  const text = `1${'0'.repeat(2_000_000)}1`;
  assert.equal(validateNumberText(text)?.code, 'range');
  assert.equal(validateNumberText(`0.${text}`)?.code, 'precision');
});
