/** The concurrency limits on streams and waiting requests, per seller and per key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateApiKey, toStoredSecret } from '../../src/domain/access/api-key.ts';
import { makeNewKey } from '../store/contract/fixture.ts';
import type { TestSeller, TestServer } from '../support/server.ts';
import { askForEvents, openEvents } from '../features/changes/event-stream.ts';
import { assertProblem } from './problem.ts';
import { CHANGES, MOVEMENTS, NDJSON, openShop, STOCK } from './stock/stock.ts';

const STREAM_LIMITS = { total: 5, perSeller: 3, perKey: 2 };

async function makeKey({ store }: TestServer, { sellerId }: TestSeller) {
  const key = generateApiKey();
  await store.createKey(sellerId, toStoredSecret(key), makeNewKey());
  return { key };
}

test('leaves slots for other sellers, however many keys one seller has', async (t) => {
  const { server, seller } = await openShop(t, { A: 1 }, { streamLimits: STREAM_LIMITS });
  const streams = await Promise.all([1, 2].map(() => openEvents(t, server.port, seller)));
  const detail = async (): Promise<string> => {
    const headers = { accept: 'text/event-stream' };
    return assertProblem(await seller.send({ path: CHANGES, headers }), 503, 'unavailable').detail;
  };
  assert.match(await detail(), /^You already have 2 streams with this key running/);
  const keys = await Promise.all([1, 2, 3].map(() => makeKey(server, seller)));
  const answers = [];
  for (const key of keys) answers.push(await askForEvents(t, server.port, key));
  assert.deepEqual(answers.map(({ statusCode }) => statusCode), [200, 503, 503]);
  assert.match(await detail(), /^You already have 3 streams running/);
  const other = await server.makeSeller();
  for (let n = 0; n < 2; n += 1) {
    const { response } = await openEvents(t, server.port, other);
    assert.equal(response.statusCode, 200);
  }
  const third = await askForEvents(t, server.port, await server.makeSeller());
  assert.deepEqual([third.statusCode, third.headers['retry-after']], [503, '5']);
  for (const stream of streams) stream.leave();
  let next = await askForEvents(t, server.port, seller);
  while (next.statusCode === 503) next = await askForEvents(t, server.port, seller);
  assert.equal(next.statusCode, 200);
});

test('counts exports and waiting requests together with live streams', async (t) => {
  const { server, seller } = await openShop(t, { A: 1 }, { streamLimits: STREAM_LIMITS });
  await openEvents(t, server.port, seller);
  await openEvents(t, server.port, seller);
  const accept = { accept: NDJSON };
  for (const path of ['/api/v1/products', STOCK, MOVEMENTS]) {
    assertProblem(await seller.send({ path, headers: accept }), 503, 'unavailable');
    assert.equal((await seller.send({ path })).status, 200);
  }
  assertProblem(await seller.send({ path: `${CHANGES}?after=1&wait=30` }), 503, 'unavailable');
  assert.equal((await seller.send({ path: CHANGES })).status, 200);
});

test('does not read the store for a stream that gets no slot', async (t) => {
  const streamLimits = { ...STREAM_LIMITS, total: 0 };
  const { server, seller } = await openShop(t, { A: 1 }, { streamLimits });
  const names = [
    'exportProducts', 'listStockAt', 'findPositionAt', 'listMovements', 'listChanges',
  ] as const;
  const reads = names.map((name) => t.mock.method(server.store, name));
  for (const path of [
    '/api/v1/products?format=csv', `${STOCK}?format=csv&at=2026-01-01T00:00:00Z`,
    `${MOVEMENTS}?format=csv`,
  ]) assertProblem(await seller.send({ path }), 503, 'unavailable');
  const headers = { accept: 'text/event-stream' };
  assertProblem(await seller.send({ path: CHANGES, headers }), 503, 'unavailable');
  assert.deepEqual(reads.map(({ mock }) => mock.callCount()), [0, 0, 0, 0, 0]);
});
