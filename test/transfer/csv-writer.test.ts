/** Products as CSV, and that they come back exactly. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Currency, findCurrency } from '../../src/domain/catalogue/currency.ts';
import type { ProductId, SellerId } from '../../src/domain/id.ts';
import { PRODUCT_FIELDS } from '../../src/domain/catalogue/product-fields.ts';
import { parseNewProduct, type Product } from '../../src/domain/catalogue/product.ts';
import { CsvRows } from '../../src/transfer/csv-rows.ts';
import { formatCsvHeader, formatCsvProduct } from '../../src/transfer/csv-writer.ts';
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
    // Any numbers will do for ids here.
    sellerId: 1024 as SellerId, id: 2048 as ProductId, currency, position: 3,
    createdAt: Date.parse('2026-01-02T03:04:05.678Z'),
    updatedAt: Date.parse('2026-01-02T03:04:06.789Z'),
  };
}

test('writes all members in their order, with CRLF', () => {
  assert.equal(
    formatCsvHeader(PRODUCT_FIELDS) + formatCsvProduct(makeProduct({}), PRODUCT_FIELDS),
    'id,name,category,sku,price,currency,stock,position,created_at,updated_at\r\n'
      + 'prd_0000000020000000000100,Mug,Kitchen,M-1,19.99,EUR,7,3,'
      + '2026-01-02T03:04:05.678Z,2026-01-02T03:04:06.789Z\r\n',
  );
});

test('writes the members that are asked for, in the order that is asked for', () => {
  assert.equal(formatCsvHeader(['stock', 'sku']), 'stock,sku\r\n');
  assert.equal(formatCsvProduct(makeProduct({}), ['stock', 'sku']), '7,M-1\r\n');
});

test('never writes a price with an exponent', () => {
  for (const [code, price, text] of [
    ['KWD', 0.001, '0.001'], ['EUR', 999_999_999_999.99, '999999999999.99'], ['JPY', 0, '0'],
  ] as const) {
    const currency = findCurrency(code);
    assert.ok(currency);
    assert.equal(formatCsvProduct(makeProduct({ price }, currency), ['price']), `${text}\r\n`);
  }
});

test('begins no cell with what a spreadsheet takes for a formula', async () => {
  const lines = HOSTILE.map((name) => formatCsvProduct(makeProduct({ name }), ['name', 'sku']));
  const text = lines.join('');
  const records = await readRecords(`name,sku\r\n${text}`);
  assert.equal(records.length, HOSTILE.length + 1);
  for (const { cells: [cell = ''] } of records) assert.doesNotMatch(cell, /^[=+\-@\t\r＝＋－＠]/);
});

test('gives hostile names, categories and SKUs back exactly as they were', async () => {
  const products = HOSTILE.map((text, n) =>
    // A SKU has nothing invisible in it.
    makeProduct({
      name: text, category: `${text}${n}`, sku: `${text.replace(/\p{Cf}/gu, '').trim()}${n}`,
    }));
  const lines = products.map((product) => formatCsvProduct(product, PRODUCT_FIELDS));
  const file = formatCsvHeader(PRODUCT_FIELDS) + lines.join('');
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
