/** POST /api/v1/products with invalid data or JSON reports every error and changes nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeProduct, startServer, type TestSeller } from '../../support/server.ts';
import type { Answer } from '../../support/http.ts';
import { assertProblem, faultsOf } from '../problem.ts';

const PRODUCTS = '/api/v1/products';

function post(seller: TestSeller, body: string | Uint8Array): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return seller.send({ method: 'POST', path: PRODUCTS, headers, body });
}

/** Rejected creates leave no trace: the next one takes the first position. */
async function assertUnchanged(seller: TestSeller): Promise<void> {
  assert.deepEqual((await seller.send({ path: PRODUCTS })).json().products, []);
  assert.equal((await seller.create()).headers['etag'], '"1"');
}

test('reports every error in a body at once', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const answer = await post(seller, JSON.stringify({
    name: '', category: 5, sku: ' x', price: 1.999, colour: 'red', 'a/b~c': 1,
  }));
  const { detail } = assertProblem(answer, 400, 'invalid-data');
  assert.match(detail, /7 errors/);
  assert.deepEqual(new Set(faultsOf(answer)), new Set([
    '/name blank', '/category type', '/sku characters', '/price precision', '/stock required',
    '/colour unknown', '/a~1b~0c unknown',
  ]));
  await assertUnchanged(seller);
});

test('reports all five required members that an empty object lacks', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const answer = await post(seller, '{}');
  assertProblem(answer, 400, 'invalid-data');
  const required = ['name', 'category', 'sku', 'price', 'stock'].map((name) => `/${name} required`);
  assert.deepEqual(faultsOf(answer), required);
  await assertUnchanged(seller);
});

test('rejects each invalid value with its pointer and its code', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const faults: [member: string, value: unknown, code: string][] = [
    ['name', null, 'type'], ['name', 7, 'type'], ['name', ['x'], 'type'], ['name', ' \t', 'blank'],
    ['name', 'x'.repeat(201), 'length'], ['name', '\u{1f600}'.repeat(201), 'length'],
    ['name', 'a\0b', 'characters'], ['name', 'a\nb', 'characters'],
    ['name', '\ud800', 'characters'], ['category', true, 'type'], ['category', '\u3000', 'blank'],
    ['category', 'x'.repeat(101), 'length'], ['category', 'x\udc00', 'characters'],
    ['sku', {}, 'type'], ['sku', '', 'blank'], ['sku', 'x'.repeat(65), 'length'],
    ['sku', 'x ', 'characters'], ['sku', 'a\u200bb', 'characters'],
    ['sku', 'a\u202eb', 'characters'], ['sku', 'a\0', 'characters'],
    ['sku', '\udfff', 'characters'],
    ['price', '19.99', 'type'], ['price', null, 'type'], ['price', -0.01, 'range'],
    ['price', 1e12, 'range'], ['price', 1e300, 'range'], ['price', 0.005, 'precision'],
    ['stock', '7', 'type'], ['stock', [], 'type'], ['stock', -1, 'range'],
    ['stock', 1_000_000_001, 'range'], ['stock', 1.5, 'precision'],
    ['id', 'prd_1', 'unknown'], ['currency', 'EUR', 'unknown'], ['position', 1, 'unknown'],
    ['', 1, 'unknown'], ['constructor', 1, 'unknown'],
  ];
  for (const [member, value, code] of faults) {
    const answer = await seller.create({ [member]: value });
    assertProblem(answer, 400, 'invalid-data');
    assert.deepEqual(faultsOf(answer), [`/${member} ${code}`], JSON.stringify(value));
  }
  await assertUnchanged(seller);
});

test('rejects a member named __proto__', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const answer = await post(seller, `{"__proto__":${JSON.stringify(makeProduct())}}`);
  assertProblem(answer, 400, 'invalid-data');
  const faults = faultsOf(answer);
  assert.equal(faults.length, 6);
  assert.ok(faults.includes('/__proto__ unknown'));
  assert.ok(faults.includes('/name required'));
});

