/** Conditional requests on products: a change succeeds only on the version that the client read. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Answer } from '../support/http.ts';
import { startServer, type TestSeller } from '../support/server.ts';
import { assertProblem } from './problem.ts';

const PRODUCTS = '/api/v1/products';
const BY_SKU = `${PRODUCTS}/sku/one`;
const REPLACEMENT = { name: 'Another', category: 'Kitchen', price: 2, stock: 2 };

interface Shop {
  readonly seller: TestSeller;
  /** The address of the product by its id. */
  readonly location: string;
  ask(
    method: string, path: string, headers: Record<string, string>, body?: object,
  ): Promise<Answer>;
}

/** A seller whose product "one" is at position 2, between two others. */
async function openShop(t: TestContext): Promise<Shop> {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create();
  const { location = '' } = (await seller.create({ sku: 'one', stock: 1 })).headers;
  await seller.create();
  return {
    seller, location,
    ask: (method, path, headers, body) => seller.send({
      method, path, headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    }),
  };
}

/** Requests that change a product each time they are sent. */
const changes: readonly (readonly [method: string, body?: object])[] = [
  ['PATCH', { stock: 5 }], ['PUT', REPLACEMENT], ['DELETE'],
];

for (const [method, body] of changes) {
  test(`${method} changes only the version that If-Match names`, async (t) => {
    const { seller, ask } = await openShop(t);
    for (const field of ['"1"', '"3"', '"1", "3"', 'W/"2"', '"x"', '"2-zip"']) {
      const answer = await ask(method, BY_SKU, { 'if-match': field }, body);
      const { detail } = assertProblem(answer, 412, 'precondition-failed');
      assert.match(detail, /"2"/);
      const isWeak = field.startsWith('W/');
      assert.match(detail, isWeak ? /without W\// : /has changed/);
    }
    assert.equal((await seller.send({ path: BY_SKU })).headers.etag, '"2"');
    const { status } = await ask(method, BY_SKU, { 'if-match': '"9", "2"' }, body);
    assert.ok(status === 200 || status === 204);
    const again = await ask(method, BY_SKU, { 'if-match': '"2"' }, body);
    assert.equal(again.status, method === 'DELETE' ? 404 : 412);
    assert.equal((await seller.send({ path: PRODUCTS })).headers.etag, '"4"');
  });

  test(`${method} changes nothing if If-None-Match matches`, async (t) => {
    const { seller, ask } = await openShop(t);
    for (const field of ['*', '"2"', 'W/"2"', '"1", "2-gzip"']) {
      const answer = await ask(method, BY_SKU, { 'if-none-match': field }, body);
      assertProblem(answer, 412, 'precondition-failed');
    }
    assert.equal((await seller.send({ path: BY_SKU })).headers.etag, '"2"');
    const { status } = await ask(method, BY_SKU, { 'if-none-match': '"1"' }, body);
    assert.ok(status === 200 || status === 204);
  });

  test(`${method} rejects a malformed condition`, async (t) => {
    const { seller, ask } = await openShop(t);
    for (const name of ['if-match', 'if-none-match']) {
      for (const field of ['2', '"2', '', '"2" "3"']) {
        const answer = await ask(method, BY_SKU, { [name]: field }, body);
        assertProblem(answer, 400, 'invalid-data');
      }
    }
    assert.equal((await seller.send({ path: PRODUCTS })).headers.etag, '"3"');
  });
}

test('PUT only creates with If-None-Match: *, and only replaces with If-Match', async (t) => {
  const { ask } = await openShop(t);
  const path = `${PRODUCTS}/sku/new`;
  for (const field of ['*', '"1"']) {
    const answer = await ask('PUT', path, { 'if-match': field }, REPLACEMENT);
    assertProblem(answer, 412, 'precondition-failed');
  }
  const created = await ask('PUT', path, { 'if-none-match': '*' }, REPLACEMENT);
  assert.deepEqual([created.status, created.headers.etag], [201, '"4"']);
  const again = await ask('PUT', path, { 'if-none-match': '*' }, { ...REPLACEMENT, stock: 3 });
  assertProblem(again, 412, 'precondition-failed');
  const replaced = await ask('PUT', path, { 'if-match': '*' }, { ...REPLACEMENT, stock: 3 });
  assert.deepEqual([replaced.status, replaced.headers.etag], [200, '"5"']);
});

test('GET returns 304 for the current version, and 412 for another', async (t) => {
  const { location, ask } = await openShop(t);
  for (const path of [location, BY_SKU]) {
    for (const field of ['"2"', 'W/"2"', '"1", "2"', '*']) {
      const answer = await ask('GET', path, { 'if-none-match': field });
      assert.deepEqual([answer.status, answer.text], [304, '']);
      assert.equal(answer.headers.etag, '"2"');
    }
    assert.equal((await ask('GET', path, { 'if-none-match': '"1"' })).status, 200);
    assert.equal((await ask('GET', path, { 'if-match': '"2"' })).status, 200);
    assertProblem(await ask('GET', path, { 'if-match': '"1"' }), 412, 'precondition-failed');
  }
});

test('an ETag applies only to the product of its own seller', async (t) => {
  const server = await startServer(t);
  const [one, other] = [await server.makeSeller(), await server.makeSeller()];
  await one.create({ sku: 'one' });
  await other.create({ sku: 'one' });
  await other.create({ sku: 'two' });
  const headers = { 'if-match': '"2"' };
  const request = { method: 'DELETE', path: BY_SKU, headers };
  assertProblem(await one.send(request), 412, 'precondition-failed');
  assertProblem(await other.send(request), 412, 'precondition-failed');
  assert.equal((await other.send({ ...request, headers: { 'if-match': '"1"' } })).status, 204);
  assert.equal((await one.send({ path: BY_SKU })).status, 200);
});
