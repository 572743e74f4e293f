/** Imports with a key that may change only prices. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { makeKey } from '../../api/make-key.ts';
import { assertProblem } from '../../api/problem.ts';
import { startServer } from '../../support/server.ts';

async function prepare(t: TestContext) {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const sku of ['A', 'B', 'C']) await seller.create({ sku, price: 1, stock: 5 });
  const headers = await makeKey(server, seller, { scopes: ['prices:write'] });
  const send = (query: string, body: string, type = 'text/csv') => server.send({
    method: 'POST', path: `/api/v1/products/import${query}`, body,
    headers: { ...headers, 'content-type': type },
  });
  const list = async () => {
    const { text } = await seller.send({ path: '/api/v1/products' });
    const { products } = JSON.parse(text) as { products: Record<string, unknown>[] };
    return products.map(({ sku, price, stock }) => [sku, price, stock]);
  };
  return { server, seller, send, list };
}

test('updates prices from a file with prices:write, and rejects rows with more', async (t) => {
  const { send, list } = await prepare(t);
  const csv = 'sku,price,stock,currency\nA,2,,EUR\nB,3,9,\nC,4,,\n';
  const answer = await send('?mode=update', csv);
  assert.equal(answer.status, 200);
  const [row = '', last = ''] = answer.text.trimEnd().split('\n');
  const { line, sku, errors: [error] } = JSON.parse(row);
  assert.deepEqual([line, sku, error.pointer], [3, 'B', '/stock']);
  assert.match(error.detail, /products:write/);
  const { summary } = JSON.parse(last);
  assert.deepEqual([summary.updated, summary.failed], [2, 1]);
  assert.deepEqual(await list(), [['A', 2, 5], ['B', 1, 5], ['C', 4, 5]]);
});

test('checks lines of NDJSON, duplicate rows and a dry run in the same way', async (t) => {
  const { send, list } = await prepare(t);
  const lines = '{"sku":"A","price":2}\n{"sku":"B","price":3,"archived":true}\n'
    + '{"sku":"C","price":4,"stock":1}\n{"sku":"C","price":5,"stock":1}\n{"sku":"NEW","price":6}\n';
  for (const query of ['&dry_run=true', '', '&duplicates=sum', '&duplicates=last']) {
    const answer = await send(`?mode=update${query}`, lines, 'application/x-ndjson');
    const rows = answer.text.trimEnd().split('\n').map((line) => JSON.parse(line));
    const { summary } = rows.pop();
    assert.equal(summary.failed, 4, query);
    assert.deepEqual(rows.map(({ errors }) => errors[0].pointer),
      ['/archived', '/stock', '/stock', '/sku'], query);
    assert.equal(summary.duplicates, undefined);
  }
  assert.deepEqual(await list(), [['A', 2, 5], ['B', 1, 5], ['C', 1, 5]]);
});

test('permits a barcode only as the name of a row without a SKU', async (t) => {
  const { seller, send, list } = await prepare(t);
  const barcode = '4006381333931';
  await seller.create({ sku: 'D', price: 1, stock: 5, barcode });
  const answer = await send('?mode=update', `{"barcode":"${barcode}","price":7}
{"sku":"D","barcode":"${barcode}","price":8}\n`, 'application/x-ndjson');
  const [row = ''] = answer.text.split('\n');
  const { line, errors: [error] } = JSON.parse(row);
  assert.deepEqual([line, error.pointer], [2, '/barcode']);
  assert.deepEqual((await list()).at(-1), ['D', 7, 5]);
});

test('rejects an import that may create products', async (t) => {
  const { send, list } = await prepare(t);
  for (const query of ['', '?mode=upsert', '?mode=create', '?mode=create&dry_run=true']) {
    const { detail } = assertProblem(await send(query, 'sku,price\nA,2\n'), 403, 'scope-missing');
    assert.match(detail, /^The scope prices:write permits imports with mode=update only\. Add/);
  }
  assert.deepEqual(await list(), [['A', 1, 5], ['B', 1, 5], ['C', 1, 5]]);
});
