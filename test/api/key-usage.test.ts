/** Which requests are counted for a key, and which of them as errors. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createApp } from '../../src/features.ts';
import type { ErrorReport } from '../../src/http/response/problem.ts';
import { listen } from '../../src/http/server/listener.ts';
import type { Store } from '../../src/store/store.ts';
import { makeClock } from '../support/clock.ts';
import { type Request, send } from '../support/http.ts';
import { makeProduct, startServer, type TestSeller } from '../support/server.ts';

const PRODUCTS = '/api/v1/products';
const JSON_TYPE = { 'content-type': 'application/json' };
const clock = makeClock();
const HOUR = Math.floor(clock.now / (60 * 60 * 1000));

/** Starts a separate app on the store, which writes its counts when it closes. */
async function prepare(t: TestContext, options: { readonly rateLimitPerMinute?: number } = {}) {
  const { store, makeSeller } = await startServer(t, { clock });
  const reports: ErrorReport[] = [];
  const open = async (of: Store) => {
    const report = (entry: ErrorReport) => reports.push(entry);
    const app = createApp({ rateLimitPerMinute: 0, ...options, clock, report, store: of });
    const listener = await listen(app.handle, { host: '127.0.0.1', port: 0 });
    t.after(() => listener.stop());
    const ask = async (seller: TestSeller | undefined, request: Request): Promise<number> => {
      const headers = { ...(seller && { 'x-api-key': seller.key }), ...request.headers };
      return (await send(listener.port, { ...request, headers })).status;
    };
    return { app, ask };
  };
  const read = ({ sellerId }: TestSeller) => store.readUsage(sellerId, { since: 0, limit: 9 });
  return { ...await open(store), open, store, makeSeller, read, reports };
}

test('counts every request with a valid key, and rejected ones separately', async (t) => {
  const { app, ask, makeSeller, read } = await prepare(t);
  const seller = await makeSeller({ scopes: ['products:read', 'products:write'] });
  const other = await makeSeller();
  const create = { method: 'POST', path: PRODUCTS, headers: JSON_TYPE };
  const body = JSON.stringify(makeProduct());
  const asked: readonly [request: Request, status: number][] = [
    [{ path: PRODUCTS }, 200], [{ path: PRODUCTS, method: 'HEAD' }, 200],
    [{ ...create, body }, 201], [{ ...create, body }, 409], [{ ...create, body: '{' }, 400],
    [{ path: `${PRODUCTS}?limit=0` }, 400], [{ path: `${PRODUCTS}/prd_none` }, 404],
    [{ path: PRODUCTS, headers: { 'if-none-match': '"1"' } }, 304],
    [{ path: '/api/v1/changes' }, 403], [{ path: PRODUCTS, headers: { accept: 'x/y' } }, 406],
  ];
  for (const [request, status] of asked) assert.equal(await ask(seller, request), status);
  assert.equal(await ask(other, { path: PRODUCTS }), 200);
  await app.close();
  const { keyId } = seller;
  assert.deepEqual(await read(seller), [{ keyId, hour: HOUR, requests: 10, refusals: 6 }]);
  const [theirs, ...more] = await read(other);
  assert.deepEqual([theirs?.requests, theirs?.refusals, more.length], [1, 0, 0]);
});

test('counts requests over the rate limit', async (t) => {
  const { app, ask, makeSeller, read } = await prepare(t, { rateLimitPerMinute: 2 });
  const seller = await makeSeller();
  const statuses = [];
  for (let n = 0; n < 4; n += 1) statuses.push(await ask(seller, { path: PRODUCTS }));
  assert.deepEqual(statuses, [200, 200, 429, 429]);
  await app.close();
  const [usage] = await read(seller);
  assert.deepEqual([usage?.requests, usage?.refusals], [4, 2]);
});

test('counts nothing without a valid key', async (t) => {
  const { app, ask, store, makeSeller, read } = await prepare(t);
  const seller = await makeSeller();
  const { sellerId, keyId } = seller;
  await store.revokeKey({ sellerId, keyId });
  assert.equal(await ask(seller, { path: PRODUCTS }), 401);
  assert.equal(await ask(undefined, { path: PRODUCTS }), 401);
  assert.equal(await ask(undefined, { path: '/api/v1/openapi.json' }), 200);
  await app.close();
  assert.deepEqual(await read(seller), []);
});

test('responds normally, and closes, if the store cannot record the use', async (t) => {
  const { open, store, makeSeller, reports } = await prepare(t);
  const seller = await makeSeller();
  const fault = new Error('no disk');
  const { app, ask } = await open({ ...store, noteUsage: () => Promise.reject(fault) });
  assert.equal(await ask(seller, { path: PRODUCTS }), 200);
  await app.close();
  assert.deepEqual(reports, [{ id: 'key-usage', error: fault }]);
});
