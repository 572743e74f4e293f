/** Lookups of many products, the filter by metadata, and the members of single reads. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { makeProduct, startServer, type TestSeller } from '../../support/server.ts';
import { assertProblem, faultsOf } from '../problem.ts';

const PRODUCTS = '/api/v1/products';
const BARCODE = '4006381333931';

/** Products A and B share a barcode; B is archived. */
async function openShop(t: TestContext) {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const products = [
    { sku: 'A', barcode: BARCODE, metadata: { erp_id: '1', 'a.b': 'x&y=z' } },
    { sku: 'B', barcode: `0${BARCODE}`, archived: true, metadata: { erp_id: '2' } },
    { sku: 'C', metadata: { erp_id: '1' } },
  ];
  const ids: string[] = [];
  for (const product of products) {
    ids.push((await seller.create({ ...makeProduct(), ...product })).json().id);
  }
  return { server, seller, ids };
}

function lookUp(seller: TestSeller, body: unknown, query = '', headers = {}) {
  return seller.send({
    method: 'POST', path: `${PRODUCTS}/lookup${query}`, body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
}

test('returns the products of each query in order, at one position', async (t) => {
  const { seller, ids } = await openShop(t);
  const queries = [
    { sku: 'B' }, { id: ids[0] }, { barcode: `00${BARCODE}`.slice(1) }, { sku: 'none' },
    { metadata: { erp_id: '1' } }, { metadata: { erp_id: '1', 'a.b': 'x&y=z' } },
    { id: 'prd_none' }, { sku: 'B' },
  ];
  const answer = await lookUp(seller, { queries });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['cache-control'], 'no-store');
  const { results, position } = answer.json();
  assert.deepEqual(results.map((found: { sku: string }[]) => found.map(({ sku }) => sku).join(' ')),
    ['B', 'A', 'A B', '', 'A C', 'A', '', 'B']);
  assert.equal(position, 3);
  const single = await seller.send({ path: `${PRODUCTS}/${ids[0]}` });
  assert.deepEqual(results[1], [single.json()]);
  const fields = await lookUp(seller, { queries: [{ sku: 'A' }] }, '?fields=sku,stock', {
    'idempotency-key': 'ignored',
  });
  assert.deepEqual(Object.keys(fields.json().results[0][0]).sort(), ['sku', 'stock']);
  await seller.send({ method: 'DELETE', path: `${PRODUCTS}/sku/A` });
  const after = await lookUp(seller, { queries: [{ id: ids[0] }, { sku: 'A' }] }, '', {
    'idempotency-key': 'ignored',
  });
  assert.deepEqual(after.json(), { results: [[], []], position: 4 });
});

test('finds nothing of another seller', async (t) => {
  const { server, ids } = await openShop(t);
  const other = await server.makeSeller();
  const queries = [
    { sku: 'A' }, { id: ids[0] }, { barcode: BARCODE }, { metadata: { erp_id: '1' } },
  ];
  assert.deepEqual((await lookUp(other, { queries })).json(),
    { results: [[], [], [], []], position: 0 });
  const list = await other.send({ path: `${PRODUCTS}?metadata.erp_id=1` });
  assert.equal(list.json().products.length, 0);
});

test('rejects invalid queries with all their errors', async (t) => {
  const { seller } = await openShop(t);
  const queries = [
    { sku: 1 }, {}, { sku: 'A', id: 'x' }, { name: 'A' }, 'A', { barcode: '123' }, { sku: 'A' },
    { metadata: {} }, { metadata: { a: null } }, { metadata: { a: 1 } }, { id: null }, [],
  ];
  const answer = await lookUp(seller, { queries });
  assertProblem(answer, 400, 'invalid-data');
  assert.deepEqual(faultsOf(answer), [
    '/queries/0/sku type', '/queries/1 required', '/queries/2 mismatch', '/queries/3/name unknown',
    '/queries/4 type', '/queries/5/barcode length', '/queries/7/metadata required',
    '/queries/8/metadata required', '/queries/9/metadata type', '/queries/10/id type',
    '/queries/11 type',
  ]);
  for (const [body, fault] of [
    [{}, '/queries required'], [{ queries: [] }, '/queries length'], [[], ' type'],
    [{ queries: 'A' }, '/queries type'], [{ queries: [{ sku: 'A' }], limit: 1 }, '/limit unknown'],
    [{ queries: Array(1_001).fill({ sku: 'A' }) }, '/queries length'],
  ] as const) {
    assert.deepEqual(faultsOf(await lookUp(seller, body)), [fault]);
  }
  const query = await lookUp(seller, { queries: [{ sku: 'A' }] }, '?limit=1');
  assertProblem(query, 400, 'invalid-query');
  assert.equal((await lookUp(seller, { queries: Array(1_000).fill({ sku: 'A' }) })).status, 200);
});

test('rejects a query with more than 100 matches, and never cuts its result', async (t) => {
  const { seller } = await openShop(t);
  const rows = Array.from({ length: 101 }, (_, n) => `P,C,P-${n},1,1,96385074`).join('\n');
  await seller.send({
    method: 'POST', path: `${PRODUCTS}/import`, headers: { 'content-type': 'text/csv' },
    body: `name,category,sku,price,stock,barcode\n${rows}\n`,
  });
  const answer = await lookUp(seller, { queries: [{ sku: 'A' }, { barcode: '96385074' }] });
  assertProblem(answer, 400, 'invalid-data');
  assert.deepEqual(faultsOf(answer), ['/queries/1 range']);
  await seller.send({ method: 'DELETE', path: `${PRODUCTS}/sku/P-0` });
  const all = await lookUp(seller, { queries: [{ barcode: '96385074' }] });
  assert.equal(all.json().results[0].length, 100);
  const many = await lookUp(seller, { queries: Array(21).fill({ barcode: '96385074' }) });
  assertProblem(many, 400, 'invalid-data');
  assert.match(many.json().detail, /more than 2000 products/);
});

test('filters lists and exports by metadata, with other conditions and pages', async (t) => {
  const { seller } = await openShop(t);
  const find = async (query: string): Promise<string> => {
    const { products } = (await seller.send({ path: `${PRODUCTS}?${query}` })).json();
    return products.map(({ sku }: { sku: string }) => sku).join(' ');
  };
  assert.equal(await find('metadata.erp_id=1'), 'A C');
  assert.equal(await find('metadata.erp_id=2'), '');
  assert.equal(await find('metadata.erp_id=2&archived=any'), 'B');
  assert.equal(await find('metadata.erp_id=1&metadata.a.b=x%26y%3Dz'), 'A');
  assert.equal(await find('metadata.erp_id=1&sku=C&sort=-price'), 'C');
  assert.equal(await find('metadata.ERP_ID=1'), '');
  const csv = await seller.send({ path: `${PRODUCTS}?format=csv&metadata.erp_id=2&fields=sku` });
  assert.equal(csv.text, 'sku\r\nB\r\n');
  const page = (await seller.send({ path: `${PRODUCTS}?metadata.erp_id=1&limit=1` }));
  const { next_cursor: cursor } = page.json();
  assert.match(String(page.headers['link']), /metadata\.erp_id=1/);
  assert.equal(await find(`metadata.erp_id=1&limit=1&cursor=${cursor}`), 'C');
  const other = await seller.send({ path: `${PRODUCTS}?metadata.erp_id=2&cursor=${cursor}` });
  assertProblem(other, 400, 'invalid-query');
  for (const [query, faults] of [
    ['metadata=x', ['unknown']], ['metadata.=x', ['blank']], ['metadata.a=', ['blank']],
    ['metadata.a=1&metadata.a=2', ['duplicate']], [`metadata.${'x'.repeat(41)}=1`, ['length']],
    ['at=1&metadata.a=1', ['mismatch']], ['meta.a=1', ['unknown']], ['sku.a=1', ['unknown']],
    [Array.from({ length: 21 }, (_, n) => `metadata.n${n}=1`).join('&'), ['length']],
  ] as const) {
    const answer = await seller.send({ path: `${PRODUCTS}?${query}` });
    assertProblem(answer, 400, 'invalid-query');
    assert.deepEqual(faultsOf(answer).map((fault) => fault.split(' ')[1]), faults, query);
  }
});

test('reads single products with the members of fields, under the same tag', async (t) => {
  const { seller, ids } = await openShop(t);
  for (const path of [`${PRODUCTS}/${ids[0]}`, `${PRODUCTS}/sku/A`]) {
    const whole = await seller.send({ path });
    for (const _ of [1, 2]) { // the second one is cached
      const part = await seller.send({ path: `${path}?fields=stock,sku` });
      assert.deepEqual(part.json(), { sku: 'A', stock: whole.json().stock });
      assert.equal(part.headers.etag, whole.headers.etag);
    }
    assert.deepEqual((await seller.send({ path })).json(), whole.json());
    const tag = String(whole.headers.etag);
    const headers = { 'if-none-match': tag };
    const same = await seller.send({ path: `${path}?fields=sku`, headers });
    assert.equal(same.status, 304);
    const head = await seller.send({ method: 'HEAD', path: `${path}?fields=sku` });
    assert.deepEqual([head.status, head.headers.etag, head.text], [200, tag, '']);
    const past = await seller.send({ path: `${path}?fields=sku&at=1` });
    assert.deepEqual(past.json(), { sku: 'A' });
    assertProblem(await seller.send({ path: `${path}?fields=none` }), 400, 'invalid-query');
  }
});
