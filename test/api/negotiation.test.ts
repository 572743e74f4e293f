/** The media type of responses: chosen by Accept, and rejected before anything is written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../support/server.ts';
import { assertProblem } from './problem.ts';

const PRODUCTS = '/api/v1/products';

test('rejects an unsupported Accept before anything is written', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const { location = '' } = (await seller.create({ sku: 'one' })).headers;
  const accept = 'text/html, application/xml;q=0.9';
  const headers = { accept, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'N', category: 'C', price: 1, stock: 1 });
  for (const { method, path, ...rest } of [
    { method: 'POST', path: PRODUCTS, body: `{"sku":"two",${body.slice(1)}` },
    { method: 'PUT', path: `${PRODUCTS}/sku/two`, body },
    { method: 'PATCH', path: location, body: '{"stock":9}' },
    { method: 'GET', path: location }, { method: 'GET', path: PRODUCTS },
  ]) {
    const { detail } = assertProblem(
      await seller.send({ method, path, headers, ...rest }), 406, 'not-acceptable');
    assert.match(detail, /application\/json/);
  }
  assert.equal((await seller.send({ path: PRODUCTS })).headers['etag'], '"1"');
});

test('checks the key, scope and query before Accept', async (t) => {
  const server = await startServer(t);
  const reader = await server.makeSeller({ scopes: ['products:read'] });
  const headers = { accept: 'text/html' };
  assertProblem(await server.send({ path: PRODUCTS, headers }), 401, 'key-missing');
  const post = { method: 'POST', path: PRODUCTS, headers };
  assertProblem(await reader.send(post), 403, 'scope-missing');
  assertProblem(await reader.send({ path: `${PRODUCTS}?x=1`, headers }), 400, 'invalid-query');
  assertProblem(await reader.send({ path: '/x', headers }), 404, 'not-found');
});

test('returns problems as JSON, whatever the client accepts', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const headers = { accept: 'text/csv' };
  assertProblem(await seller.send({ path: `${PRODUCTS}?x=1`, headers }), 400, 'invalid-query');
});

test('returns JSON to clients that accept anything', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const accept of ['*/*', 'application/*', 'text/html, */*;q=0.1', 'application/json;q=0.1']) {
    const { status, headers } = await seller.send({ path: PRODUCTS, headers: { accept } });
    assert.deepEqual([status, headers['content-type']], [200, 'application/json']);
  }
});

test('ignores Accept if the response has no body', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const { location = '' } = (await seller.create()).headers;
  const request = { method: 'DELETE', path: location, headers: { accept: 'text/html' } };
  assert.equal((await seller.send(request)).status, 204);
});

test('serves the API description without a key, and does not count it toward a rate', async (t) => {
  const server = await startServer(t, { rateLimitPerMinute: 1 });
  const path = '/api/v1/openapi.json';
  for (let n = 0; n < 3; n += 1) {
    const { status, headers } = await server.send({ path });
    assert.equal(status, 200);
    assert.equal(headers['ratelimit'], undefined);
  }
  assertProblem(await server.send({ path, headers: { accept: 'text/html' } }), 406,
    'not-acceptable');
  assertProblem(await server.send({ path: `${path}?x=1` }), 400, 'invalid-query');
});
