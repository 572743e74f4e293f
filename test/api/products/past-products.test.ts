/** Products as they were at a position and at a time: requests, cursors, conditions and errors. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { makeClock } from '../../support/clock.ts';
import { startServer, type TestSeller } from '../../support/server.ts';
import { assertProblem, faultsOf } from '../problem.ts';

const PRODUCTS = '/api/v1/products';
const START = Date.parse('2026-03-01T10:00:00.000Z');
const HOUR_MS = 3_600_000;
const JSON_FIELD = { 'content-type': 'application/json' };

/** One change an hour: creates A (stock 1) and B (stock 2), renames A to C, zeroes B, deletes C. */
async function openShop(t: TestContext) {
  const clock = makeClock(START);
  const server = await startServer(t, { clock });
  const seller = await server.makeSeller();
  const patch = (sku: string, body: object) => seller.send({
    method: 'PATCH', path: `${PRODUCTS}/sku/${sku}`, headers: JSON_FIELD,
    body: JSON.stringify(body),
  });
  const bodies: string[] = [];
  const steps = [
    () => seller.create({ sku: 'A', stock: 1 }), () => seller.create({ sku: 'B', stock: 2 }),
    () => patch('A', { sku: 'C' }), () => patch('B', { stock: 0 }),
    () => seller.send({ method: 'DELETE', path: `${PRODUCTS}/sku/C` }),
  ];
  for (const step of steps) {
    const { status, text } = await step();
    assert.ok(status < 300, text);
    bodies.push(text);
    clock.now += HOUR_MS;
  }
  const [a = '', b = '', c = '', soldOut = ''] = bodies;
  return { server, seller, clock, a, b, c, soldOut, id: JSON.parse(a).id as string };
}

async function readList(seller: TestSeller, query: string): Promise<string> {
  const answer = await seller.send({ path: `${PRODUCTS}?${query}` });
  assert.equal(answer.status, 200, answer.text);
  return answer.text;
}

test('lists the products as they were at a position, and at a time', async (t) => {
  const { seller, a, b, c, soldOut } = await openShop(t);
  const cases: readonly [at: string | number, products: string][] = [
    [0, ''], [1, a], [2, `${a},${b}`], [3, `${c},${b}`], [4, `${c},${soldOut}`], [5, soldOut],
    ['2026-03-01T09:59:59.999Z', ''], ['2026-03-01T11:59:00Z', `${a},${b}`],
    ['2026-03-01T13:00:00%2B01:00', `${c},${b}`], ['2036-01-01T00:00:00Z', soldOut],
  ];
  for (const [at, products] of cases) {
    const list = await readList(seller, `at=${at}`);
    assert.equal(list, `{"products":[${products}],"next_cursor":null}`);
  }
});

test('returns a product as it was, by its id and by the SKU that it had', async (t) => {
  const { seller, a, b, c, id } = await openShop(t);
  const cases: readonly [path: string, body: string | undefined][] = [
    [`${id}?at=2`, a], [`${id}?at=4`, c], [`${id}?at=2026-03-01T10:30:00Z`, a],
    [`${id}?at=0`, undefined], [`${id}?at=5`, undefined],
    ['sku/A?at=2', a], ['sku/A?at=3', undefined], ['sku/C?at=3', c], ['sku/C?at=2', undefined],
    ['sku/B?at=3', b], ['sku/B?at=1', undefined], ['prd_0?at=1', undefined],
    ['sku/%07?at=1', undefined],
  ];
  for (const [path, body] of cases) {
    const answer = await seller.send({ path: `${PRODUCTS}/${path}` });
    if (body === undefined) {
      assert.match(assertProblem(answer, 404, 'not-found').detail, /You had no product .* at /);
      continue;
    }
    assert.equal(answer.text, body);
    assert.equal(answer.headers['cache-control'], 'private, no-cache');
    assert.equal(answer.headers['etag'], `"${JSON.parse(body).position}"`);
  }
});

test('keeps the position of the first page despite changes between pages', async (t) => {
  const { seller, c, soldOut } = await openShop(t);
  const { text: added } = await seller.create({}); // at 6
  for (const [at, position, one, two] of [
    ['2036-01-01T00:00:00Z', 6, soldOut, added], ['4', 4, c, soldOut],
  ]) {
    const first = JSON.parse(await readList(seller, `at=${at}&limit=1`));
    assert.equal(JSON.stringify(first.products), `[${one}]`);
    await seller.create({});
    const { next_cursor: cursor } = first;
    const path = `${PRODUCTS}?at=${at}&limit=1&cursor=${cursor}`;
    const { text, headers } = await seller.send({ path });
    assert.equal(text, `{"products":[${two}],"next_cursor":null}`);
    assert.equal(headers['seller-position'], `${position}`);
    for (const query of ['at=3&', '']) {
      const answer = await seller.send({ path: `${PRODUCTS}?${query}cursor=${cursor}` });
      assertProblem(answer, 400, 'invalid-query');
    }
  }
});

