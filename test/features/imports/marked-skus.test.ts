/** SKUs with a mark that means text, as Shopify and spreadsheets write them, at every door. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer, type TestSeller } from '../../support/server.ts';
import { CSV_HEADER, importFile } from './import.ts';

const MARKED = `="00123"`;

async function listSkus(seller: TestSeller): Promise<string[]> {
  const { products } = (await seller.send({ path: '/api/v1/products' })).json();
  return products.map(({ sku }: { sku: string }) => sku);
}

async function sendStock(seller: TestSeller, rows: string, query = '') {
  const { text } = await seller.send({
    method: 'POST', path: `/api/v1/stock?${query}`, headers: { 'content-type': 'text/csv' },
    body: `sku,stock\n${rows}`,
  });
  return text.trimEnd().split('\n').map((line) => JSON.parse(line));
}

test('reads a SKU without the mark that means text', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const rows = ['A,K,\'101,1,1', 'B,K,"=""00123""",1,1', 'C,K,="A-42",1,1'];
  const { summary } = await importFile(seller, { body: `${CSV_HEADER}${rows.join('\n')}\n` });
  assert.equal(summary.created, 3);
  assert.deepEqual(await listSkus(seller), ['101', '00123', 'A-42']);
  const [, , , last] = await sendStock(seller, '\'101,5\n="00123",6\nA-42,7\n', 'complete=true');
  assert.equal(last.summary.zeroed, 0);
  assert.equal(last.summary.applied, 3);
});

test('keeps an apostrophe that is part of a SKU', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const rows = ["A,K,'s-Hertog-1,1,1", 'B,K,\'-5A,1,1', "C,K,''101,1,1"];
  await importFile(seller, { body: `${CSV_HEADER}${rows.join('\n')}\n` });
  assert.deepEqual(await listSkus(seller), ["'s-Hertog-1", '-5A', "'101"]);
});

test('reads back the marks that its own export escapes', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const skus = ["'101", '101', MARKED, '00123', "''7", "'s-1", '-5A'];
  for (const sku of skus) await seller.create({ sku });
  const { text } = await seller.send({ path: '/api/v1/products?format=csv' });
  const { summary } = await importFile(seller, { body: text, query: 'mode=update' });
  assert.equal(summary.unchanged, skus.length);
});

test('rejects a marked SKU if a product has exactly it', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const sku of ["'101", '101', MARKED]) await seller.create({ sku, stock: 7 });
  const other = await server.makeSeller();
  for (const query of ['dry_run=true', '']) {
    const body = `${CSV_HEADER}A,K,'101,1,1\nB,K,${MARKED},1,1\n`;
    const { rows, summary } = await importFile(seller, { body, query });
    assert.equal(summary.failed, 2);
    const [first] = rows[0]?.errors ?? [];
    assert.equal(first.detail, 'Could mean your product "\'101", or the SKU without the mark. '
      + "Write ''101 for that product, and the digits alone for the other.");
    assert.equal((await importFile(other, { body, query })).summary.failed, 0);
  }
  const lines = await sendStock(seller, "'101,1\n", 'complete=true&force=true');
  assert.equal(lines[0].status, 'invalid');
  assert.match(lines[1].problem.detail, /does not identify its product, so no product was set/);
  const [exact, plain] = await sendStock(seller, "''101,1\n101,2\n");
  assert.deepEqual([exact.sku, exact.stock, plain.sku, plain.stock], ["'101", 1, '101', 2]);
});
