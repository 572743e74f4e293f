/** GET /healthz and GET /readyz: of a server that is well, ill, flooded or stopping. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readReadiness } from '../../src/api/health.ts';
import { Instances } from '../../src/api/instances.ts';
import type { Services } from '../../src/api/route.ts';
import { AppError } from '../../src/domain/error.ts';
import { createApp } from '../../src/features.ts';
import { listen } from '../../src/http/server/listener.ts';
import type { StoreMetrics } from '../../src/store/maintenance-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { open } from '../http/raw.ts';
import { makeActor, makeHash, makeNewKey, makeNewProduct } from '../store/contract/fixture.ts';
import { makeFolder } from '../support/folder.ts';
import { send } from '../support/http.ts';
import { startServer } from '../support/server.ts';
import { assertProblem } from './problem.ts';

const WELL: StoreMetrics = {
  canWrite: true, lastFailure: undefined, failedCommits: 0, waitingChanges: 0,
  disk: { walBytes: 0, freeBytes: 1024 ** 3 }, commits: { buckets: [], count: 0, sum: 0 },
};

/** The readiness of a server on this store. */
function makeReadiness(store: Pick<Store, 'listSellers' | 'readMetrics'>) {
  // The cast: readiness needs no other service.
  const services = { store, instances: new Instances(() => services) } as Services;
  return {
    findProblem: () => readReadiness({ headers: {} }, services).then(() => undefined, (error) => {
      assert.ok(error instanceof AppError && error.code === 'unavailable');
      return error.publicDetail;
    }),
  };
}

/** What is asked of a store, and what it answers. */
function makeStore(metrics: () => Promise<StoreMetrics>) {
  const asked = { sellers: 0, metrics: 0 };
  const readiness = makeReadiness({
    async listSellers() {
      asked.sellers += 1;
      return [];
    },
    readMetrics() {
      asked.metrics += 1;
      return metrics();
    },
  });
  return { asked, readiness };
}

test('answers 200 without a key, to HEAD too, and for no cache', async (t) => {
  const server = await startServer(t, { baseUrl: 'http://localhost/shop', rateLimitPerMinute: 1 });
  for (const [path, status] of [['/healthz', 'alive'], ['/readyz', 'ready']] as const) {
    for (let n = 0; n < 5; n += 1) {
      const answer = await server.send({ path: `/shop${path}` });
      assert.deepEqual([answer.status, answer.json()], [200, { status }]);
      assert.equal(answer.headers['cache-control'], 'no-store');
    }
    const head = await server.send({ method: 'HEAD', path: `/shop${path}` });
    assert.deepEqual([head.status, head.text], [200, '']);
    assertProblem(await server.send({ path: `/shop${path}?a=b` }), 400, 'invalid-query');
    const posted = await server.send({ method: 'POST', path: `/shop${path}` });
    assertProblem(posted, 405, 'method-not-allowed');
    assert.equal((await server.send({ path })).status, 404);
  }
});

