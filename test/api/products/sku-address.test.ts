/** Products by their SKU: any valid one, percent-encoded in the path. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startServer } from '../../support/server.ts';
import { assertProblem, faultsOf } from '../problem.ts';

const PRODUCTS = '/api/v1/products';

function addressOf(sku: string): string {
  return `${PRODUCTS}/sku/${encodeURIComponent(sku)}`;
}

async function startShop(t: TestContext) {
  return (await startServer(t)).makeSeller();
}

const skus = [
  'A/B', '100%', '%2F', 'a b', 'Ä-ö', '中文/１', '?x=1&y', '#1', '...', '../a', 'sku', 'import', '🫖',
  'a;b,c', "it's", '+1', '=1', '"quoted"', '\\', '{id}',
];

for (const sku of skus) {
  test(`reads, patches and deletes the product with the SKU ${sku}`, async (t) => {
    const seller = await startShop(t);
    const created = await seller.create({ sku });
    const path = addressOf(sku);
    assert.equal((await seller.send({ path })).text, created.text);
    const patched = await seller.send({
      method: 'PATCH', path, headers: { 'content-type': 'application/json' }, body: '{"stock":1}',
    });
    assert.equal(patched.json().sku, sku);
    assert.equal((await seller.send({ method: 'DELETE', path })).status, 204);
    assertProblem(await seller.send({ path }), 404, 'not-found');
  });
}

for (const sku of ['.', '..']) {
  test(`serves the product with the SKU ${sku} only by its id`, async (t) => {
    const seller = await startShop(t);
    const created = await seller.create({ sku });
    const { id } = created.json();
    assert.equal((await seller.send({ path: `${PRODUCTS}/${id}` })).text, created.text);
    for (const path of [addressOf(sku), `${PRODUCTS}/sku/${sku.replaceAll('.', '%2E')}`]) {
      assertProblem(await seller.send({ path }), 400, 'bad-request');
    }
  });
}

for (const sku of ['A\u00a01', 'A\u28001', '\u2800', 'A\ue000', '\u0301A']) {
  const shown = JSON.stringify([...sku].map((character) => character.codePointAt(0)?.toString(16)));

  test(`rejects the SKU ${shown} in a product, and finds none with it`, async (t) => {
    const seller = await startShop(t);
    const { id } = (await seller.create({ sku: 'MUG' })).json();
    const code = sku === '\u2800' ? 'blank' : 'characters';
    const headers = { 'content-type': 'application/json' };
    for (const refused of [
      await seller.create({ sku }),
      await seller.send({
        method: 'PATCH', path: `${PRODUCTS}/${id}`, headers, body: JSON.stringify({ sku }),
      }),
    ]) {
      assertProblem(refused, 400, 'invalid-data');
      assert.deepEqual(faultsOf(refused), [`/sku ${code}`]);
    }
    assertProblem(await seller.send({ path: addressOf(sku) }), 404, 'not-found');
    const synced = await seller.send({
      method: 'POST', path: '/api/v1/stock', headers,
      body: JSON.stringify({ changes: [{ sku, set: 3 }] }),
    });
    assert.equal(synced.json().results[0].status, 'invalid', synced.text);
    assert.equal((await seller.send({ path: `${PRODUCTS}/${id}` })).json().sku, 'MUG');
  });
}

test('finds a SKU in any Unicode normalization form', async (t) => {
  const seller = await startShop(t);
  await seller.create({ sku: 'É' });
  const { status } = await seller.send({ path: addressOf('E\u0301') });
  assert.equal(status, 200);
});

test('distinguishes upper and lower case', async (t) => {
  const seller = await startShop(t);
  await seller.create({ sku: 'mug' });
  assertProblem(await seller.send({ path: addressOf('MUG') }), 404, 'not-found');
});

for (const path of ['', '%', '%ff', '%00', 'a%0Ab', '%20a', `${'x'.repeat(65)}`, 'a/b']) {
  test(`returns 404 for sku/${path.slice(0, 8)}`, async (t) => {
    const seller = await startShop(t);
    const answer = await seller.send({ path: `${PRODUCTS}/sku/${path}` });
    assertProblem(answer, 404, 'not-found');
  });
}

test("responds to another seller's SKU as to an unknown one", async (t) => {
  const server = await startServer(t);
  const [one, other] = [await server.makeSeller(), await server.makeSeller()];
  await one.create({ sku: 'MUG' });
  for (const method of ['GET', 'HEAD', 'PATCH', 'DELETE']) {
    const ask = (sku: string) => other.send({
      method, path: addressOf(sku), headers: { 'content-type': 'application/json' },
      ...(method === 'PATCH' && { body: '{"stock":1}' }),
    });
    const [theirs, unknown] = [await ask('MUG'), await ask('NO')];
    assert.equal(theirs.status, 404);
    assert.equal(theirs.text, unknown.text);
  }
  assert.equal((await one.send({ path: addressOf('MUG') })).status, 200);
});
