/** The optional fields of products: valid and invalid values, and their JSON. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Currency } from '../../../src/domain/catalogue/currency.ts';
import {
  applyPatch, createProductFormatter, formatProduct, parseNewProduct, parseProductPatch,
  parseSnapshot,
} from '../../../src/domain/catalogue/product.ts';
import { type Product, selectFields } from '../../../src/domain/catalogue/product-fields.ts';
import type { ProductId, SellerId } from '../../../src/domain/id.ts';
import { catchAppError } from '../validation-errors.ts';

const EUR: Currency = { code: 'EUR', decimals: 2 };
const REQUIRED = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 19.99, stock: 7 };

function parse(members: object) {
  return parseNewProduct({ ...REQUIRED, ...members }, EUR);
}

function errorOf(members: object): string {
  const [issue] = catchAppError(() => parse(members)).issues;
  return `${issue?.pointer} ${issue?.code}: ${issue?.detail}`;
}

/** A product of seller 7. */
function makeProduct(members: object): Product {
  return {
    ...parse(members), sellerId: 7 as SellerId, id: 9 as ProductId, currency: EUR, position: 3,
    createdAt: 1_767_323_045_678, updatedAt: 1_767_323_045_679,
  };
}

test('null means no value, and a product omits members without a value', () => {
  const none = {
    barcode: null, description: null, metadata: null, low_stock: null, archived: null,
  };
  assert.equal(formatProduct(makeProduct(none)), formatProduct(makeProduct({})));
  assert.equal(formatProduct(makeProduct({ archived: false, metadata: {} })),
    formatProduct(makeProduct({})));
});

test('optional members come last in the JSON of a product, and are parsed from it', () => {
  const members = {
    barcode: '4006381333931', description: 'Line 1\n"2"', metadata: { b: '2', a: '1', 10: 'x' },
    low_stock: 0, archived: true,
  };
  const product = makeProduct(members);
  const json = formatProduct(product);
  assert.ok(json.endsWith('","barcode":"4006381333931","description":"Line 1\\n\\"2\\""'
    + ',"metadata":{"10":"x","a":"1","b":"2"},"low_stock":0,"archived":true}'), json);
  const { createdAt: _, ...read } = parseSnapshot(json, EUR);
  assert.deepEqual(read, parse(members));
});

test('selected members without a value are omitted', () => {
  const format = createProductFormatter(selectFields(['archived', 'barcode']));
  assert.equal(format(makeProduct({})), '{}');
  assert.equal(format(makeProduct({ archived: true })), '{"archived":true}');
  assert.equal(format(makeProduct({ barcode: '96385074', archived: true })),
    '{"barcode":"96385074","archived":true}');
});

describe('a barcode', () => {
  for (const barcode of [
    '96385074', '036000291452', '4006381333931', '10614141000415', '00000000', '0012345678905',
  ]) {
    test(`may be ${barcode}`, () => assert.equal(parse({ barcode }).barcode, barcode));
  }

  for (const [barcode, fault] of [
    ['4006381333932', 'format: The last digit must be 1'], ['96385075', 'format: The last digit'],
    ['36000291452', 'length: .* not 11\\. A spreadsheet may have removed leading zeros'],
    ['123456789', 'length'], ['400638133393X', 'format: Must consist of digits'],
    ['4.00638E+12', 'format'], ['', 'format'], [' 96385074', 'format'], ['٩٦٣٨٥٠٧٤', 'format'],
    [96385074, 'type'], [true, 'type'],
  ] as const) {
    test(`may not be ${JSON.stringify(barcode)}`, () =>
      assert.match(errorOf({ barcode }), new RegExp(`^/barcode ${fault}`)));
  }
});

