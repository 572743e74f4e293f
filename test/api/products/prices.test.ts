/** What a key that may change only prices can change of a product, and what it cannot. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer, type TestSeller, type TestServer } from '../../support/server.ts';
import { assertProblem } from '../problem.ts';
import { makeKey } from '../make-key.ts';

const PRODUCTS = '/api/v1/products';
const JSON_FIELDS = { 'content-type': 'application/json' };

/** A product, and the function that patches it with a key of these scopes. */
async function prepare(server: TestServer, seller: TestSeller, scopes: readonly string[]) {
  const headers = { ...await makeKey(server, seller, { scopes }), ...JSON_FIELDS };
  const { id, sku } = JSON.parse((await seller.create()).text);
  return {
    id, sku,
    patch: (path: string, members: unknown) => server.send({
      method: 'PATCH', path: `${PRODUCTS}/${path}`, headers, body: JSON.stringify(members),
    }),
  };
}

test('changes the price of a product with prices:write, by its id and by its SKU', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const { id, sku, patch } = await prepare(server, seller, ['prices:write']);
  for (const [path, price] of [[id, 3.5], [`sku/${sku}`, 4]] as const) {
    const answer = await patch(path, { price });
    assert.equal(answer.status, 200);
    assert.equal(JSON.parse(answer.text).price, price);
  }
});

test('changes nothing but the price with prices:write', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const { id, patch } = await prepare(server, seller, ['prices:write', 'stock:write']);
  for (const [name, value] of Object.entries({
    name: 'Other', category: 'Other', sku: 'OTHER-1', stock: 8, barcode: null, description: 'x',
    metadata: { erp_id: '1' }, low_stock: 1, archived: true,
  })) {
    const { detail } = assertProblem(await patch(id, { price: 1, [name]: value }), 403,
      'scope-missing');
    assert.equal(detail,
      `This key lacks the scope products:write to change /${name}. Create one that has it.`);
  }
  assertProblem(await patch(id, { price: 1, currency: 'USD' }), 400, 'invalid-data');
  assert.equal((await server.store.findSeller(seller.sellerId))?.position, 1);
});

test('changes prices with products:write, also without prices:write', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const { id, patch } = await prepare(server, seller, ['products:write']);
  assert.equal((await patch(id, { price: 1, stock: 2 })).status, 200);
});
