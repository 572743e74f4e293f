/** PUT, PATCH and DELETE of products. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../support/http.ts';
import { makeProduct, startServer, type TestSeller } from '../../support/server.ts';
import { assertProblem, faultsOf } from '../problem.ts';

const PRODUCTS = '/api/v1/products';
const MUG = `${PRODUCTS}/sku/MUG`;
const BODY = { name: 'Mug', category: 'Kitchen', price: 19.99, stock: 7 };

function change(
  seller: TestSeller, method: string, path: string, body: unknown, headers: object = {},
): Promise<Answer> {
  return seller.send({
    method, path, headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function listAll(seller: TestSeller): Promise<unknown> {
  return (await seller.send({ path: PRODUCTS })).json();
}

test('PUT creates with 201, replaces with 200, and keeps an identical product', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const created = await change(seller, 'PUT', MUG, BODY);
  assert.equal(created.status, 201, created.text);
  assert.equal(created.headers.etag, '"1"');
  const { id } = created.json();
  assert.equal(created.headers.location, `${PRODUCTS}/${id}`);
  const replaced = await change(seller, 'PUT', MUG, { ...BODY, sku: 'MUG', stock: 8 });
  assert.equal(replaced.status, 200);
  assert.equal(replaced.headers.etag, '"2"');
  assert.equal(replaced.headers.location, undefined);
  assert.deepEqual({ ...replaced.json(), updated_at: '' }, {
    ...created.json(), stock: 8, position: 2, updated_at: '',
  });
  const same = await change(seller, 'PUT', MUG, { ...BODY, stock: 8 });
  assert.equal(same.status, 200);
  assert.equal(same.headers.etag, '"2"');
  assert.equal(same.text, replaced.text);
});

test('PUT rejects a body with another SKU, and reports every error', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const answer = await change(seller, 'PUT', MUG, { name: '', sku: 'CUP', price: 1 });
  assertProblem(answer, 400, 'invalid-data');
  assert.deepEqual(faultsOf(answer), [
    '/name blank', '/category required', '/stock required', '/sku mismatch',
  ]);
  assertProblem(await change(seller, 'PUT', `${PRODUCTS}/sku/%20`, BODY), 400, 'invalid-data');
  assert.deepEqual(await listAll(seller), { products: [], next_cursor: null });
});

test('PUT with preconditions only creates, or only replaces one version', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const put = (body: object, headers: object) => change(seller, 'PUT', MUG, body, headers);
  assertProblem(await put(BODY, { 'if-match': '"1"' }), 412, 'precondition-failed');
  assertProblem(await put(BODY, { 'if-match': '*' }), 412, 'precondition-failed');
  assert.equal((await put(BODY, { 'if-none-match': '*' })).status, 201);
  const before = await listAll(seller);
  const other = { ...BODY, stock: 1 };
  assertProblem(await put(other, { 'if-none-match': '*' }), 412, 'precondition-failed');
  assertProblem(await put(other, { 'if-match': '"2"' }), 412, 'precondition-failed');
  assertProblem(await put(other, { 'if-match': 'W/"1"' }), 412, 'precondition-failed');
  assert.deepEqual(await listAll(seller), before);
  assert.equal((await put(other, { 'if-match': '"7", "1"' })).headers.etag, '"2"');
});

for (const byId of [true, false]) {
  const where = byId ? 'id' : 'SKU';

  test(`PATCH changes only the members it contains, by ${where}`, async (t) => {
    const seller = await (await startServer(t)).makeSeller();
    const created = (await seller.create({ sku: 'MUG' })).json();
    const path = byId ? `${PRODUCTS}/${created.id}` : MUG;
    const patched = await seller.send({
      method: 'PATCH', path, headers: { 'content-type': 'application/merge-patch+json' },
      body: '{"price":1.5,"category":"Bar"}',
    });
    assert.equal(patched.status, 200, patched.text);
    assert.equal(patched.headers.etag, '"2"');
    const expected = { ...created, price: 1.5, category: 'Bar', position: 2 };
    assert.deepEqual({ ...patched.json(), updated_at: created.updated_at }, expected);
    const unchanged = await change(seller, 'PATCH', path, {});
    assert.equal(unchanged.text, patched.text);
    assert.equal(unchanged.headers.etag, '"2"');
  });

  test(`DELETE returns 204, then 404, and frees the SKU, by ${where}`, async (t) => {
    const seller = await (await startServer(t)).makeSeller();
    const { id } = (await seller.create({ sku: 'MUG' })).json();
    const path = byId ? `${PRODUCTS}/${id}` : MUG;
    const old = await seller.send({ method: 'DELETE', path, headers: { 'if-match': '"2"' } });
    assertProblem(old, 412, 'precondition-failed');
    const deleted = await seller.send({ method: 'DELETE', path, headers: { 'if-match': '"1"' } });
    assert.equal(deleted.status, 204);
    assert.equal(deleted.text, '');
    assert.equal(deleted.headers['content-length'], undefined);
    assertProblem(await seller.send({ method: 'DELETE', path }), 404, 'not-found');
    const again = await seller.create({ sku: 'MUG' });
    assert.equal(again.status, 201);
    assert.notEqual(again.json().id, id);
  });
}

test('PATCH rejects null, unknown members and a taken SKU, and changes nothing', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  await seller.create({ sku: 'MUG' });
  await seller.create({ sku: 'CUP' });
  const before = await listAll(seller);
  const nulls = await change(seller, 'PATCH', MUG, { stock: null, name: null, id: 'x' });
  assertProblem(nulls, 400, 'invalid-data');
  assert.deepEqual(faultsOf(nulls), ['/name type', '/stock type', '/id unknown']);
  assertProblem(await change(seller, 'PATCH', MUG, []), 400, 'invalid-data');
  assertProblem(await change(seller, 'PATCH', MUG, { sku: 'CUP' }), 409, 'sku-taken');
  const text = { 'content-type': 'text/plain' };
  assertProblem(await change(seller, 'PATCH', MUG, {}, text), 415, 'unsupported-media-type');
  assertProblem(await change(seller, 'PATCH', MUG, { stock: 1 }, { 'if-match': '"9"' }),
    412, 'precondition-failed');
  assert.deepEqual(await listAll(seller), before);
});

test('GET responds to preconditions with 304 and 412', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  await seller.create({ sku: 'MUG' });
  const get = (headers: object) => seller.send({ path: MUG, headers: { ...headers } });
  assert.equal((await get({ 'if-none-match': '"1"' })).status, 304);
  assert.equal((await get({ 'if-none-match': '"2"' })).status, 200);
  assert.equal((await get({ 'if-match': '"1"' })).status, 200);
  assert.equal((await get({ 'if-match': '*' })).status, 200);
  assertProblem(await get({ 'if-match': '"2"' }), 412, 'precondition-failed');
});

test('changes require the write scope', async (t) => {
  const server = await startServer(t);
  const reader = await server.makeSeller({ scopes: ['products:read'] });
  for (const [method, path] of [['PUT', MUG], ['PATCH', MUG], ['DELETE', MUG]] as const) {
    const body = method === 'DELETE' ? undefined : makeProduct();
    const answer = await change(reader, method, path, body);
    assertProblem(answer, 403, 'scope-missing');
    assertProblem(await server.send({ method, path }), 401, 'key-missing');
  }
});

test('only one of many concurrent changes to the same version succeeds', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  await seller.create({ sku: 'MUG', stock: 0 });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) =>
    change(seller, 'PATCH', MUG, { stock: n + 1 }, { 'if-match': '"1"' })));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal(answers.filter(({ status }) => status === 412).length, 19);
});
