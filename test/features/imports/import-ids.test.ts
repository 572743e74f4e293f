/** Imports of rows with ids, and of SKUs that a spreadsheet has changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TestSeller, startServer } from '../../support/server.ts';
import { counts, CSV_HEADER, importFile } from './import.ts';

const NDJSON = 'application/x-ndjson';

async function readNames(seller: TestSeller): Promise<Record<string, string>> {
  const { products } = (await seller.send({ path: '/api/v1/products' })).json();
  return Object.fromEntries(products.map(({ sku, name }: { sku: string; name: string }) =>
    [sku, name]));
}

test('rejects an own export in which a spreadsheet has changed a SKU', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  for (const [sku, name] of [['0123', 'Cup'], ['123', 'Jug'], ['0456', 'Pot']]) {
    await seller.create({ sku, name });
  }
  const path = '/api/v1/products?format=csv';
  const file = (await seller.send({ path })).text.replaceAll(/,0(\d{3}),/g, ',$1,');
  assert.match(file, /Cup.*,123,[^]*Pot.*,456,/);
  for (const query of ['mode=update', 'mode=upsert', 'mode=create', 'dry_run=true']) {
    const { rows, summary } = await importFile(seller, { body: file, query });
    const rejected = rows.filter(({ errors: [{ code }] }) => code === 'mismatch');
    assert.deepEqual(rejected.map(({ line, sku, errors: [{ pointer, detail }] }) =>
      [line, sku, pointer, detail.split('.')[0]]), [
      [2, '123', '/id', 'Is the id of your product "0123"'],
      [4, '456', '/id', 'Is the id of your product "0456"'],
    ]);
    assert.match(rejected[0].errors[0].detail, /A file cannot change a SKU\.$/);
    assert.match(summary.advice, /^2 rejected rows have the id of another product: .* PATCH /);
    assert.equal(summary.unknown_ids, undefined);
  }
  assert.deepEqual(await readNames(seller), { '0123': 'Cup', '123': 'Jug', '0456': 'Pot' });
});

test('ignores and counts ids of other shops and of deleted products', async (t) => {
  const server = await startServer(t);
  const [seller, other] = [await server.makeSeller(), await server.makeSeller()];
  const foreign = (await other.create({ sku: 'A' })).json().id;
  const deleted = (await seller.create({ sku: 'GONE' })).json().id;
  await seller.send({ method: 'DELETE', path: `/api/v1/products/${deleted}` });
  const lines = [['A', foreign], ['GONE', deleted], ['C', '17'], ['D', ''], ['E', null]];
  const body = lines.map(([sku, id]) =>
    `${JSON.stringify({ name: 'N', category: 'C', sku, price: 1, stock: 1, id })}\n`).join('');
  const notes = ['3 rows have an id that none of your products has. It was ignored.'];
  const dryRun = await importFile(seller, { body, type: NDJSON, query: 'dry_run=true' });
  const { summary } = await importFile(seller, { body, type: NDJSON });
  for (const { position, ...others } of [dryRun.summary, summary]) {
    assert.deepEqual({ position: 7, ...others },
      counts({ created: 5, position: 7, unknown_ids: 3, notes }));
  }
  const csv = `ID,${CSV_HEADER} ${foreign} ,N,C,F,1,1\n`;
  assert.equal((await importFile(seller, { body: csv })).summary.unknown_ids, 1);
  // Of a file that names another column as SKU, the column is not read.
  const mapped = await importFile(seller, { body: csv, query: 'map=sku:ID' });
  assert.equal(mapped.summary.unknown_ids, undefined);
});

test('creates no product from a number that a spreadsheet has shortened', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  await seller.create({ sku: '1E+12', name: 'Real' });
  const body = `${CSV_HEADER}A,K,4.00638E+12,1,1\nB,K,"4,00638E+12",1,1\nC,K,1E+12,1,1\n`;
  const { rows, summary } = await importFile(seller, { body });
  assert.deepEqual(rows.map(({ sku, errors: [{ pointer, code }] }) => [sku, pointer, code]),
    [['4.00638E+12', '/sku', 'format'], ['4,00638E+12', '/sku', 'format']]);
  assert.match(rows[0].errors[0].detail,
    /^You have no product with this SKU\. A spreadsheet has shortened this number\. Format the /);
  assert.deepEqual([summary.created, summary.updated, summary.failed], [0, 1, 2]);
  const line = JSON.stringify({ name: 'N', category: 'C', sku: '4.1E+12', price: 1, stock: 1 });
  assert.equal((await importFile(seller, { body: line, type: NDJSON })).summary.created, 1);
});

test('warns of new SKUs that look like dates', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const skus = ['Mar-04', '04-Mar', '4. Mrz', '2024-03-04', '3/4/2024', '04.03.2024', '4-Mär-24'];
  const others = ['MARK-04', 'Mar-A', '2024-13', '1.2.3', '03-04', 'MUG-MAR-04', '1234-03-04'];
  const rows = [...skus, ...others].map((sku) => `N,C,${sku},1,1\n`).join('');
  const { summary } = await importFile(seller, { body: CSV_HEADER + rows });
  assert.deepEqual([summary.date_skus, summary.first_date_sku], [skus.length, 'Mar-04']);
  assert.match(summary.notes[0], /^7 of the new SKUs look like dates, such as "Mar-04"\./);
  const again = await importFile(seller, { body: CSV_HEADER + rows });
  assert.equal(again.summary.date_skus, undefined);
});
