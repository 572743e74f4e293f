/** Pagination of GET /api/v1/products: cursors, links, and writes between pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../support/http.ts';
import { startServer, type TestSeller } from '../support/server.ts';
import { assertProblem, faultsOf } from './problem.ts';

const PRODUCTS = '/api/v1/products';

interface Page {
  readonly skus: string[];
  readonly cursor: string | null;
  /** The next page, from the Link header. */
  readonly next: string | undefined;
}

function readPage(answer: Answer): Page {
  assert.equal(answer.status, 200, answer.text);
  const { products, next_cursor: cursor } = answer.json();
  const link = answer.headers['link'];
  const [, next] = /^<([^>]+)>; rel="next"$/.exec(String(link ?? '')) ?? [];
  assert.equal(next === undefined, link === undefined, String(link));
  return { skus: products.map(({ sku }: { sku: string }) => sku), cursor, next };
}

async function createMany(seller: TestSeller, count: number, prefix = 'sku'): Promise<string[]> {
  const skus = Array.from({ length: count }, (_, n) => `${prefix} ${n}`);
  for (const sku of skus) assert.equal((await seller.create({ sku })).status, 201);
  return skus;
}

test('returns every product exactly once while others are created', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const expected = await createMany(seller, 25);
  const seen: string[] = [];
  let path: string | undefined = `${PRODUCTS}?limit=4`;
  for (let pages = 0; path !== undefined; pages += 1) {
    assert.ok(pages < 20, 'the pages do not end');
    const page: Page = readPage(await seller.send({ path }));
    seen.push(...page.skus);
    if (page.next !== undefined && pages < 5) {
      expected.push(...await createMany(seller, 1, `late ${pages}`));
    }
    path = page.next;
  }
  assert.deepEqual(seen, expected);
  assert.equal(seen.length, 30);
});

test('returns the same cursor in the Link header and in next_cursor', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await createMany(seller, 5);
  const { cursor, next } = readPage(await seller.send({ path: `${PRODUCTS}?limit=2` }));
  const url = new URL(next ?? '', 'http://localhost');
  assert.equal(url.pathname, PRODUCTS);
  assert.deepEqual([...url.searchParams], [['limit', '2'], ['cursor', cursor]]);
});

test('ends with a page without a cursor and a link', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const skus = await createMany(seller, 4);
  const first = readPage(await seller.send({ path: `${PRODUCTS}?limit=2` }));
  const last = readPage(await seller.send({ path: first.next ?? '' }));
  assert.deepEqual([...first.skus, ...last.skus], skus);
  assert.equal(last.cursor, null);
  assert.equal(last.next, undefined);
});

test('accepts a cursor with another limit, and more than once', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await createMany(seller, 6);
  const { cursor } = readPage(await seller.send({ path: `${PRODUCTS}?limit=1` }));
  for (let n = 0; n < 2; n += 1) {
    const page = readPage(await seller.send({ path: `${PRODUCTS}?cursor=${cursor}&limit=3` }));
    assert.deepEqual(page.skus, ['sku 1', 'sku 2', 'sku 3']);
  }
  const rest = readPage(await seller.send({ path: `${PRODUCTS}?cursor=${cursor}` }));
  assert.equal(rest.skus.length, 5);
});

test('returns cursors that need no escaping', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await createMany(seller, 2);
  const { cursor } = readPage(await seller.send({ path: `${PRODUCTS}?limit=1` }));
  assert.match(cursor ?? '', /^[A-Za-z0-9_-]{20,200}$/);
});

test('returns 304 for a later page while nothing has changed', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await createMany(seller, 3);
  const { next = '' } = readPage(await seller.send({ path: `${PRODUCTS}?limit=2` }));
  const tag = (await seller.send({ path: next })).headers['etag'] ?? '';
  const headers = { 'if-none-match': tag };
  assert.equal((await seller.send({ path: next, headers })).status, 304);
  await createMany(seller, 1, 'new');
  const page = readPage(await seller.send({ path: next, headers }));
  assert.deepEqual(page.skus, ['sku 2', 'new 0']);
});

test('rejects a cursor with any character changed', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await createMany(seller, 2);
  const { cursor } = readPage(await seller.send({ path: `${PRODUCTS}?limit=1` }));
  const good = cursor ?? '';
  const altered = [...good].map((character, at) =>
    good.slice(0, at) + (character === 'B' ? 'C' : 'B') + good.slice(at + 1));
  altered.push(good.slice(0, -1), good.slice(1), `${good}A`, `${good}=`, `${good}%20`, good + good);
  for (const text of altered) {
    const answer = await seller.send({ path: `${PRODUCTS}?limit=1&cursor=${text}` });
    assertProblem(answer, 400, 'invalid-query');
    assert.deepEqual(faultsOf(answer), ['cursor format'], text);
  }
  assert.equal((await seller.send({ path: `${PRODUCTS}?cursor=${good}` })).status, 200);
});

test('rejects malformed cursors', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const text of ['', '0', 'null', '%00', '%F0%9F%98%80', 'A'.repeat(43), 'A'.repeat(8000)]) {
    const answer = await seller.send({ path: `${PRODUCTS}?cursor=${text}` });
    assertProblem(answer, 400, 'invalid-query');
    assert.deepEqual(faultsOf(answer), ['cursor format']);
  }
});

test('rejects the cursor of another seller', async (t) => {
  const server = await startServer(t);
  const one = await server.makeSeller();
  const other = await server.makeSeller();
  await createMany(one, 2);
  await createMany(other, 2);
  const { cursor, next = '' } = readPage(await one.send({ path: `${PRODUCTS}?limit=1` }));
  assert.ok(cursor);
  const answer = await other.send({ path: next });
  assertProblem(answer, 400, 'invalid-query');
  assert.deepEqual(faultsOf(answer), ['cursor format']);
});
