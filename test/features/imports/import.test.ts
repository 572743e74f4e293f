/** POST /api/v1/products/import with valid files. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { PRODUCT_FIELDS } from '../../../src/domain/catalogue/product-fields.ts';
import { formatProduct } from '../../../src/domain/catalogue/product.ts';
import { formatCsvHeader, formatCsvProduct } from '../../../src/transfer/csv-cells.ts';
import { assertProblem } from '../../api/problem.ts';
import { startServer } from '../../support/server.ts';
import { counts, CSV_HEADER, importFile, makeRows, ONE_BLANK_ROW } from './import.ts';

const NDJSON = 'application/x-ndjson';
const PRODUCTS = '/api/v1/products';
const MUG = { name: 'Mug', category: 'Kitchen', sku: 'M-1', price: 19.99, stock: 7 };

test('imports CSV, and responds with a summary', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = `${CSV_HEADER}Mug,Kitchen,M-1,19.99,7\nPot,Kitchen,P-1,5,0\n`;
  const { rows, summary } = await importFile(seller, { body });
  assert.deepEqual(rows, []);
  assert.deepEqual(summary, counts({ created: 2, position: 2 }));
  const { products } = (await seller.send({ path: PRODUCTS })).json();
  assert.equal(products.length, 2);
  const { id, created_at, updated_at, ...first } = products[0];
  assert.deepEqual(first, { ...MUG, currency: 'EUR', position: 1 });
});

test('answers 405 to methods other than POST', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  for (const method of ['GET', 'DELETE']) {
    const answer = await seller.send({ method, path: `${PRODUCTS}/import` });
    assertProblem(answer, 405, 'method-not-allowed');
  }
});

test('imports NDJSON', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = `${JSON.stringify(MUG)}\n${JSON.stringify({ ...MUG, sku: 'M-2' })}`;
  const { summary } = await importFile(seller, { body, type: NDJSON });
  assert.deepEqual(summary, counts({ created: 2, position: 2 }));
});

test('reports each rejected row, in order, and writes the others', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = `${CSV_HEADER}A,K,A-1,1,1\n,K,B-1,1.9999,1\nC,K,C-1,1,1\nD,K,,x,1\n`;
  const { rows, summary } = await importFile(seller, { body });
  assert.deepEqual(summary, counts({ created: 2, failed: 2, position: 2 }));
  assert.deepEqual(rows.map(({ line, sku, status }) => [line, sku, status]), [
    [3, 'B-1', 'failed'], [5, null, 'failed'],
  ]);
  for (const { errors } of rows) {
    for (const error of errors) assert.deepEqual(Object.keys(error), ['pointer', 'code', 'detail']);
  }
  assert.deepEqual(rows.map(({ errors }) => errors.map((one: { pointer: string; code: string }) =>
    `${one.pointer} ${one.code}`)), [
    ['/price precision'], ['/price format', '/sku blank'],
  ]);
});

test('reports every row with report=all', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await importFile(seller, { body: `${CSV_HEADER}A,K,A-1,1,1\nB,K,B-1,1,1\n` });
  const body = `${CSV_HEADER}A,K,A-1,1,1\nB,K,B-1,2,1\n\nC,K,C-1,1,1\n,,,,\nD,K,D-1,1,-1\n`;
  const { rows, summary } = await importFile(seller, { body, query: 'report=all' });
  assert.deepEqual(rows.map(({ line, sku, status }) => [line, sku, status]), [
    [2, 'A-1', 'unchanged'], [3, 'B-1', 'updated'], [5, 'C-1', 'created'], [7, 'D-1', 'failed'],
  ]);
  assert.deepEqual(rows.map((row) => 'errors' in row), [false, false, false, true]);
  assert.deepEqual(summary, counts({
    created: 1, updated: 1, unchanged: 1, failed: 1, position: 4, ...ONE_BLANK_ROW,
  }));
});

test('changes no existing product with mode=create', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create({ ...MUG, stock: 1 });
  const body = `${CSV_HEADER}Mug,Kitchen,M-1,19.99,7\nPot,Kitchen,P-1,5,0\nPan,K,P-1,6,1\n`;
  const { rows, summary } = await importFile(seller, { body, query: 'mode=create' });
  assert.deepEqual(rows.map(({ line, sku, status, errors: [{ pointer, code }] }) =>
    [line, sku, status, pointer, code]), [
    [2, 'M-1', 'failed', '/sku', 'taken'], [4, 'P-1', 'failed', '/sku', 'taken'],
  ]);
  const { advice, ...rest } = summary;
  assert.deepEqual(rest, counts({ created: 1, failed: 2, position: 2 }));
  assert.match(advice, /^2 rejected rows have the SKU of a product that exists\. .*mode=upsert\.$/);
  const { products } = (await seller.send({ path: PRODUCTS })).json();
  assert.deepEqual(products.map(({ name, stock }: typeof MUG) => [name, stock]), [
    ['Mug', 1], ['Pot', 0],
  ]);
});

test('lets the last of several rows with one SKU win', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = `${CSV_HEADER}First,K,X,1,1\nSecond,K,X,1,1\n${makeRows(2_500)}Third,K,X,1,1\n`
    + 'Third,K,X,1,1\n';
  const { summary } = await importFile(seller, { body });
  assert.deepEqual(summary, {
    ...counts({ created: 2_501, updated: 2, unchanged: 1, duplicates: 3, position: 2_503 }),
    duplicate_rows: [[3, 2], [2_504, 3], [2_505, 2_504]]
      .map(([line, overrides]) => ({ line, sku: 'X', overrides })),
  });
  const [product] = (await seller.send({ path: PRODUCTS })).json().products;
  assert.deepEqual([product.sku, product.name], ['X', 'Third']);
});

test('changes nothing in a dry run', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create(MUG);
  const body = `${CSV_HEADER}Mug,Kitchen,M-1,19.99,8\n${makeRows(1_500)}Mug,Kitchen,M-1,19.99,8\n`
    + 'Again,K,SKU-3,1,1\nFaulty,K,F,x,1\n';
  const before = (await seller.send({ path: PRODUCTS })).text;
  const query = 'report=all&duplicates=last';
  const tried = await importFile(seller, { body, query: `dry_run=true&${query}` });
  assert.deepEqual(tried.summary, {
    ...counts({ created: 1_500, updated: 2, unchanged: 1, failed: 1, duplicates: 2, position: 1 }),
    duplicate_rows: [
      { line: 1_503, sku: 'M-1', overrides: 2 }, { line: 1_504, sku: 'SKU-3', overrides: 5 },
    ],
  });
  assert.deepEqual(tried.rows.at(-2),
    { line: 1_504, sku: 'SKU-3', status: 'updated', overrides: 5 });
  assert.equal((await seller.send({ path: PRODUCTS })).text, before);
  const made = await importFile(seller, { body, query: `dry_run=false&${query}` });
  assert.deepEqual(made.rows, tried.rows);
  assert.deepEqual(made.summary, { ...tried.summary, position: 1_503 });
});

test('reports the same for a dry run with mode=create as for the import', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create(MUG);
  const body = `${CSV_HEADER}Mug,Kitchen,M-1,1,1\nA,K,A,1,1\nB,K,A,1,1\n`;
  const query = 'mode=create&report=all';
  const tried = await importFile(seller, { body, query: `${query}&dry_run=true` });
  const made = await importFile(seller, { body, query });
  assert.deepEqual(tried.rows, made.rows);
  const { advice, ...rest } = tried.summary;
  assert.deepEqual(rest, counts({ created: 1, failed: 2, position: 1 }));
  assert.equal(made.summary.advice, advice);
});

test('does not change the catalogue of another seller', async (t) => {
  const server = await startServer(t);
  const one = await server.makeSeller();
  const other = await server.makeSeller();
  await other.create(MUG);
  const before = (await other.send({ path: PRODUCTS })).text;
  const body = `${CSV_HEADER}Other,Kitchen,M-1,1,1\n`;
  assert.deepEqual((await importFile(one, { body })).summary, counts({ created: 1, position: 1 }));
  assert.equal((await other.send({ path: PRODUCTS })).text, before);
});

test('rejects rows in another currency', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller({ currency: 'JPY' });
  const header = 'name,category,sku,price,stock,currency\n';
  const body = `${header}A,K,A,1,1,EUR\nB,K,B,1,1,JPY\nC,K,C,1.5,1,JPY\n`;
  const { rows, summary } = await importFile(seller, { body });
  assert.deepEqual(rows.map(({ sku, errors: [{ pointer, code }] }) => [sku, pointer, code]), [
    ['A', '/currency', 'mismatch'], ['C', '/price', 'precision'],
  ]);
  assert.equal(summary.created, 1);
});

test('reads a file compressed with gzip', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = gzipSync(CSV_HEADER + makeRows(3_000));
  const { summary } = await importFile(seller, { body, headers: { 'content-encoding': 'gzip' } });
  assert.deepEqual(summary, counts({ created: 3_000, position: 3_000 }));
});

test('accepts cells of many KiB, and names the ignored columns', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const html = '<p class=""x"">line\n</p>'.repeat(8_000);
  const rows = Array.from({ length: 12 }, (_, n) => `A,K,A-${n},1,1,"${html}",x\n`).join('');
  const body = `name,category,sku,price,stock,Body,Size\n${rows}`;
  const { summary } = await importFile(seller, { body });
  assert.deepEqual(summary, {
    ...counts({ created: 12, position: 12 }), ignored_columns: ['Body', 'Size'],
  });
});

test('reads the columns that map names', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const map = encodeURIComponent('name:Title,price:Price, net');
  const body = 'Title;category;sku;Price, net;stock\nMug;K;M-1;19,99;7\n';
  const { summary } = await importFile(seller, { body, query: `map=${map}` });
  assert.deepEqual(summary, counts({ created: 1, position: 1 }));
});

test('fills blank cells with defaults', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = 'Name,SKU,Price,Stock\nMug,M-1,19.99,\nPot,P-1,5,2\n';
  const { summary } = await importFile(seller, { body, query: 'default=stock:0,category:Misc' });
  assert.deepEqual(summary, counts({ created: 2, position: 2 }));
  const { products } = (await seller.send({ path: PRODUCTS })).json();
  assert.deepEqual(products.map(({ category, stock }: typeof MUG) => [category, stock]), [
    ['Misc', 0], ['Misc', 2],
  ]);
});

test('accepts a file with only a header', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create();
  const { rows, summary } = await importFile(seller, { body: CSV_HEADER });
  assert.deepEqual(rows, []);
  const notes = ['Nothing to import: the file has no rows.'];
  assert.deepEqual(summary, counts({ position: 1, notes }));
});

test('finds all rows of our own export unchanged', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const name of ['=1+1', '@x', "'=1", '"q", r', '🥄', 'שלום', ' outer ', '+', '-', 'a;b']) {
    assert.equal((await seller.create({ name, category: name })).status, 201);
  }
  const { products } = await server.store.listProducts(seller.sellerId, {
    after: undefined, limit: 100,
  });
  const csv = formatCsvHeader(PRODUCT_FIELDS.map(({ name }) => name))
    + products.map((product) => formatCsvProduct(product, PRODUCT_FIELDS)).join('');
  const expected = counts({ unchanged: 10, position: 10 });
  assert.deepEqual((await importFile(seller, { body: csv })).summary, expected);
  const ndjson = products.map((product) => `${formatProduct(product)}\n`).join('');
  assert.deepEqual((await importFile(seller, { body: ndjson, type: NDJSON })).summary, expected);
});

test('sends spaces to keep the response alive while it has no row to report', async (t) => {
  const server = await startServer(t, {});
  const { key } = await server.makeSeller();
  const start = performance.now();
  let calls = 0;
  t.mock.method(performance, 'now', () => start + 20_000 * (calls += 1));
  const rows = Array.from({ length: 2_500 }, (_, n) => `S-${n},Mug,Kitchen,1,1`);
  const { text, status } = await server.send({
    method: 'POST', path: '/api/v1/products/import',
    headers: { 'x-api-key': key, 'content-type': 'text/csv' },
    body: `sku,name,category,price,stock\n${rows.join('\n')}\n`,
  });
  assert.equal(status, 200);
  assert.match(text, /^ +\{"summary":\{"created":2500,[^\n]+\}\n$/);
});
