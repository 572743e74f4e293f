/** POST /api/v1/products that succeeds, or finds the SKU taken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClock } from '../../support/clock.ts';
import type { Answer } from '../../support/http.ts';
import { startServer } from '../../support/server.ts';
import { assertProblem } from '../problem.ts';

const PRODUCTS = '/api/v1/products';

test('returns 201 with the whole product', async (t) => {
  const clock = makeClock(Date.parse('2026-03-04T05:06:07.089Z'));
  const server = await startServer(t, { clock });
  const seller = await server.makeSeller();
  const sent = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 19.99, stock: 7 };
  const answer = await seller.create(sent);
  assert.equal(answer.status, 201);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers['cache-control'], 'no-store');
  const { id, ...product } = answer.json();
  assert.match(id, /^prd_[0-9a-z]{1,36}$/);
  assert.deepEqual(product, {
    ...sent, currency: 'EUR', position: 1,
    created_at: '2026-03-04T05:06:07.089Z', updated_at: '2026-03-04T05:06:07.089Z',
  });
});

test('returns a Location that serves the same product', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const created = await seller.create();
  const location = created.headers['location'] ?? '';
  assert.equal(location, `${PRODUCTS}/${created.json().id}`);
  const read = await seller.send({ path: location });
  assert.equal(read.status, 200);
  assert.equal(read.text, created.text);
  assert.equal(read.headers['etag'], created.headers['etag']);
});

test('counts positions from 1 without gaps, separately for each seller', async (t) => {
  const server = await startServer(t);
  const one = await server.makeSeller();
  const other = await server.makeSeller();
  const tags: Record<string, (string | undefined)[]> = { one: [], other: [] };
  for (let n = 0; n < 3; n += 1) {
    tags['one']?.push((await one.create()).headers['etag']);
    if (n > 0) tags['other']?.push((await other.create()).headers['etag']);
  }
  assert.deepEqual(tags, { one: ['"1"', '"2"', '"3"'], other: ['"1"', '"2"'] });
});

test('rejects a SKU that the seller already has, and uses no position for it', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  assert.equal((await seller.create({ sku: 'A-1' })).status, 201);
  const { detail } = assertProblem(await seller.create({ sku: 'A-1' }), 409, 'sku-taken');
  assert.match(detail, /"A-1"/);
  assert.equal((await seller.create({ sku: 'A-2' })).headers['etag'], '"2"');
  const list = (await seller.send({ path: PRODUCTS })).json();
  assert.deepEqual(list.products.map(({ sku }: { sku: string }) => sku), ['A-1', 'A-2']);
});

test('treats both Unicode forms of a SKU as the same, and returns it composed', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const first = await seller.create({ sku: 'cafe\u0301' });
  assert.equal(first.status, 201);
  assert.equal(first.json().sku, 'caf\u00e9');
  assertProblem(await seller.create({ sku: 'caf\u00e9' }), 409, 'sku-taken');
});

test('distinguishes SKUs by case', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  assert.equal((await seller.create({ sku: 'abc' })).status, 201);
  assert.equal((await seller.create({ sku: 'ABC' })).status, 201);
});

test('lets another seller use the same SKU', async (t) => {
  const server = await startServer(t);
  const one = await server.makeSeller();
  const other = await server.makeSeller();
  assert.equal((await one.create({ sku: 'SAME' })).status, 201);
  const answer = await other.create({ sku: 'SAME' });
  assert.equal(answer.status, 201);
  assert.equal(answer.headers['etag'], '"1"');
});

test('stores name and category exactly as sent', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const name = '  cafe\u0301 "Größe" \\ \u{1f600} </script> ';
  const category = 'カップ & co';
  const created = await seller.create({ name, category });
  assert.equal(created.json().name, name);
  assert.equal(created.json().category, category);
  assert.equal(Number(created.headers['content-length']), Buffer.byteLength(created.text));
  const read = await seller.send({ path: created.headers['location'] ?? '' });
  assert.equal(read.json().name, name);
});

test('accepts every member at its limit', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const largest = {
    name: '\u{1f600}'.repeat(200), category: '\u{1f600}'.repeat(100),
    sku: '\u{1f600}'.repeat(64), price: 999_999_999_999.99, stock: 1_000_000_000,
  };
  const smallest = { name: 'n', category: 'c', sku: 's', price: 0, stock: 0 };
  for (const members of [largest, smallest]) {
    const answer = await seller.create(members);
    assert.equal(answer.status, 201, answer.text);
    const { name, category, sku, price, stock } = answer.json();
    assert.deepEqual({ name, category, sku, price, stock }, members);
  }
});

const PRICES = [
  { currency: 'EUR', good: [0, 0.01, 0.07, 1.1, 19.99, 100, 4.35, 1_000_000.01], bad: 0.001 },
  { currency: 'JPY', good: [0, 1, 1980, 999_999_999_999], bad: 0.5 },
  { currency: 'KWD', good: [0.001, 1.005, 12.345, 999_999_999_999.999], bad: 1.0001 },
];

for (const { currency, good, bad } of PRICES) {
  test(`returns a price in ${currency} as the number that was sent`, async (t) => {
    const server = await startServer(t);
    const seller = await server.makeSeller({ currency });
    const answers: Answer[] = [];
    for (const price of good) answers.push(await seller.create({ price }));
    assert.deepEqual(answers.map((answer) => answer.json().price), good);
    assert.deepEqual(new Set(answers.map((answer) => answer.json().currency)), new Set([currency]));
    const list = (await seller.send({ path: PRODUCTS })).json();
    assert.deepEqual(list.products.map(({ price }: { price: number }) => price), good);
    const refused = await seller.create({ price: bad });
    assertProblem(refused, 400, 'invalid-data');
    assert.deepEqual(refused.json().errors[0].code, 'precision');
  });
}

test('accepts a price and a stock in every JSON notation', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const answer = await seller.send({
    method: 'POST', path: PRODUCTS, headers: { 'content-type': 'application/json' },
    body: '{"name":"n","category":"c","sku":"s","price":1.99e1,"stock":-0}',
  });
  assert.equal(answer.status, 201);
  assert.equal(answer.json().price, 19.9);
  assert.match(answer.text, /"stock":0,/);
});