test('exports the products as they were, with the requested members', async (t) => {
  const { seller, a, b } = await openShop(t);
  const csv = await seller.send({ path: `${PRODUCTS}?at=2&format=csv&fields=sku,stock` });
  assert.equal(csv.text, 'sku,stock\r\nA,1\r\nB,2\r\n');
  assert.equal(csv.headers['seller-position'], '2');
  const headers = { accept: 'application/x-ndjson' };
  const lines = await seller.send({ path: `${PRODUCTS}?at=2026-03-01T11:00:00Z`, headers });
  assert.equal(lines.text, `${a}\n${b}\n`);
  assert.equal(lines.headers['seller-position'], '2');
  const page = JSON.parse(await readList(seller, 'at=2&fields=sku&limit=1'));
  assert.deepEqual(page.products, [{ sku: 'A' }]);
});

test('supports conditional requests and HEAD', async (t) => {
  const { seller, id } = await openShop(t);
  for (const path of [`${PRODUCTS}?at=3`, `${PRODUCTS}/${id}?at=4`]) {
    const same = await seller.send({ path, headers: { 'if-none-match': '"3"' } });
    assert.deepEqual([same.status, same.text, same.headers['etag']], [304, '', '"3"']);
    const other = await seller.send({ path, headers: { 'if-none-match': '"5"' } });
    assert.equal(other.status, 200);
    const head = await seller.send({ method: 'HEAD', path });
    assert.deepEqual([head.status, head.text, head.headers['etag']], [200, '', '"3"']);
    assert.equal(head.headers['content-length'], other.headers['content-length']);
  }
  const path = `${PRODUCTS}/${id}?at=4`;
  assertProblem(
    await seller.send({ path, headers: { 'if-match': '"4"' } }), 412, 'precondition-failed');
});

test('names the parameters that cannot be combined with a position', async (t) => {
  const { seller } = await openShop(t);
  const answer = await seller.send({ path: `${PRODUCTS}?q=a&at=2&sku=A&limit=5&sort=-price` });
  assertProblem(answer, 400, 'invalid-query');
  assert.deepEqual(faultsOf(answer), ['q mismatch', 'sku mismatch', 'sort mismatch']);
  assert.match(answer.text, /Does not combine with \\"at\\"/);
  const paged = await seller.send({ path: `${PRODUCTS}?at=2&format=csv&limit=5` });
  assert.deepEqual(faultsOf(paged), ['limit mismatch']);
  await readList(seller, 'at=2&sort=id');
});

test('rejects positions and times that are invalid, in the future or pruned', async (t) => {
  const { server, seller, clock, id, soldOut } = await openShop(t);
  const paths = [PRODUCTS, `${PRODUCTS}/${id}`, `${PRODUCTS}/sku/A`];
  const rejected = async (at: string, status: number, kind: string) => {
    for (const path of paths) {
      const answer = await seller.send({ path: `${path}?at=${at}`, headers: {
        'if-none-match': '*',
      } });
      assertProblem(answer, status, kind);
      if (status === 400) assert.match(faultsOf(answer)[0] ?? '', /^at /);
    }
  };
  for (const at of ['', '-1', '1.5', 'now', '2026-03-01', '6']) {
    await rejected(at, 400, 'invalid-query');
  }
  await server.store.pruneHistory(clock.now - HOUR_MS);
  for (const at of ['3', '2026-03-01T10:30:00Z']) await rejected(at, 410, 'history-pruned');
  assert.match(await readList(seller, 'at=4'), /"sku":"C".*"sku":"B"/);
  const other = await server.makeSeller();
  assert.equal(await readList(other, 'at=0'), '{"products":[],"next_cursor":null}');
  assertProblem(await other.send({ path: `${PRODUCTS}/${id}?at=0` }), 404, 'not-found');
  assert.equal((await seller.send({ path: `${PRODUCTS}/sku/B?at=5` })).text, soldOut);
  const writer = await server.makeSeller({ scopes: ['stock:write'] });
  assertProblem(await writer.send({ path: `${PRODUCTS}?at=0` }), 403, 'scope-missing');
});

test('says that a + in a time must be encoded', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  for (const [path, parameter] of [
    [PRODUCTS, 'at'], [PRODUCTS, 'updated_since'], ['/api/v1/stock', 'at'],
  ] as const) {
    const ask = (time: string) => seller.send({ path: `${path}?${parameter}=${time}` });
    const answer = await ask('2026-01-01T00:00:00+01:00');
    assertProblem(answer, 400, 'invalid-query');
    assert.equal(answer.json().errors[0].detail,
      'Has a space instead of a +. In a query, send + as %2B.');
    assert.notEqual((await ask('2026-01-01T00:00:00%2B01:00')).status, 400);
    assert.match((await ask('a+b')).json().errors[0].detail, /RFC 3339/);
  }
});
