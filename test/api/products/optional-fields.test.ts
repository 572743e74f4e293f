/** The optional members of products, and archived products, in the API. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { makeProduct, startServer, type TestSeller } from '../../support/server.ts';
import { assertProblem, faultsOf } from '../problem.ts';

const PRODUCTS = '/api/v1/products';
const VALUES = {
  barcode: '4006381333931', description: 'Line 1\nLine 2', metadata: { erp: '1', shop: '2' },
  low_stock: 3, archived: true,
};

async function prepare(t: TestContext) {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  return { server, seller, ...requests(seller) };
}

function requests(seller: TestSeller) {
  const write = (method: string, path: string, body: unknown, headers: object = {}) => seller.send({
    method, path, headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return {
    write,
    async listSkus(query: string): Promise<string> {
      const skus: string[] = [];
      for (let path = `${PRODUCTS}?${query}`; ;) {
        const { products, next_cursor: cursor } = (await seller.send({ path })).json();
        for (const { sku } of products) skus.push(sku);
        if (cursor === null) return skus.join(' ');
        path = `${PRODUCTS}?${query}&cursor=${cursor}`;
      }
    },
  };
}

test('creates, patches and replaces optional members, and omits those without a value',
  async (t) => {
    const { seller, write } = await prepare(t);
    const created = await write('POST', PRODUCTS, { ...makeProduct(), sku: 'MUG', ...VALUES });
    assert.equal(created.status, 201, created.text);
    assert.partialDeepStrictEqual(created.json(), VALUES);
    const path = `${PRODUCTS}/sku/MUG`;
    const patch = {
      metadata: { erp: null, till: '3' }, barcode: null, archived: false, low_stock: null,
    };
    const patched = await write('PATCH', path, patch, { 'if-match': '"1"' });
    assert.equal(patched.status, 200, patched.text);
    const { barcode, metadata, description, ...others } = patched.json();
    assert.deepEqual([barcode, metadata, description],
      [undefined, { shop: '2', till: '3' }, VALUES.description]);
    assert.ok(!('archived' in others) && !('low_stock' in others));
    assert.equal((await seller.send({ path })).text, patched.text);
    assert.equal((await write('PATCH', path, patch)).headers.etag, '"2"');
    const { sku: _, ...required } = makeProduct();
    const replaced = await write('PUT', path, required);
    assert.equal(Object.keys(replaced.json()).length, 10, replaced.text);
  });

test('reports every error in optional members', async (t) => {
  const { write } = await prepare(t);
  const answer = await write('POST', PRODUCTS, {
    ...makeProduct(), barcode: '4006381333932', description: '\t', metadata: { a: 1 },
    low_stock: -1, archived: 'yes',
  });
  assertProblem(answer, 400, 'invalid-data');
  assert.deepEqual(faultsOf(answer), [
    '/barcode format', '/description blank', '/metadata type', '/low_stock range',
    '/archived type',
  ]);
});

test('lists archived products on request, page by page, and with other filters', async (t) => {
  const { server, seller, write, listSkus } = await prepare(t);
  for (const sku of ['A', 'B', 'C', 'D', 'E']) {
    await write('POST', PRODUCTS, { ...makeProduct(), sku, barcode: VALUES.barcode });
  }
  for (const sku of ['B', 'D']) {
    await write('PATCH', `${PRODUCTS}/sku/${sku}`, { archived: true });
  }
  for (const [query, skus] of [
    ['', 'A C E'], ['archived=false', 'A C E'], ['archived=true', 'B D'],
    ['archived=any', 'A B C D E'], ['sort=-sku', 'E C A'], ['sort=-sku&archived=any', 'E D C B A'],
    [`barcode=${VALUES.barcode}`, 'A C E'], [`barcode=${VALUES.barcode}&archived=true`, 'B D'],
    ['barcode=96385074', ''], ['q=400638133', 'A C E'], ['changed_since=5&archived=any', 'B D'],
  ] as const) {
    for (const limit of [1, 2, 100]) assert.equal(await listSkus(`limit=${limit}&${query}`), skus);
  }
  const bad = await seller.send({ path: `${PRODUCTS}?archived=maybe&barcode=1` });
  assertProblem(bad, 400, 'invalid-query');
  const past = await seller.send({ path: `${PRODUCTS}?at=7` });
  assert.equal(past.json().products.length, 5);
  assert.equal((await seller.send({ path: `${PRODUCTS}/sku/B` })).json().archived, true);
  assertProblem(await write('POST', PRODUCTS, { ...makeProduct(), sku: 'B' }), 409, 'sku-taken');
  assert.equal(await requests(await server.makeSeller()).listSkus('archived=any'), '');
});