test('is alive but not ready as soon as it stops, with requests in flight', async (t) => {
  const { port, app, key } = await startApp(t);
  const body = JSON.stringify({ name: 'A', category: 'B', sku: 'C', price: 1, stock: 1 });
  const socket = await open(t, port);
  socket.write('POST /api/v1/products HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    + `x-api-key: ${key}\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
  await once(socket, 'data'); // it is in flight
  assert.equal((await send(port, { path: '/readyz' })).status, 200);
  const closed = app.close();
  const answer = await send(port, { path: '/readyz' });
  assertProblem(answer, 503, 'unavailable');
  assert.equal(answer.json().detail, 'This server is stopping.');
  assert.equal((await send(port, { path: '/healthz' })).status, 200);
  socket.write(body);
  const [reply] = await once(socket, 'data');
  assert.match(String(reply), /^HTTP\/1\.1 201 /);
  await closed;
});

async function startApp(t: TestContext) {
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  const app = createApp({ store: server.store });
  const listener = await listen(app.handle, { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  return { port: listener.port, app, key };
}

test('is not ready where the database cannot be read, and alive', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const store = await openSqliteStore({ folder });
  const app = createApp({ store });
  const listener = await listen(app.handle, { host: '127.0.0.1', port: 0 });
  t.after(() => Promise.all([listener.stop(), app.close()]));
  await store.close();
  const answer = await send(listener.port, { path: '/readyz' });
  assertProblem(answer, 503, 'unavailable');
  assert.equal(answer.json().detail, 'The database cannot be read.');
  assert.ok(Number(answer.headers['retry-after']) > 0);
  assert.equal((await send(listener.port, { path: '/healthz' })).status, 200);
});

test('is not ready after a commit that failed, until one is made', async (t) => {
  const store = await openSqliteStore({ folder: join(makeFolder(t), 'data'), pageLimit: 80 });
  t.after(() => store.close());
  const actor = await makeActor(store);
  const key = await store.createKey(actor.sellerId, makeHash(), makeNewKey());
  const fill = async (): Promise<void> => {
    for (;;) await store.createProduct(actor, makeNewProduct({ name: 'x'.repeat(200) }));
  };
  await assert.rejects(fill(), { code: 'storage_full' });
  const failed = await store.readMetrics();
  assert.equal(failed.lastFailure?.code, 'storage_full');
  assert.deepEqual([failed.failedCommits, failed.canWrite], [1, true]);
  assert.equal(await makeReadiness(store).findProblem(), 'The disk is full.');
  // An update in its place, which needs no room.
  await store.noteKeyUse({ sellerId: actor.sellerId, keyId: key.id }, '192.0.2.1');
  const metrics = await store.readMetrics();
  assert.equal(metrics.lastFailure, undefined);
  assert.deepEqual([metrics.failedCommits, metrics.commits.count - failed.commits.count], [1, 1]);
  const { disk } = metrics;
  assert.ok(disk && disk.walBytes > 0 && disk.freeBytes > 0 && metrics.commits.sum > 0);
  assert.equal(metrics.pool, undefined);
  assert.equal(metrics.waitingChanges, 0);
  assert.equal(await makeReadiness(store).findProblem(), undefined);
});

const ill: readonly [what: string, metrics: Partial<StoreMetrics>, says: RegExp | undefined][] = [
  ['the disk is nearly full', { disk: { walBytes: 0, freeBytes: 1_000_000 } },
    /^The disk is full\.$/],
  ['the store is on no disk of this machine', { disk: undefined }, undefined],
  ['nothing can be written', { canWrite: false }, /until it is restarted\.$/],
  ['the last commit failed', { lastFailure: { code: 'unavailable', agoMs: 4_999 } },
    /^The last change could not be written\.$/],
  ['a commit failed some time ago', { lastFailure: { code: 'unavailable', agoMs: 5_000 } },
    undefined],
];

for (const [what, metrics, says] of ill) {
  test(`says ${says ? 'what is in the way' : 'that it is ready'} where ${what}`, async () => {
    const { readiness } = makeStore(async () => ({ ...WELL, ...metrics }));
    const fault = await readiness.findProblem();
    if (says) assert.match(fault ?? '', says);
    else assert.equal(fault, undefined);
  });
}

test('reads the store once a second, however many requests come', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const { asked, readiness } = makeStore(async () => WELL);
  await Promise.all(Array.from({ length: 500 }, () => readiness.findProblem()));
  for (let n = 0; n < 500; n += 1) await readiness.findProblem();
  assert.deepEqual(asked, { sellers: 1, metrics: 1 });
  now = 1_000;
  await readiness.findProblem();
  assert.deepEqual(asked, { sellers: 2, metrics: 2 });
});

test('waits for a disk that does not answer no longer than 2 s, and asks it no more', async (t) => {
  const slow = Promise.withResolvers<StoreMetrics>();
  const { asked, readiness } = makeStore(() => slow.promise);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (let n = 0; n < 3; n += 1) {
    const fault = readiness.findProblem();
    t.mock.timers.tick(2_000);
    assert.equal(await fault, 'The disk does not respond.');
  }
  assert.deepEqual(asked, { sellers: 1, metrics: 1 });
  slow.resolve(WELL);
  assert.equal(await readiness.findProblem(), undefined);
});
