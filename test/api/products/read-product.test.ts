/** GET /api/v1/products/{id}: one product, only to the seller of the key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../support/server.ts';
import { assertProblem, comparable } from '../problem.ts';

const PRODUCTS = '/api/v1/products';

test('returns the product with the position of its last change', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create();
  const created = await seller.create();
  await seller.create();
  const answer = await seller.send({ path: `${PRODUCTS}/${created.json().id}` });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers['cache-control'], 'private, no-cache');
  assert.equal(answer.headers['etag'], '"2"');
  assert.deepEqual(answer.json(), created.json());
});

test('returns 304 while the product has not changed, even if others have', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const { location = '', etag = '' } = (await seller.create()).headers;
  await seller.create();
  const unchanged = await seller.send({ path: location, headers: { 'if-none-match': etag } });
  assert.equal(unchanged.status, 304);
  assert.equal(unchanged.text, '');
  assert.equal(unchanged.headers['etag'], etag);
  assert.equal(unchanged.headers['cache-control'], 'private, no-cache');
  const stale = await seller.send({ path: location, headers: { 'if-none-match': '"2"' } });
  assert.equal(stale.status, 200);
});

test('responds to HEAD as to GET, without the body', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const path = (await seller.create()).headers['location'] ?? '';
  const get = comparable(await seller.send({ path }));
  assert.ok(get.text.length > 0);
  assert.deepEqual(comparable(await seller.send({ method: 'HEAD', path })), { ...get, text: '' });
});

test('returns 404 for ids of no product', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const id: string = (await seller.create()).json().id;
  const last = id.endsWith('0') ? '1' : '0';
  for (const unknown of [
    '1', 'x', 'prd_', id.slice(0, -1), `${id}0`, id.slice(0, -1) + last, id.toUpperCase(),
    id.replace('prd_', 'key_'), `%20${id}`, `${id}%00`, `${id}%2F`, "'%20OR%201=1", '..%2F..',
    'constructor', `prd_${'v'.repeat(22)}`, `prd_${'9'.repeat(5000)}`,
  ]) {
    assertProblem(await seller.send({ path: `${PRODUCTS}/${unknown}` }), 404, 'not-found');
  }
});

test("responds to another seller's id exactly as to an unknown one", async (t) => {
  const server = await startServer(t);
  const one = await server.makeSeller();
  const other = await server.makeSeller();
  const id: string = (await other.create()).json().id;
  assert.equal((await other.send({ path: `${PRODUCTS}/${id}` })).status, 200);
  const unknown = id.replace(/^prd_./, (start) => (start === 'prd_1' ? 'prd_2' : 'prd_1'));
  for (const headers of [{}, { 'if-none-match': '*' }, { 'if-none-match': '"1"' }]) {
    const his = await one.send({ path: `${PRODUCTS}/${id}`, headers });
    assertProblem(his, 404, 'not-found');
    const none = await one.send({ path: `${PRODUCTS}/${unknown}`, headers });
    assert.deepEqual(comparable(his), comparable(none));
  }
});

test('rejects query parameters', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const path = (await seller.create()).headers['location'] ?? '';
  assertProblem(await seller.send({ path: `${path}?limit=1` }), 400, 'invalid-query');
});