describe('a description', () => {
  test('keeps its text, with line breaks as LF', () => {
    assert.equal(parse({ description: ' a\r\nb\rc\n\nd ' }).description, ' a\nb\nc\n\nd ');
  });

  test('has up to 5,000 code points', () => {
    const description = '😀'.repeat(5_000);
    assert.equal(parse({ description }).description, description);
    assert.match(errorOf({ description: `${description}a` }), /^\/description length/);
  });

  for (const [description, fault] of [
    ['', 'blank'], ['\n \n', 'blank'], ['a\tb', 'characters: .* except line breaks'],
    ['a\0', 'characters'], ['a\u2028b', 'characters'], ['\ud800', 'characters'], [5, 'type'],
  ] as const) {
    test(`may not be ${JSON.stringify(description)}`, () =>
      assert.match(errorOf({ description }), new RegExp(`^/description ${fault}`)));
  }
});

describe('metadata', () => {
  const pairs = (count: number) => Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`name ${index}`, 'x']));

  test('are kept in the order of their names', () => {
    assert.equal(parse({ metadata: { b: '"', a: '1' } }).metadata, '{"a":"1","b":"\\""}');
    assert.equal(parse(JSON.parse('{"metadata":{"__proto__":"1"}}') as object).metadata,
      '{"__proto__":"1"}');
  });

  test('have up to 20 pairs of up to 40 and 500 code points', () => {
    const longest = { ...pairs(19), ['😀'.repeat(40)]: '😀'.repeat(500) };
    assert.deepEqual(JSON.parse(parse({ metadata: longest }).metadata ?? ''), longest);
    for (const [metadata, fault] of [
      [pairs(21), 'length: Must have at most 20 pairs'],
      [{ ['a'.repeat(41)]: 'x' }, 'length: The name'],
      [{ a: 'x'.repeat(501) }, 'length: The value'],
      [{ '': 'x' }, 'blank'], [{ ' a': 'x' }, 'characters: .* white space'], [{ a: '' }, 'blank'],
      [{ a: 'b\nc' }, 'characters'], [{ a: 5 }, 'type: The value of "a"'], [['x'], 'type'],
      ['x', 'type'], [{ a: { b: 'c' } }, 'type'],
    ] as const) assert.match(errorOf({ metadata }), new RegExp(`^/metadata ${fault}`));
  });

  test('are merged by a patch, in which null removes a pair', () => {
    const before = parse({ metadata: { a: '1', b: '2' } });
    const patch = (metadata: unknown) =>
      applyPatch(before, parseProductPatch({ metadata }, EUR)).metadata;
    assert.equal(patch({ b: '3', c: '4' }), '{"a":"1","b":"3","c":"4"}');
    assert.equal(patch({ a: null, d: null }), '{"b":"2"}');
    assert.equal(patch({}), '{"a":"1","b":"2"}');
    assert.equal(patch({ a: null, b: null }), null);
    assert.equal(patch(null), null);
    assert.equal(parse({ metadata: { a: null } }).metadata, null);
    assert.match(catchAppError(() => patch(pairs(19))).issues[0]?.detail ?? '', /at most 20 pairs/);
    const exchanged = { ...pairs(20), a: null, b: null };
    assert.equal(Object.keys(JSON.parse(String(patch(exchanged))) as object).length, 20);
  });
});

test('a low-stock threshold is a whole number from 0 to 1,000,000,000', () => {
  for (const lowStock of [0, 1_000_000_000]) {
    assert.equal(parse({ low_stock: lowStock }).lowStock, lowStock);
  }
  for (const [value, code] of [
    [-1, 'range'], [1e9 + 1, 'range'], [0.5, 'precision'], ['1', 'type'],
  ]) {
    assert.match(errorOf({ low_stock: value }), new RegExp(`^/low_stock ${code}`));
  }
});

test('a product is archived, or not', () => {
  assert.equal(parse({ archived: true }).archived, true);
  assert.equal(parse({ archived: false }).archived, null);
  for (const archived of ['true', 1, {}]) assert.match(errorOf({ archived }), /^\/archived type/);
});