test('lists at most fifty errors, and says how many there are', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const members = Array.from({ length: 200 }, (_, n) => [`x${n}`, n]);
  const answer = await seller.create(Object.fromEntries(members));
  const { detail } = assertProblem(answer, 400, 'invalid-data');
  assert.equal(faultsOf(answer).length, 50);
  assert.match(detail, /200/);
});

for (const body of ['null', 'true', '12', '"text"', '[]', '[{"name":"n"}]']) {
  test(`rejects ${body}, which is not an object`, async (t) => {
    const server = await startServer(t);
    const seller = await server.makeSeller();
    const answer = await post(seller, body);
    assertProblem(answer, 400, 'invalid-data');
    assert.deepEqual(faultsOf(answer), [' type']);
  });
}

test('rejects malformed JSON', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const good = JSON.stringify(makeProduct());
  const bodies = [
    '', ' ', '{', good.slice(0, -1), `${good}x`, `${good}${good}`, good.replace('}', ',}'),
    good.replaceAll('"', '\''), '{"name":NaN}', '{name:1}', '// x\n{}', `\ufeff${good}`,
    '{"name":"\n"}', '{"name":"\\x"}', '{"price":01}', '{"price":.5}', '"',
  ];
  for (const body of bodies) {
    assertProblem(await post(seller, body), 400, 'invalid-json');
  }
  await assertUnchanged(seller);
});

test('rejects bytes that are not UTF-8', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const [before = '', after = ''] = JSON.stringify({ ...makeProduct(), name: '@' }).split('@');
  for (const bytes of [[0xe9], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f]]) {
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
    const { detail } = assertProblem(await post(seller, body), 400, 'invalid-json');
    assert.match(detail, /UTF-8/);
  }
  await assertUnchanged(seller);
});

test('rejects a duplicate member, however it is escaped', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const rest = '"category":"c","sku":"s","price":1,"stock":1';
  for (const twice of ['"name":"a","name":"a"', '"name":"a","na\\u006de":"b"']) {
    const answer = await post(seller, `{${twice},${rest}}`);
    assertProblem(answer, 400, 'invalid-json');
    assert.deepEqual(faultsOf(answer), ['/name duplicate']);
  }
  const nested = await post(seller, `{"name":{"x":[{"y":1,"y":2}]},${rest}}`);
  assertProblem(nested, 400, 'invalid-json');
  assert.deepEqual(faultsOf(nested), ['/name/x/0/y duplicate']);
  await assertUnchanged(seller);
});

test('rejects a number that a double cannot represent, and points to it', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const [price, stock, fault] of [
    ['1e400', '1', '/price range'], ['1e-400', '1', '/price precision'],
    ['1', '0.9999999999999999999999', '/stock precision'],
  ] as const) {
    const body = `{"name":"n","category":"c","sku":"s","price":${price},"stock":${stock}}`;
    const answer = await post(seller, body);
    assertProblem(answer, 400, 'invalid-json');
    assert.deepEqual(faultsOf(answer), [fault]);
  }
  await assertUnchanged(seller);
});

test('accepts every notation of a number that a double can represent', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  for (const [price, stock] of [['12.50', '1.0'], ['1e2', '1E+1'], ['0.1', '-0']] as const) {
    const body = `{"name":"n","category":"c","sku":"${price}","price":${price},"stock":${stock}}`;
    const answer = await post(seller, body);
    assert.equal(answer.status, 201, answer.text);
    const made = answer.json();
    assert.deepEqual([made.price, made.stock], [Number(price), Number(stock) + 0]);
  }
});

test('rejects JSON nested deeper than eight levels', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const nest = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  assertProblem(await post(seller, nest(8)), 400, 'invalid-data');
  for (const levels of [9, 30_000]) {
    assertProblem(await post(seller, nest(levels)), 400, 'invalid-json');
  }
  await assertUnchanged(seller);
});

test('rejects query parameters on a create', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const answer = await seller.send({
    method: 'POST', path: `${PRODUCTS}?limit=1`, headers: { 'content-type': 'application/json' },
    body: JSON.stringify(makeProduct()),
  });
  assertProblem(answer, 400, 'invalid-query');
  assert.deepEqual(faultsOf(answer), ['limit unknown']);
  await assertUnchanged(seller);
});
