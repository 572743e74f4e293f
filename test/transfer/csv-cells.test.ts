/** CSV cells: products that are written and read back exactly, and numbers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Currency, findCurrency } from '../../src/domain/catalogue/currency.ts';
import type { ProductId, SellerId } from '../../src/domain/id.ts';
import {
  type Product, PRODUCT_FIELD_NAMES, PRODUCT_FIELDS, selectFields,
} from '../../src/domain/catalogue/product-fields.ts';
import { parseNewProduct } from '../../src/domain/catalogue/product.ts';
import { CsvRows } from '../../src/transfer/csv-rows.ts';
import {
  type DecimalMarks, formatCsvHeader, formatCsvProduct, parseDecimal, parseQuantity,
} from '../../src/transfer/csv-cells.ts';
import { readRecords, readRows } from './read.ts';

const EUR: Currency = { code: 'EUR', decimals: 2 };
const HOSTILE = [
  '=1+1', '+1', '-1', '@SUM(A1)', "'quoted", "'=1", "''", '＝1', '＋1', '－1', '＠1', '=', "'",
  '"', '""', '" "', ',', ';', 'a,b;c', ' outer space ', '\u00a0nbsp\u00a0', 'say "hi", twice',
  '🥄 spoon', '👩‍👩‍👧 family', 'שלום עולם', 'مرحبا', '\u202Eright to left', 'e\u0301 é', '漢字',
  '1e5', '00123', 'TRUE', '=HYPERLINK("http://x","y")', "=cmd|' /C calc'!A0",
];

function makeProduct(members: Readonly<Record<string, unknown>>, currency = EUR): Product {
  const sent = { name: 'Mug', category: 'Kitchen', sku: 'M-1', price: 19.99, stock: 7, ...members };
  return {
    ...parseNewProduct(sent, currency),
    // The casts: any number is an id here.
    sellerId: 1024 as SellerId, id: 2048 as ProductId, currency, position: 3,
    createdAt: Date.parse('2026-01-02T03:04:05.678Z'),
    updatedAt: Date.parse('2026-01-02T03:04:06.789Z'),
  };
}

test('writes all fields in their order, with CRLF', () => {
  assert.equal(
    formatCsvHeader(PRODUCT_FIELD_NAMES) + formatCsvProduct(makeProduct({}), PRODUCT_FIELDS),
    'id,name,category,sku,price,currency,stock,position,created_at,updated_at,'
      + 'barcode,description,metadata,low_stock,archived\r\n'
      + 'prd_0000000020000000000100,Mug,Kitchen,M-1,19.99,EUR,7,3,'
      + '2026-01-02T03:04:05.678Z,2026-01-02T03:04:06.789Z,,,,,\r\n',
  );
});

test('writes the requested fields in the requested order', () => {
  assert.equal(formatCsvHeader(['stock', 'sku']), 'stock,sku\r\n');
  assert.equal(formatCsvProduct(makeProduct({}), selectFields(['stock', 'sku'])), '7,M-1\r\n');
});

test('never writes a price with an exponent', () => {
  for (const [code, price, text] of [
    ['KWD', 0.001, '0.001'], ['EUR', 999_999_999_999.99, '999999999999.99'], ['JPY', 0, '0'],
  ] as const) {
    const currency = findCurrency(code);
    assert.ok(currency);
    const product = makeProduct({ price }, currency);
    assert.equal(formatCsvProduct(product, selectFields(['price'])), `${text}\r\n`);
  }
});

const NAME_AND_SKU = selectFields(['name', 'sku']);

test('writes no cell that a spreadsheet would execute as a formula', async () => {
  const lines = HOSTILE.map((name) => formatCsvProduct(makeProduct({ name }), NAME_AND_SKU));
  const text = lines.join('');
  const records = await readRecords(`name,sku\r\n${text}`);
  assert.equal(records.length, HOSTILE.length + 1);
  for (const { cells: [cell = ''] } of records) assert.doesNotMatch(cell, /^[=+\-@\t\r＝＋－＠]/);
});

test('restores hostile names, categories and SKUs exactly', async () => {
  const products = HOSTILE.map((text, n) =>
    // A SKU has no invisible characters.
    makeProduct({
      name: text, category: `${text}${n}`, sku: `${text.replace(/\p{Cf}/gu, '').trim()}${n}`,
    }));
  const lines = products.map((product) => formatCsvProduct(product, PRODUCT_FIELDS));
  const file = formatCsvHeader(PRODUCT_FIELD_NAMES) + lines.join('');
  const reader = new CsvRows(EUR, { map: new Map(), defaults: new Map(), isPartial: false });
  const rows = await readRows(reader, file);
  assert.deepEqual(
    rows.map(({ content }) => content?.product),
    products.map(({ name, category, sku, priceMinor, stock }) =>
      ({ name, category, sku, priceMinor, stock })),
  );
  assert.deepEqual(rows.map(({ sku }) => sku), products.map(({ sku }) => sku));
  assert.deepEqual(reader.ignoredColumns, []);
});

const readNumber = (cell: string, marks: DecimalMarks): number | string => {
  const parsed = parseDecimal(cell, marks);
  if ('value' in parsed) return parsed.value;
  assert.ok(parsed.error.detail.length > 5);
  return parsed.error.code;
};

test('reads plain decimals with white space around them and trailing zeros', () => {
  for (const marks of ['point', 'either', 'unclear'] as const) {
    for (const [cell, value] of [
      ['0', 0], ['7', 7], ['19.99', 19.99], [' 19.9\t', 19.9], ['34.0000', 34], ['10.0', 10],
      ['007', 7], ['-5', -5], ['999999999999.99', 999_999_999_999.99], ['\u00a012', 12],
    ] as const) assert.equal(readNumber(cell, marks), value, cell);
  }
});

test('rejects other notations of numbers', () => {
  for (const marks of ['point', 'either', 'unclear'] as const) {
    for (const cell of ['€5', '5 EUR', '$1', '1e3', '1 000', '1,234.50', '1.234,50', '1,2,3', '.5',
      '5.', ',5', '+5', '--5', '−5', '0x10', 'NaN', 'Infinity', '٣', "1'000", '1_000', 'five']) {
      assert.equal(readNumber(cell, marks), 'format', `${cell} ${marks}`);
    }
    for (const cell of ['', ' ', '\t']) assert.equal(readNumber(cell, marks), 'blank');
  }
});

test('reads a comma as a decimal mark only where it can be one', () => {
  assert.equal(readNumber('19,99', 'point'), 'format');
  assert.equal(readNumber('19,99', 'either'), 19.99);
  assert.equal(readNumber('19,99', 'unclear'), 19.99);
});

test('rejects three digits after a possible thousands separator', () => {
  for (const cell of ['1,234', '1.234', '1.000', '-1,000']) {
    assert.equal(readNumber(cell, 'unclear'), 'format', cell);
  }
  assert.equal(readNumber('1.2340', 'unclear'), 1.234);
  assert.equal(readNumber('1,234', 'either'), 1.234);
  assert.equal(readNumber('1.234', 'point'), 1.234);
});

test('reads whole quantities, with zero decimals and unambiguous thousands separators', () => {
  for (const [cell, value] of [
    ['12', 12], [' 12 ', 12], ['007', 7], ['-3', -3], ['+3', 3], ['\'-3', -3], ['12,0', 12],
    ['12.00', 12], ['12.0000', 12], ['0,000', 0], ['-0', 0], ['1234,000', 1234], ['1.234,00', 1234],
    ['1,234.00', 1234], ['1.234.567', 1_234_567], ['1,234,567', 1_234_567], ['1 234', 1234],
    ['1\u00a0234,000', 1234], ['1\u202f234', 1234], ['1\'234', 1234], ['1’234.0', 1234],
    ['-1.234,0', -1234], ['1000000001', 1_000_000_001],
  ] as const) assert.deepEqual(parseQuantity(cell), { value }, cell);
});

test('rejects fractions, ambiguous separators, and text that is not a number', () => {
  for (const [cell, code] of [
    ['', 'blank'], [' ', 'blank'], ['\'', 'format'], ['12,5', 'precision'], ['0.500', 'precision'],
    ['1.234,50', 'precision'], ['12,000', 'format'], ['12.000', 'format'], ['-1.234', 'format'],
    ['1,2,3', 'format'], ['1.234,567.8', 'format'], ['1e3', 'format'], ['0x10', 'format'],
    ['12 pcs', 'format'], ['€12', 'format'], ['(3)', 'format'], ['3-', 'format'],
    ['Infinity', 'format'], ['NaN', 'format'], ['--1', 'format'], ['.', 'format'],
    ['9'.repeat(100_000), 'format'], ['1.234.'.repeat(50_000), 'format'],
  ] as const) {
    const parsed = parseQuantity(cell);
    assert.equal('error' in parsed && parsed.error.code, code, cell.slice(0, 20));
  }
});
