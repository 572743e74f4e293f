/** Shopify variants without a SKU: rejected, or with one of their handle and options. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer, type TestSeller } from '../../support/server.ts';
import { SHOPIFY } from '../../transfer/shop-exports.ts';
import { importFile, sendFile } from './import.ts';

const FILE = SHOPIFY.replaceAll(/LS-[SML]|MUG-1/g, '');
const MADE = ['linen-shirt/S', 'linen-shirt/M', 'linen-shirt/L', 'clay-mug', 'gift-card/25'];

async function readStocks(seller: TestSeller): Promise<Record<string, number>> {
  const { products } = (await seller.send({ path: '/api/v1/products' })).json();
  return Object.fromEntries(products.map(({ sku, stock }: any) => [sku, stock]));
}

test('makes SKUs of handles and options, the same for every file', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const rejected = await importFile(seller, { body: FILE });
  assert.equal(rejected.summary.failed, 5);
  assert.match(rejected.rows[0].errors[0].detail, /blank\. .* set sku_from=handle\+options\.$/);
  for (const query of ['sku_from=handle%2Boptions', 'sku_from=handle+options']) {
    const { summary } = await importFile(seller, { body: FILE, query });
    assert.equal(summary.created + summary.unchanged, 5, JSON.stringify(summary));
    assert.deepEqual(summary.skip_reasons, { image: 1 });
  }
  assert.deepEqual(Object.keys(await readStocks(seller)).sort(), MADE.toSorted());
  const inventory = 'Handle,Title,Option1 Name,Option1 Value,SKU,Location,On hand\n'
    + 'linen-shirt,Linen Shirt,Size,S,,Porto,7\nclay-mug,Mug,Title,Default Title,,Porto,8\n'
    + 'none,None,,,,Porto,9\n';
  const answer = await seller.send({
    method: 'POST', path: '/api/v1/stock?sku_from=handle+options', body: inventory,
    headers: { 'content-type': 'text/csv' },
  });
  assert.match(answer.text, /"applied":2,"unchanged":0,"failed":1|"applied":2,"failed":1/);
  const stocks = await readStocks(seller);
  assert.deepEqual([stocks['linen-shirt/S'], stocks['clay-mug']], [7, 8]);
  const other = await sendFile(seller, { body: 'sku,name\n', query: 'sku_from=handle+options' });
  assert.equal(other.status, 400);
  assert.match(other.json().errors[0].detail, /Is for files of Shopify/);
});
