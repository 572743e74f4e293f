/** Files of rejected rows, sent again: a row never means something else without the others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../support/server.ts';
import { importFile } from './import.ts';

const HEADER = 'error,sku,name,category,price,stock\n';
const PART = 'stock: Set duplicates=sum to add up the rows, and send the whole file again.';

test('rejects a part of a product again, unless its error was removed', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const body = `${HEADER}"${PART}",A,Mug,K,1,2\n"x: send the whole file again.",B,Mug,K,1,2\n`
    + 'price: Correct it.,C,Mug,K,1,2\n,D,Mug,K,1,2\n';
  const { rows, summary } = await importFile(seller, { body });
  assert.deepEqual(rows.map(({ line, sku }: any) => [line, sku]), [[2, 'A'], [3, 'B']]);
  assert.match(rows[0].errors[0].detail, /only right in the original file\. .* whole file again/);
  assert.equal(summary.created, 2);
  const stock = await seller.send({
    method: 'POST', path: '/api/v1/stock', headers: { 'content-type': 'text/csv' },
    body: `error,sku,stock\n"${PART}",C,9\n,D,8\n`,
  });
  assert.match(stock.text, /"line":2,"sku":null,.*"line":3,"sku":"D",.*"stock":8.*"failed":1/s);
});

test('rejects such a line of NDJSON again', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const product = { name: 'Mug', category: 'K', price: 1, stock: 2 };
  const lines = [{ error: PART, sku: 'A', ...product }, { sku: 'B', ...product }];
  const headers = { 'content-type': 'application/x-ndjson' };
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const { rows, summary } = await importFile(seller, { body, headers });
  assert.match(rows[0].errors[0].detail, /only right in the original file\. .* whole file again/);
  assert.deepEqual([summary.created, summary.failed], [1, 1]);
  const stock = await seller.send({
    method: 'POST', path: '/api/v1/stock', headers,
    body: `${JSON.stringify({ error: PART, sku: 'B', set: 9 })}\n{"sku":"B","set":8}\n`,
  });
  assert.match(stock.text, /"line":1,.*whole file again.*"line":2,"sku":"B",.*"stock":8/s);
});

test('decides no decimal mark by the rows that are left', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const body = `${HEADER},A,Mug,K,"12,50",1\n,B,Mug,K,"1,200",1\n`;
  const { rows } = await importFile(seller, { body });
  assert.deepEqual(rows.map(({ sku }: any) => sku), ['B']);
  const { summary } = await importFile(seller, { body, query: 'decimal=comma' });
  assert.deepEqual([summary.created, summary.unchanged, summary.failed], [1, 1, 0]);
});

test('gives a variation no category, and a row of a store view no product, that it may not have',
  async (t) => {
    const seller = await (await startServer(t)).makeSeller();
    const woo = 'error,ID,Type,SKU,Name,Regular price,Stock,Categories,Parent\n'
      + ',12,variation,D,Cap,1,1,,id:99\n';
    const variation = await importFile(seller, { body: woo });
    assert.equal(variation.rows[0].errors[0].pointer, '/category');
    const magento = 'error,sku,store_view_code,product_type,categories,name,price,qty\n'
      + ',M,default,simple,C,Tasse,1,1\n';
    const view = await importFile(seller, { body: magento });
    assert.match(view.rows[0].errors[0].detail, /May translate a row .* send all of it\.$/);
  });
