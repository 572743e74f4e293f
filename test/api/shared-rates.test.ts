/** Two apps on one store, like two nodes, share the limits on requests and rejected keys. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { generateApiKey, toStoredSecret } from '../../src/domain/access/api-key.ts';
import { SCOPES } from '../../src/domain/access/caller.ts';
import { createApp } from '../../src/features.ts';
import { listen } from '../../src/http/server/listener.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { makeNewKey, makeSeller } from '../store/contract/fixture.ts';
import { makeClock } from '../support/clock.ts';
import { makeDataFolder } from '../support/folder.ts';
import { type Answer, type Request, send } from '../support/http.ts';
import { assertProblem } from './problem.ts';
import { makeSharedLeases } from '../store/nodes/shared-leases.ts';

const PRODUCTS = '/api/v1/products';

interface NodeOptions {
  readonly rateLimitPerMinute: number;
  readonly sellerRateLimitPerMinute?: number;
}

interface KeyOptions {
  /** The key's own limit. */
  readonly own?: number;
}

/** Starts two nodes; requests alternate between them. */
async function startNodes(t: TestContext, { own, ...options }: NodeOptions & KeyOptions) {
  const clock = makeClock();
  const stops: (() => Promise<void>)[] = [];
  t.after(async () => { // before the folder is removed: hooks run in the order of registration
    for (const stop of stops.toReversed()) await stop();
  });
  const store = await openSqliteStore({ folder: makeDataFolder(t), clock });
  stops.push(() => store.close());
  const rateLeases = makeSharedLeases(2, clock);
  const nodes = await Promise.all([1, 2].map(async () => {
    const app = createApp({ ...options, clock, store: { ...store, rateLeases } });
    const listener = await listen(app.handle, { host: '127.0.0.1', port: 0 }, app);
    stops.push(() => app.close(), () => listener.stop());
    return { app, listener, port: listener.port };
  }));
  let turn = 0;
  const sendToNext = (request: Request): Promise<Answer> => {
    turn += 1;
    return send(nodes[turn % 2]?.port ?? 0, request);
  };
  const key = generateApiKey();
  const { id } = await makeSeller(store);
  await store.createKey(id, toStoredSecret(key), makeNewKey({
    scopes: SCOPES, rateLimitPerMinute: own,
  }));
  return { clock, nodes, rateLeases, headers: { 'x-api-key': key }, sendToNext };
}

test('makes a server a node before its first request', async (t) => {
  const store = await openSqliteStore({ folder: makeDataFolder(t) });
  let counts = 0;
  const countNodes = (): number => {
    counts += 1;
    return 1;
  };
  const rateLeases = { ...makeSharedLeases(1, makeClock()), countNodes };
  const app = createApp({ store: { ...store, rateLeases } });
  assert.equal(counts, 1);
  await app.close();
  await store.close();
});

test('limits the total requests of a key at two nodes', async (t) => {
  const { clock, headers, sendToNext } = await startNodes(t, { rateLimitPerMinute: 40 });
  for (let n = 0; n < 40; n += 1) {
    const answer = await sendToNext({ path: PRODUCTS, headers });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['ratelimit-policy'], '"requests";q=40;w=60');
    const resetSeconds = Math.ceil(1.5 * (n + 1));
    assert.equal(answer.headers['ratelimit'], `"requests";r=${39 - n};t=${resetSeconds}`);
  }
  for (let n = 0; n < 2; n += 1) {
    const rejected = await sendToNext({ path: PRODUCTS, headers });
    assertProblem(rejected, 429, 'rate-limited');
    assert.equal(rejected.headers['retry-after'], '2');
    assert.equal(rejected.headers['ratelimit'], '"requests";r=0;t=60');
  }
  clock.now += 2_000;
  assert.equal((await sendToNext({ path: PRODUCTS, headers })).status, 200);
  assertProblem(await sendToNext({ path: PRODUCTS, headers }), 429, 'rate-limited');
});

test('limits a key by its own rate at two nodes, also without a limit of the server', async (t) => {
  for (const rateLimitPerMinute of [0, 40]) {
    const { headers, sendToNext } = await startNodes(t, { rateLimitPerMinute, own: 5 });
    for (const status of [200, 200, 200, 200, 200, 429, 429]) {
      const answer = await sendToNext({ path: PRODUCTS, headers });
      assert.equal(answer.status, status);
      assert.equal(answer.headers['ratelimit-policy'], '"requests";q=5;w=60');
    }
  }
});

test('takes a token from both the seller and the key, or from neither', async (t) => {
  const limits = { rateLimitPerMinute: 4, sellerRateLimitPerMinute: 4 };
  const { clock, headers, sendToNext } = await startNodes(t, limits);
  for (const status of [200, 200, 200, 200, 429, 429, 429]) {
    assert.equal((await sendToNext({ path: PRODUCTS, headers })).status, status);
  }
  clock.now += 15_000;
  assert.equal((await sendToNext({ path: PRODUCTS, headers })).status, 200);
});

test('counts the total of concurrent requests to two nodes', async (t) => {
  const { headers, sendToNext } = await startNodes(t, { rateLimitPerMinute: 100 });
  const asked = Array.from({ length: 150 }, () => sendToNext({ path: PRODUCTS, headers }));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  const allowed = statuses.filter((status) => status === 200);
  assert.ok(allowed.length >= 90 && allowed.length <= 100, `${allowed.length}`);
});

test('returns its tokens when a node stops', async (t) => {
  const { nodes, headers, sendToNext } = await startNodes(t, { rateLimitPerMinute: 1_000 });
  await sendToNext({ path: PRODUCTS, headers });
  await nodes[1]?.app.close();
  const { headers: { ratelimit } } = await send(nodes[0]?.port ?? 0, { path: PRODUCTS, headers });
  assert.equal(ratelimit, '"requests";r=998;t=1');
});

test('does not limit, and does not query the store, if the limit is 0', async (t) => {
  const { headers, rateLeases, sendToNext } = await startNodes(t, { rateLimitPerMinute: 0 });
  for (let n = 0; n < 20; n += 1) {
    const answer = await sendToNext({ path: PRODUCTS, headers });
    assert.deepEqual([answer.status, answer.headers['ratelimit']], [200, undefined]);
  }
  assert.equal(rateLeases.exchanges, 0);
});

test('allows no more rejected keys at two nodes than at one', async (t) => {
  const { clock, sendToNext } = await startNodes(t, { rateLimitPerMinute: 0 });
  const guess = (): Promise<Answer> =>
    sendToNext({ path: PRODUCTS, headers: { 'x-api-key': generateApiKey() } });
  for (let n = 0; n < 60; n += 1) assertProblem(await guess(), 401, 'key-unknown');
  for (let n = 0; n < 2; n += 1) assertProblem(await guess(), 429, 'rate-limited');
  clock.now += 1_000;
  assertProblem(await guess(), 401, 'key-unknown');
  assertProblem(await guess(), 429, 'rate-limited');
});
