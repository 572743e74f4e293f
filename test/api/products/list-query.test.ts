/** Query parameters of the list: what they find, in which order, and which are rejected. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Answer } from '../../support/http.ts';
import { startServer, type TestSeller } from '../../support/server.ts';
import { assertProblem, faultsOf } from '../problem.ts';

const PRODUCTS = '/api/v1/products';

const CATALOGUE = [
  { sku: 'A-1', name: 'Blue Mug', category: 'Kitchen', price: 12.5, stock: 40 },
  { sku: 'A-2', name: 'blue bowl', category: 'Kitchen', price: 9.99, stock: 0 },
  { sku: 'b-3', name: 'Straße', category: 'Books', price: 12.5, stock: 3 },
  { sku: 'b-4', name: 'Crème 中文 mug', category: 'Food', price: 0, stock: 1_000_000_000 },
  { sku: 'ä-5', name: 'ΟΔΟΣ', category: 'Maps & "plans"', price: 100, stock: 3 },
];

async function startShop(t: TestContext): Promise<TestSeller> {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const product of CATALOGUE) await seller.create(product);
  const other = await server.makeSeller();
  await other.create({ name: 'Blue mug of somebody else', sku: 'A-1' });
  return seller;
}

function list(seller: TestSeller, parameters: Record<string, string | number>): Promise<Answer> {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) =>
    [name, String(value)]));
  return seller.send({ path: `${PRODUCTS}?${query}` });
}

function skusOf(answer: Answer): string {
  assert.equal(answer.status, 200, answer.text);
  return answer.json().products.map(({ sku }: { sku: string }) => sku).join(' ');
}

const finds: readonly [parameters: Record<string, string | number>, skus: string][] = [
  [{ q: 'mug' }, 'A-1 b-4'],
  [{ q: 'MUG' }, 'A-1 b-4'],
  [{ q: 'blue' }, 'A-1 A-2'],
  [{ q: 'STRASSE' }, 'b-3'],
  [{ q: 'οδος' }, 'ä-5'],
  [{ q: 'creme' }, 'b-4'],
  [{ q: '中文' }, 'b-4'],
  [{ q: '中' }, 'b-4'],
  [{ q: 'u' }, 'A-1 A-2 b-4'],
  [{ q: 'a-' }, 'A-1 A-2 ä-5'],
  [{ q: 'kitchen' }, 'A-1 A-2'],
  [{ q: '"plans"' }, 'ä-5'],
  [{ q: '%' }, ''],
  [{ q: 'mug AND blue' }, ''],
  [{ q: 'mugKitchen' }, ''],
  [{ category: 'Kitchen' }, 'A-1 A-2'],
  [{ category: 'kitchen' }, ''],
  [{ sku: 'b-3' }, 'b-3'],
  [{ sku: 'a\u0308-5' }, 'ä-5'],
  [{ price_min: 12.5 }, 'A-1 b-3 ä-5'],
  [{ price_max: '9.99' }, 'A-2 b-4'],
  [{ price_min: 12.5, price_max: '12.50' }, 'A-1 b-3'],
  [{ stock_min: 3, stock_max: 40 }, 'A-1 b-3 ä-5'],
  [{ stock_max: 0 }, 'A-2'],
  [{ changed_since: 3 }, 'b-4 ä-5'],
  [{ changed_since: 5 }, ''],
  [{ updated_since: '2026-01-01T00:00:00Z' }, 'A-1 A-2 b-3 b-4 ä-5'],
  [{ updated_since: '2200-01-01T00:00:00Z' }, ''],
  [{ sort: 'id' }, 'A-1 A-2 b-3 b-4 ä-5'],
  [{ sort: '-id' }, 'ä-5 b-4 b-3 A-2 A-1'],
  [{ sort: 'name' }, 'A-2 A-1 b-4 b-3 ä-5'],
  [{ sort: '-name' }, 'ä-5 b-3 b-4 A-1 A-2'],
  [{ sort: 'sku' }, 'A-1 A-2 b-3 b-4 ä-5'],
  [{ sort: 'price' }, 'b-4 A-2 A-1 b-3 ä-5'],
  [{ sort: '-price' }, 'ä-5 b-3 A-1 A-2 b-4'],
  [{ sort: 'stock' }, 'A-2 b-3 ä-5 A-1 b-4'],
  [{ sort: '-updated_at', limit: 1, q: 'kitchen' }, 'A-2'],
  [{ q: 'mug', sort: '-price', price_min: 0, stock_min: 1, category: 'Food' }, 'b-4'],
];

for (const [parameters, skus] of finds) {
  test(`${new URLSearchParams(parameters as never)} finds ${skus || 'nothing'}`, async (t) => {
    const seller = await startShop(t);
    assert.equal(skusOf(await list(seller, parameters)), skus);
  });
}

for (const sort of ['-id', 'name', '-name', 'sku', '-price', 'stock', 'updated_at']) {
  test(`pages through ${sort} with cursors, without duplicates or gaps`, async (t) => {
    const seller = await startShop(t);
    const whole = skusOf(await list(seller, { sort, q: 'e' }));
    const seen: string[] = [];
    let path: string | undefined = `${PRODUCTS}?sort=${sort}&q=e&limit=1`;
    while (path !== undefined) {
      const page: Answer = await seller.send({ path });
      seen.push(skusOf(page));
      path = /<(.*)>; rel="next"/.exec(page.headers['link'] as string)?.[1];
      assert.equal(page.json().next_cursor === null, path === undefined);
    }
    assert.equal(seen.join(' '), whole);
  });
}

test('rejects a cursor from other filters or another order', async (t) => {
  const seller = await startShop(t);
  const { next_cursor: cursor } = (await list(seller, { sort: 'price', limit: 1 })).json();
  for (const other of [{ sort: '-price' }, { sort: 'price', q: 'mug' }, {}]) {
    const answer = await list(seller, { ...other, cursor });
    assertProblem(answer, 400, 'invalid-query');
    assert.deepEqual(faultsOf(answer), ['cursor format']);
  }
  assert.equal((await list(seller, { sort: 'price', limit: 3, cursor })).status, 200);
});

test('returns only the requested members, in their usual order', async (t) => {
  const seller = await startShop(t);
  for (const parameters of [{ q: 'straße' }, { limit: 3 }]) {
    const answer = await list(seller, { ...parameters, fields: 'stock,sku,price' });
    const product = answer.json().products.at(-1);
    assert.deepEqual(Object.entries(product), [['sku', 'b-3'], ['price', 12.5], ['stock', 3]]);
  }
});

test('returns 304 for search results until anything changes', async (t) => {
  const seller = await startShop(t);
  const path = `${PRODUCTS}?q=mug`;
  const { etag = '' } = (await seller.send({ path })).headers;
  const ask = () => seller.send({ path, headers: { 'if-none-match': etag } });
  assert.equal((await ask()).status, 304);
  await seller.create({ name: 'Mug of tin', sku: 'Z' });
  assert.equal(skusOf(await ask()), 'A-1 b-4 Z');
});

test('reflects each change immediately, and no longer finds deleted products', async (t) => {
  const seller = await startShop(t);
  const headers = { 'content-type': 'application/json' };
  const path = `${PRODUCTS}/sku/A-1`;
  for (const price of [1, 2, 3]) {
    await seller.send({ method: 'PATCH', path, headers, body: JSON.stringify({ price }) });
    assert.equal(skusOf(await list(seller, { price_min: price, price_max: price })), 'A-1');
  }
  await seller.send({ method: 'DELETE', path });
  assert.equal(skusOf(await list(seller, { q: 'mug' })), 'b-4');
});

test('reports every invalid parameter at once', async (t) => {
  const seller = await startShop(t);
  const answer = await list(seller, {
    q: ' ', category: '', sku: ' x', price_min: '1.234', price_max: '-1', stock_min: '1.5',
    stock_max: '1000000001', updated_since: 'yesterday', changed_since: 'x', sort: 'colour',
    limit: 0, fields: 'sku,colour', format: 'xml',
  });
  assertProblem(answer, 400, 'invalid-query');
  assert.deepEqual(faultsOf(answer), [
    'q blank', 'category blank', 'sku format', 'price_min precision', 'price_max range',
    'stock_min range', 'stock_max range', 'updated_since format', 'changed_since range',
    'sort format', 'limit range', 'fields format', 'format format',
  ]);
});

test('rejects prices that a double cannot represent', async (t) => {
  const seller = await startShop(t);
  const answer = await list(seller, {
    price_min: '99999999999.0000000001', price_max: '12.5000000000', stock_min: '1e0',
    stock_max: '40.0',
  });
  assertProblem(answer, 400, 'invalid-query');
  assert.deepEqual(faultsOf(answer),
    ['price_min precision', 'stock_min range', 'stock_max range']);
  const { detail } = answer.json().errors[0];
  assert.match(detail, /cannot hold it exactly/);
});

test('rejects numbers with leading zeros', async (t) => {
  const seller = await startShop(t);
  const answer = await list(seller, {
    price_min: '01.5', price_max: '00', stock_min: '01', stock_max: '007', changed_since: '01',
    limit: '010',
  });
  assertProblem(answer, 400, 'invalid-query');
  assert.deepEqual(faultsOf(answer).map((fault) => fault.split(' ')[0]), [
    'price_min', 'price_max', 'stock_min', 'stock_max', 'changed_since', 'limit',
  ]);
});

test('rejects unknown and duplicate parameters', async (t) => {
  const seller = await startShop(t);
  const answer = await seller.send({ path: `${PRODUCTS}?q=a&q=b&colour=red` });
  assertProblem(answer, 400, 'invalid-query');
  assert.deepEqual(faultsOf(answer), ['q duplicate', 'colour unknown']);
});
