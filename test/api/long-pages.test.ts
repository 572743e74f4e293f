/** Very long products: pages end early, and the server accepts a body with such a product. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGE_LIMIT_CHARACTERS } from '../../src/api/limits.ts';
import { startServer } from '../support/server.ts';
import { makeLongProduct } from './long-product.ts';

const PRODUCTS = '/api/v1/products';
const COUNT = 80;

test('ends pages of very long products early, and continues with the next product', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (let n = 1; n <= COUNT; n += 1) {
    assert.equal((await seller.create(makeLongProduct(`A${n}`))).status, 201);
  }
  const expected = Array.from({ length: COUNT }, (_, index) => `A${index + 1}`);
  for (const query of ['', '&sort=-id&archived=any', `&at=${COUNT}`]) {
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path: string = `${PRODUCTS}?limit=1000${query}${cursor && `&cursor=${cursor}`}`;
      const answer = await seller.send({ path });
      const { products, next_cursor: next } = answer.json();
      seen.push(...products.map(({ sku }: { sku: string }) => sku));
      sizes.push(answer.text.length);
      assert.equal(answer.headers['link'] === undefined, next === null);
      cursor = next;
    }
    assert.deepEqual(seen, query.includes('-id') ? expected.toReversed() : expected);
    assert.equal(sizes.length, 2);
    assert.ok(Math.max(...sizes) < PAGE_LIMIT_CHARACTERS + 40_000, String(sizes));
  }
  const some = await seller.send({ path: `${PRODUCTS}?limit=1000&fields=sku` });
  assert.equal(some.json().products.length, COUNT);
});

test('accepts the longest product when every character is escaped', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const body = JSON.stringify(makeLongProduct('🫖'.repeat(64))).replace(/[^ -~]/g, (unit) =>
    `\\u${unit.charCodeAt(0).toString(16)}`);
  assert.ok(body.length > 190_000, String(body.length));
  const headers = { 'content-type': 'application/json' };
  const answer = await seller.send({ method: 'POST', path: PRODUCTS, headers, body });
  assert.equal(answer.status, 201, answer.text.slice(0, 500));
  assert.equal(answer.json().sku, '🫖'.repeat(64));
});
