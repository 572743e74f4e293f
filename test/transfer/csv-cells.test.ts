/** CSV cells: products that are written and read back exactly, and the count of cells. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Currency, findCurrency } from '../../src/domain/catalogue/currency.ts';
import { formatProductId, type ProductId, type SellerId } from '../../src/domain/id.ts';
import {
  type Product, PRODUCT_FIELD_NAMES, PRODUCT_FIELDS, selectFields,
} from '../../src/domain/catalogue/product-fields.ts';
import { parseNewProduct } from '../../src/domain/catalogue/product.ts';
import { CsvRows } from '../../src/transfer/csv-rows.ts';
import {
  countColumns, formatCsvHeader, formatCsvProduct, validateCellCount,
} from '../../src/transfer/csv-cells.ts';
import { readRecords, readRows } from './read.ts';

const EUR: Currency = { code: 'EUR', decimals: 2 };
const HOSTILE = [
  '=1+1', '+1', '-1', '@SUM(A1)', "'quoted", "'=1", "''", '＝1', '＋1', '－1', '＠1', '=', "'",
  '"', '""', '" "', ',', ';', 'a,b;c', ' outer space ', '\u00a0nbsp\u00a0', 'say "hi", twice',
  '🥄 spoon', '👩‍👩‍👧 family', 'שלום עולם', 'مرحبا', '\u202Eright to left', 'e\u0301 é', '漢字',
  '#N/A', '#NV', '#REF!', '#¡VALOR!', 'NULL', '\\N', "'NULL", "'Mug'", "''Mug'", "=1'", "'=1'",
  '#1', 'NULLS', '1e5', '00123', 'TRUE', '=HYPERLINK("http://x","y")', "=cmd|' /C calc'!A0",
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
    products.map(({ sellerId, id, name, category, sku, priceMinor, stock }) =>
      ({ name, category, sku, priceMinor, stock, id: formatProductId(sellerId, id) })),
  );
  assert.deepEqual(rows.map(({ sku }) => sku), products.map(({ sku }) => sku));
  assert.deepEqual(reader.ignoredColumns, []);
});

test('rejects rows with more cells than columns, unless the others are blank', () => {
  assert.equal(validateCellCount(['a', 'b', '', ' '], 2), undefined);
  const detail = validateCellCount(['a', 'b', 'c'], 2)?.detail ?? '';
  assert.match(detail, /3 cells, the header 2.*quotes/);
});

test('rejects rows with fewer cells than columns, unless they may end in blank cells', () => {
  const detail = validateCellCount(['a'], 2)?.detail ?? '';
  assert.match(detail, /1 cells, the header 2\..*line break.*short_rows=blank/);
  assert.equal(validateCellCount(['a'], 2, 'blank'), undefined);
  assert.equal(validateCellCount(['a', 'b'], countColumns(['x', 'y', '', ' '])), undefined);
});
