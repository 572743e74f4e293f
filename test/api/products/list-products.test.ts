/** GET /api/v1/products: the list, its ETag, and the cached pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClock } from '../../support/clock.ts';
import type { Answer } from '../../support/http.ts';
import { startServer } from '../../support/server.ts';
import { assertProblem, comparable, faultsOf } from '../problem.ts';

const PRODUCTS = '/api/v1/products';

function skusOf(answer: Answer): string[] {
  assert.equal(answer.status, 200, answer.text);
  return answer.json().products.map(({ sku }: { sku: string }) => sku);
}

test('returns an empty list at position 0', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const answer = await seller.send({ path: PRODUCTS });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers['cache-control'], 'private, no-cache');
  assert.equal(answer.headers['etag'], '"0"');
  assert.equal(answer.headers['link'], undefined);
  assert.deepEqual(answer.json(), { products: [], next_cursor: null });
});

test('lists products in the order of creation', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { clock });
  const seller = await server.makeSeller();
  const created: unknown[] = [];
  for (const sku of ['b', 'c', 'a', 'Z']) {
    created.push((await seller.create({ sku })).json());
    clock.now -= 3_600_000; // clock steps must not change the order
  }
  const answer = await seller.send({ path: PRODUCTS });
  assert.deepEqual(answer.json(), { products: created, next_cursor: null });
  assert.equal(answer.headers['etag'], '"4"');
  assert.equal(Number(answer.headers['content-length']), Buffer.byteLength(answer.text));
});

test('lists a hundred products by default', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await Promise.all(Array.from({ length: 101 }, () => seller.create()));
  const answer = await seller.send({ path: PRODUCTS });
  assert.equal(skusOf(answer).length, 100);
  assert.equal(typeof answer.json().next_cursor, 'string');
});

test('accepts a limit from 1 to 1000', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const created = await Promise.all(Array.from({ length: 103 }, () => seller.create()));
  assert.equal(created.length, 103);
  for (const [limit, expected] of [[1, 1], [2, 2], [102, 102], [103, 103], [1000, 103]]) {
    const answer = await seller.send({ path: `${PRODUCTS}?limit=${limit}` });
    assert.equal(skusOf(answer).length, expected);
  }
});

test('rejects any other limit', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const limit of [
    '0', '-1', '1001', '1.5', '1e2', '', 'abc', '%205', '+5', '0x10', 'NaN', 'null', '%00',
    '99999999999999999999', '%EF%BC%95', '5,6',
  ]) {
    const answer = await seller.send({ path: `${PRODUCTS}?limit=${limit}` });
    const { detail } = assertProblem(answer, 400, 'invalid-query');
    assert.match(detail, /"limit"/);
    assert.deepEqual(faultsOf(answer), ['limit range'], limit);
  }
});

test('rejects unknown and duplicate parameters, and names each', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const [query, faults] of [
    ['page=2', ['page unknown']],
    ['Limit=2', ['Limit unknown']],
    ['limit=2&limit=2', ['limit duplicate']],
    ['limit=2&offset=1&limit=3&by=name', ['offset unknown', 'limit duplicate', 'by unknown']],
    ['__proto__=1', ['__proto__ unknown']],
    ['=', [' unknown']],
  ] as const) {
    const answer = await seller.send({ path: `${PRODUCTS}?${query}` });
    assertProblem(answer, 400, 'invalid-query');
    assert.deepEqual(faultsOf(answer), faults);
  }
});

test('accepts a question mark with nothing after it', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  assert.deepEqual(skusOf(await seller.send({ path: `${PRODUCTS}?` })), []);
});

test('returns 304 while nothing has changed, and the list after a create', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create({ sku: 'one' });
  const tag = (await seller.send({ path: PRODUCTS })).headers['etag'] ?? '';
  const ask = (): Promise<Answer> =>
    seller.send({ path: PRODUCTS, headers: { 'if-none-match': tag } });
  const unchanged = await ask();
  assert.equal(unchanged.status, 304);
  assert.equal(unchanged.text, '');
  assert.equal(unchanged.headers['etag'], tag);
  assert.equal(unchanged.headers['cache-control'], 'private, no-cache');
  assert.equal(unchanged.headers['content-type'], undefined);
  await seller.create({ sku: 'two' });
  const changed = await ask();
  assert.deepEqual(skusOf(changed), ['one', 'two']);
  assert.notEqual(changed.headers['etag'], tag);
});

test('compares If-None-Match as RFC 9110 specifies', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create();
  for (const [field, status] of [
    ['"1"', 304], ['W/"1"', 304], ['*', 304], ['"7", "1"', 304], ['"7",W/"1" , "x"', 304],
    ['"0"', 200], ['"11"', 200], ['1', 200], ['"7", "8"', 200], ['', 200], ['"*"', 200],
  ] as const) {
    const answer = await seller.send({ path: PRODUCTS, headers: { 'if-none-match': field } });
    assert.equal(answer.status, status, field);
  }
});

test('validates the query before it returns 304', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const headers = { 'if-none-match': '*' };
  for (const query of ['limit=0', 'cursor=x', 'page=1']) {
    const answer = await seller.send({ path: `${PRODUCTS}?${query}`, headers });
    assertProblem(answer, 400, 'invalid-query');
  }
});

test('responds to HEAD as to GET, without the body', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create();
  await seller.create();
  for (const path of [PRODUCTS, `${PRODUCTS}?limit=1`, `${PRODUCTS}?limit=0`]) {
    const get = comparable(await seller.send({ path }));
    const head = comparable(await seller.send({ method: 'HEAD', path }));
    assert.ok(get.text.length > 0);
    assert.deepEqual(head, { ...get, text: '' });
  }
  const headers = { 'if-none-match': '"2"' };
  assert.equal((await seller.send({ method: 'HEAD', path: PRODUCTS, headers })).status, 304);
});

test('serves the cached page until a create changes it', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const skus: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    skus.push(`sku ${n}`);
    await seller.create({ sku: `sku ${n}` });
    const first = await seller.send({ path: PRODUCTS });
    const again = await seller.send({ path: PRODUCTS });
    assert.deepEqual(skusOf(first), skus);
    assert.deepEqual(comparable(again), comparable(first));
  }
});

test('never shows the products of another seller', async (t) => {
  const server = await startServer(t);
  const one = await server.makeSeller();
  const other = await server.makeSeller();
  await one.create({ sku: 'mine' });
  assert.deepEqual(skusOf(await one.send({ path: PRODUCTS })), ['mine']);
  assert.deepEqual(skusOf(await other.send({ path: PRODUCTS })), []);
  await other.create({ sku: 'his' }); // both catalogues are at position 1 now
  for (let n = 0; n < 2; n += 1) {
    assert.deepEqual(skusOf(await one.send({ path: PRODUCTS })), ['mine']);
    assert.deepEqual(skusOf(await other.send({ path: PRODUCTS })), ['his']);
  }
});
