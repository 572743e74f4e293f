/** Unknown paths and methods, and what all responses have in common. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startServer } from '../support/server.ts';
import { assertProblem } from './problem.ts';

const PRODUCTS = '/api/v1/products';

/** Sends raw text and reads until the server closes the connection. */
function sendText(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.setEncoding('utf8').on('data', (part: string) => { received += part; });
    socket.on('error', reject);
    socket.on('end', () => {
      socket.end();
      resolve(received);
    });
  });
}

test('returns 404 for unknown paths, with and without a key', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const path of [
    '/', '/api', '/api/v1', '/api/v2/products', '/products', `${PRODUCTS}/`, `${PRODUCTS}/x/`,
    `${PRODUCTS}/x/y`, `${PRODUCTS}//`, '/api/v1/Products', '/API/v1/products',
    '/api/v1/products%2F', '/api/v1/products%00', `${PRODUCTS}/%ff`,
    `${PRODUCTS}/%`, '/favicon.ico', '/%2e%2e%2fetc%2fpasswd', `/${'x'.repeat(8_000)}`, '/?x',
    '/__proto__', '/api/v1/products;x=1', '/api/v1/products%3Flimit=1',
  ]) {
    for (const send of [server.send, seller.send]) {
      const answer = await send({ path });
      assertProblem(answer, 404, 'not-found');
    }
  }
});

test('returns 405 with the methods that a path allows', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const { location = '' } = (await seller.create()).headers;
  const bySku = `${PRODUCTS}/sku/MUG`;
  for (const method of ['OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']) {
    const list = await seller.send({ method, path: PRODUCTS });
    assertProblem(list, 405, 'method-not-allowed');
    assert.equal(list.headers['allow'], 'GET, HEAD, POST');
    const product = await seller.send({ method, path: location });
    assertProblem(product, 405, 'method-not-allowed');
    assert.equal(product.headers['allow'], 'DELETE, GET, HEAD, PATCH');
    const sku = await seller.send({ method, path: bySku });
    assertProblem(sku, 405, 'method-not-allowed');
    assert.equal(sku.headers['allow'], 'DELETE, GET, HEAD, PATCH, PUT');
  }
  for (const [method, path] of [
    ['DELETE', PRODUCTS], ['PUT', PRODUCTS], ['PATCH', PRODUCTS], ['PUT', location],
  ] as const) {
    assertProblem(await seller.send({ method, path }), 405, 'method-not-allowed');
  }
  const posted = await seller.send({ method: 'POST', path: location, body: '{}' });
  assertProblem(posted, 405, 'method-not-allowed');
  assert.equal((await seller.send({ path: location })).headers['etag'], '"1"');
});

test('sends no header that would let a web page read a response', async (t) => {
  const server = await startServer(t, { allowBrowsers: true });
  const seller = await server.makeSeller();
  const headers = {
    origin: 'https://shop.example', 'access-control-request-method': 'POST',
    'access-control-request-headers': 'x-api-key',
  };
  for (const method of ['OPTIONS', 'GET']) {
    const answer = await seller.send({ method, path: PRODUCTS, headers });
    const names = Object.keys(answer.headers);
    assert.deepEqual(names.filter((name) => name.startsWith('access-control-')), []);
  }
});

test('prevents caching without revalidation, and type sniffing by browsers', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const created = await seller.create();
  const location = created.headers['location'] ?? '';
  const etag = created.headers['etag'] ?? '';
  const answers = [
    created, await seller.create({ price: -1 }), await seller.send({ path: PRODUCTS }),
    await seller.send({ path: PRODUCTS }), await seller.send({ path: location }),
    await seller.send({ path: location, headers: { 'if-none-match': etag } }),
    await seller.send({ path: `${PRODUCTS}/x` }), await seller.send({ path: '/' }),
    await seller.send({ method: 'PUT', path: PRODUCTS }),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status), [201, 400, 200, 200, 200, 304, 404, 404, 405]);
  for (const { status, headers } of answers) {
    const expected = status === 200 || status === 304 ? 'private, no-cache' : 'no-store';
    assert.equal(headers['cache-control'], expected);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['x-powered-by'], undefined);
    assert.equal(headers['server'], undefined);
  }
});

test('responds to malformed HTTP and too many headers with a problem document', async (t) => {
  const server = await startServer(t);
  const host = 'host: localhost';
  const long = `x-long: ${'x'.repeat(20_000)}`;
  for (const [text, status] of [
    [`GET ${PRODUCTS} HTTP/1.1\r\n${host}\r\nno colon\r\n\r\n`, 400],
    ['hello\r\n\r\n', 400],
    [`POST ${PRODUCTS} HTTP/1.1\r\n${host}\r\ncontent-length: x\r\n\r\n`, 400],
    [`GET ${PRODUCTS} HTTP/1.1\r\n${host}\r\n${long}\r\n\r\n`, 431],
  ] as const) {
    const answer = await sendText(server.port, text);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    assert.ok(head.startsWith(`HTTP/1.1 ${status} `), head);
    assert.match(head, /^content-type: application\/problem\+json$/im);
    const problem = JSON.parse(body);
    assert.equal(problem.status, status);
    for (const member of ['type', 'title', 'detail']) {
      assert.equal(typeof problem[member], 'string', `${member} of ${body}`);
    }
  }
  assert.equal((await (await server.makeSeller()).create()).status, 201);
});

test('responds to the requests of one connection in order', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create({ sku: 'first' });
  const lines = ['host: localhost', `x-api-key: ${seller.key}`].join('\r\n');
  const get = (path: string, more = ''): string =>
    `GET ${path} HTTP/1.1\r\n${lines}\r\n${more}\r\n`;
  const received = await sendText(
    server.port, get(PRODUCTS) + get('/nothing') + get(PRODUCTS, 'connection: close\r\n'));
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
  assert.deepEqual(statuses, ['200', '404', '200']);
});
