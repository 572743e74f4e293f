/** Idempotency-Key: a repeated request takes effect once and gets the same response. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../support/http.ts';
import { makeProduct, startServer, type TestSeller } from '../support/server.ts';
import { assertProblem } from './problem.ts';

const PRODUCTS = '/api/v1/products';

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly key?: string;
  readonly body?: unknown;
}

function send(seller: TestSeller, { method = 'POST', path = PRODUCTS, key, body }: Sent) {
  return seller.send({
    method, path,
    headers: {
      'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** The parts of a response that a replay repeats. */
function replayedParts({ status, headers, text }: Answer) {
  return { status, etag: headers.etag, location: headers.location, text };
}

test('a replay has the same status, ETag, Location and body, and says so', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const sent = { key: '"order 7"', body: makeProduct() };
  const first = await send(seller, sent);
  assert.equal(first.status, 201);
  assert.equal(first.headers['idempotent-replay'], undefined);
  await send(seller, { method: 'PATCH', path: first.headers.location ?? '', body: { stock: 1 } });
  const again = await send(seller, sent);
  assert.deepEqual(replayedParts(again), replayedParts(first));
  assert.equal(again.headers['idempotent-replay'], 'true');
  const { position } = (await seller.send({ path: first.headers.location ?? '' })).json();
  assert.equal(position, 2);
});

test('replays every kind of change', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const path = `${PRODUCTS}/sku/MUG`;
  const body = { name: 'Mug', category: 'Kitchen', price: 1, stock: 1 };
  const changes: readonly Sent[] = [
    { method: 'PUT', path, key: 'put-1', body },
    { method: 'PUT', path, key: 'put-2', body: { ...body, stock: 2 } },
    { method: 'PATCH', path, key: 'patch', body: { stock: 3 } },
    { method: 'DELETE', path, key: 'delete' },
  ];
  const first: Answer[] = [];
  for (const sent of changes) first.push(await send(seller, sent));
  assert.deepEqual(first.map(({ status }) => status), [201, 200, 200, 204]);
  for (const [index, sent] of changes.entries()) {
    const again = await send(seller, sent);
    assert.deepEqual(replayedParts(again), first[index] && replayedParts(first[index]));
    assert.equal(again.headers['idempotent-replay'], 'true');
  }
  assert.deepEqual((await seller.send({ path: PRODUCTS })).json().products, []);
});

test('treats the quoted and the bare form as the same key', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const body = makeProduct();
  const first = await send(seller, { key: '"k-1"', body });
  const again = await send(seller, { key: 'k-1', body });
  assert.equal(again.headers['idempotent-replay'], 'true');
  assert.equal(again.text, first.text);
});

test('rejects another payload, path or method under the same key with 422', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const created = await send(seller, { key: 'k', body: makeProduct() });
  const path = created.headers.location ?? '';
  for (const sent of [
    { body: makeProduct() }, { method: 'PATCH', path, body: { stock: 1 } },
    { method: 'DELETE', path },
  ]) {
    assertProblem(await send(seller, { ...sent, key: 'k' }), 422, 'idempotency-mismatch');
  }
  assert.equal((await seller.send({ path })).text, created.text);
});

test('concurrent requests with the same key take effect once', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const sent = { key: 'same', body: makeProduct() };
  const answers = await Promise.all(Array.from({ length: 16 }, () => send(seller, sent)));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  const replays = answers.filter(({ headers }) => headers['idempotent-replay'] === 'true');
  assert.equal(replays.length, 15);
  assert.equal((await seller.send({ path: PRODUCTS })).json().products.length, 1);
});

for (const key of ['', '""', 'a b', 'a, b', '"a"b', `"${'x'.repeat(256)}"`, 'ä']) {
  test(`rejects the key ${key.slice(0, 10)}, and changes nothing`, async (t) => {
    const seller = await (await startServer(t)).makeSeller();
    const answer = await send(seller, { key, body: makeProduct() });
    assertProblem(answer, 400, 'invalid-data');
    assert.deepEqual((await seller.send({ path: PRODUCTS })).json().products, []);
  });
}
