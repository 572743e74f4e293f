/** Many concurrent creates: each has its own outcome, and positions have no gaps. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../support/http.ts';
import { startServer, type TestSeller } from '../../support/server.ts';
import { assertProblem } from '../problem.ts';

const PRODUCTS = '/api/v1/products';

function statusesOf(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status).sort();
}

function positionsOf(answers: readonly Answer[]): number[] {
  return answers.map((answer) => answer.json().position as number).sort((a, b) => a - b);
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n + 1);
}

test('rejects only the duplicates among 200 concurrent creates, and leaves no gap', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  // 180 SKUs; each of the first 20 is sent twice.
  const skus = upTo(180).flatMap((n) => (n <= 20 ? [`sku ${n}`, `sku ${n}`] : [`sku ${n}`]));
  assert.equal(skus.length, 200);
  const answers = await Promise.all(skus.map((sku) => seller.create({ sku })));
  for (const [sku, indexes] of Map.groupBy(skus.keys(), (index) => skus[index] ?? '')) {
    const same = answers.filter((_, index) => indexes.includes(index));
    assert.deepEqual(statusesOf(same), same.length === 2 ? [201, 409] : [201], sku);
  }
  const created = answers.filter(({ status }) => status === 201);
  assert.deepEqual(positionsOf(created), upTo(180));
  for (const answer of created) {
    assert.equal(answer.headers['etag'], `"${answer.json().position}"`);
  }
  for (const answer of answers) {
    if (answer.status !== 201) assertProblem(answer, 409, 'sku-taken');
  }
  const list = await seller.send({ path: `${PRODUCTS}?limit=1000` });
  assert.equal(list.headers['etag'], '"180"');
  const byPosition = created.map((answer) => answer.json())
    .sort((one, other) => one.position - other.position);
  assert.deepEqual(list.json().products, byPosition);
});

test('counts the positions of each seller separately during concurrent creates', async (t) => {
  const server = await startServer(t);
  const sellers = await Promise.all(upTo(4).map(() => server.makeSeller()));
  const createAll = (seller: TestSeller): Promise<Answer[]> =>
    Promise.all(upTo(30).map((n) => seller.create({ sku: `sku ${n}` })));
  for (const answers of await Promise.all(sellers.map(createAll))) {
    assert.deepEqual(positionsOf(answers), upTo(30));
  }
});

test('accepts one of many concurrent creates of the same SKU', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const answers = await Promise.all(upTo(40).map(() => seller.create({ sku: 'same' })));
  assert.deepEqual(statusesOf(answers), [201, ...Array.from({ length: 39 }, () => 409)]);
  assert.equal((await seller.create()).headers['etag'], '"2"');
});

test('shows a seller its own write as soon as it is acknowledged', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await Promise.all(upTo(50).map(async () => {
    const created = await seller.create();
    const { location = '' } = created.headers;
    assert.equal((await seller.send({ path: location })).text, created.text);
    const list = await seller.send({ path: `${PRODUCTS}?limit=1000` });
    const ids = list.json().products.map(({ id }: { id: string }) => id);
    assert.ok(ids.includes(created.json().id));
    assert.equal(list.headers['etag'], `"${ids.length}"`);
  }));
});
