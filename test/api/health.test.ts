/** GET /healthz and GET /readyz of a server that is healthy, unhealthy, overloaded or stopping. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readReadiness } from '../../src/api/health.ts';
import { makeInstances } from '../../src/api/instances.ts';
import type { Services } from '../../src/api/route.ts';
import { AppError } from '../../src/domain/error.ts';
import { createApp } from '../../src/features.ts';
import { listen } from '../../src/http/server/listener.ts';
import type { StoreMetrics } from '../../src/store/maintenance-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { open } from '../http/raw.ts';
import { makeActor, makeNewKey, makeNewProduct, makeSecret } from '../store/contract/fixture.ts';
import { makeFolder } from '../support/folder.ts';
import { send } from '../support/http.ts';
import { startServer } from '../support/server.ts';
import { assertProblem } from './problem.ts';

const HEALTHY: StoreMetrics = {
  lastFailure: undefined, failedCommits: 0, waitingChanges: 0,
  disk: { walBytes: 0, freeBytes: 1024 ** 3, freeInodes: 9 },
  commits: { buckets: [], count: 0, sum: 0 },
};

/** The readiness check of a server with this store. */
function makeReadiness(store: Pick<Store, 'listSellers' | 'readMetrics'>) {
  // The cast: readiness needs no other service.
  const services = { store, instances: makeInstances(() => services) } as Services;
  return {
    findProblem: () => readReadiness({ headers: {} }, services).then(() => undefined, (error) => {
      assert.ok(error instanceof AppError && error.code === 'unavailable');
      return error.publicDetail;
    }),
  };
}

/** A readiness check on a store with these metrics, and how often it reads the store. */
function makeStore(metrics: () => Promise<StoreMetrics>) {
  const reads = { sellers: 0, metrics: 0 };
  const readiness = makeReadiness({
    async listSellers() {
      reads.sellers += 1;
      return [];
    },
    readMetrics() {
      reads.metrics += 1;
      return metrics();
    },
  });
  return { reads, readiness };
}

test('returns 200 with no-store to GET and HEAD without a key', async (t) => {
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

test('is alive but not ready if the database cannot be read', async (t) => {
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

test('is not ready from a failed commit to the next successful one', async (t) => {
  const store = await openSqliteStore({ folder: join(makeFolder(t), 'data'), pageLimit: 80 });
  t.after(() => store.close());
  const actor = await makeActor(store);
  const key = await store.createKey(actor.sellerId, makeSecret(), makeNewKey());
  const fill = async (): Promise<void> => {
    for (;;) await store.createProduct(actor, makeNewProduct({ name: 'x'.repeat(200) }));
  };
  await assert.rejects(fill(), { code: 'storage_full' });
  const failed = await store.readMetrics();
  assert.equal(failed.lastFailure?.code, 'storage_full');
  assert.deepEqual([failed.failedCommits, failed.failure], [1, undefined]);
  assert.equal(await makeReadiness(store).findProblem(), 'The disk is full.');
  // An update in place, which needs no space.
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

const cases: readonly [what: string, metrics: Partial<StoreMetrics>, says: RegExp | undefined][] = [
  ['the disk is nearly full', { disk: { walBytes: 0, freeBytes: 1_000_000, freeInodes: 9 } },
    /^The disk is full\.$/],
  ['the store is on no disk of this machine', { disk: undefined }, undefined],
  ['nothing can be written', { failure: 'It cannot write until it is restarted.' },
    /until it is restarted\.$/],
  ['the last commit failed', { lastFailure: { code: 'unavailable', agoMs: 4_999 } },
    /^The last change could not be written\.$/],
  ['a commit failed some time ago', { lastFailure: { code: 'unavailable', agoMs: 5_000 } },
    undefined],
];

for (const [what, metrics, says] of cases) {
  test(`${says ? 'reports the problem' : 'is ready'} if ${what}`, async () => {
    const { readiness } = makeStore(async () => ({ ...HEALTHY, ...metrics }));
    const problem = await readiness.findProblem();
    if (says) assert.match(problem ?? '', says);
    else assert.equal(problem, undefined);
  });
}

test('reads the store once a second, however many requests arrive', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const { reads, readiness } = makeStore(async () => HEALTHY);
  await Promise.all(Array.from({ length: 500 }, () => readiness.findProblem()));
  for (let n = 0; n < 500; n += 1) await readiness.findProblem();
  assert.deepEqual(reads, { sellers: 1, metrics: 1 });
  now = 1_000;
  await readiness.findProblem();
  assert.deepEqual(reads, { sellers: 2, metrics: 2 });
});

test('waits up to 2 s for a disk that does not respond, and does not query it again', async (t) => {
  const slow = Promise.withResolvers<StoreMetrics>();
  const { reads, readiness } = makeStore(() => slow.promise);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  for (let n = 0; n < 3; n += 1) {
    const problem = readiness.findProblem();
    t.mock.timers.tick(2_000);
    assert.equal(await problem, 'The database does not respond.');
  }
  assert.deepEqual(reads, { sellers: 1, metrics: 1 });
  slow.resolve(HEALTHY);
  assert.equal(await readiness.findProblem(), undefined);
});
