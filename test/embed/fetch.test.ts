/** The `fetch` of a shop: streams in both directions, early responses, and aborted requests. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { AccessLogEntry } from '../../src/http/request-record.ts';
import { createShop } from '../../src/embed/shop.ts';
import type { ShopOptions } from '../../src/embed/shop-options.ts';
import { makeDataFolder } from '../support/folder.ts';

const API = 'http://host/api/v1';
const NDJSON = { 'content-type': 'application/x-ndjson' };
const MUG = { name: 'Mug', category: 'Kitchen', price: 12.5, stock: 40 };

async function openShop(t: TestContext, options: ShopOptions = {}) {
  const completed: AccessLogEntry[] = [];
  const shop = await createShop({ folder: makeDataFolder(t) }, {
    onRequestComplete: (entry) => completed.push(entry), ...options,
  });
  t.after(() => shop.close());
  const { id } = await shop.sellers.create({ name: 'My shop' });
  const { key } = await shop.keys.create(id, { name: 'test' });
  const ask = (path: string, { headers = {}, ...init }: RequestInit = {}) =>
    shop.fetch(new Request(API + path, { headers: { 'x-api-key': key, ...headers }, ...init }));
  return { shop, id, key, ask, completed };
}

/** A request body that calls `pull` for each chunk. */
function makeUpload(pull: (controller: ReadableStreamDefaultController) => unknown) {
  const cancelled = Promise.withResolvers<unknown>();
  let count = 0;
  const body = new ReadableStream({
    pull: async (controller) => {
      count += 1;
      await pull(controller);
    },
    cancel: cancelled.resolve,
  });
  const init = { method: 'POST', body, duplex: 'half' } as const;
  return { init, cancelled: cancelled.promise, count: () => count };
}

function line(sku: string, stock: number): Buffer {
  return Buffer.from(`${JSON.stringify({ ...MUG, sku, stock })}\n`);
}

test('streams a report while the import is still arriving', async (t) => {
  const { ask } = await openShop(t);
  const reported = Promise.withResolvers<void>();
  let rows = 0;
  const { init } = makeUpload(async (controller) => {
    rows += 1;
    if (rows <= 2_000) controller.enqueue(line(`A-${rows}`, rows % 2 ? 1 : -1));
    else {
      await reported.promise; // the report of the first rows
      controller.close();
    }
  });
  const response = await ask('/products/import', { ...init, headers: NDJSON });
  assert.ok(response.body);
  let text = '';
  for await (const chunk of response.body) {
    text += Buffer.from(chunk).toString();
    reported.resolve();
  }
  const lines = text.trim().split('\n');
  assert.equal(lines.length, 1_001);
  assert.equal(JSON.parse(lines.at(-1) ?? '').summary.created, 1_000);
});

test('responds before a body has ended, and reads no more of it', async (t) => {
  const { ask } = await openShop(t);
  const headers = { 'content-type': 'application/json' };
  const endless = makeUpload((controller) => controller.enqueue(new Uint8Array(65_536)));
  const tooLarge = await ask('/products', { ...endless.init, headers });
  assert.equal(tooLarge.status, 413);
  assert.match(await tooLarge.text(), /body-too-large/);
  while (endless.init.body.locked) await setImmediate();
  assert.ok(endless.count() < 100);
  const stalled = makeUpload(() => new Promise(() => {}));
  const rejected = await ask('/products', {
    ...stalled.init, headers: { ...headers, 'x-api-key': '' },
  });
  assert.equal(rejected.status, 401);
  assert.match(await rejected.text(), /key-missing/);
});

test('ends a live feed if its reader aborts or cancels', async (t) => {
  const { ask, completed } = await openShop(t);
  const headers = { accept: 'text/event-stream' };
  const abort = new AbortController();
  const aborted = await ask('/changes?after=0', { headers, signal: abort.signal });
  const reading = aborted.text();
  abort.abort();
  await assert.rejects(reading, { name: 'AbortError' });
  const cancelled = await ask('/changes?after=0', { headers });
  await cancelled.body?.cancel();
  while (completed.length < 2) await setImmediate();
  assert.deepEqual(completed.map(({ status, isComplete }) => [status, isComplete]),
    [[200, false], [200, false]]);
});

test('rejects with the abort reason, or with the error of the body', async (t) => {
  const { ask } = await openShop(t);
  const reason = new Error('enough');
  await assert.rejects(ask('/products', { signal: AbortSignal.abort(reason) }), reason);
  const waiting = new AbortController();
  const answer = ask('/changes?after=0&wait=20', { signal: waiting.signal });
  void setImmediate().then(() => waiting.abort(reason));
  await assert.rejects(answer, reason);
  const uploading = new AbortController();
  const { init, cancelled } = makeUpload(async () => {
    uploading.abort(reason);
    await new Promise(() => {});
  });
  await assert.rejects(
    ask('/products/import', { ...init, headers: NDJSON, signal: uploading.signal }), reason);
  await cancelled;
  const failing = makeUpload((controller) => controller.error(reason));
  await assert.rejects(ask('/products/import', { ...failing.init, headers: NDJSON }), reason);
});

test('sends no connection headers in memory', async (t) => {
  const { ask } = await openShop(t);
  for (const accept of ['application/json', 'text/csv']) {
    const { headers } = await ask('/products', { headers: { accept } });
    for (const name of ['connection', 'transfer-encoding']) assert.equal(headers.get(name), null);
  }
});

test('reads the actual body of a request, whatever its Content-Length', async (t) => {
  const { ask } = await openShop(t);
  const body = '{"name":"Mug","category":"Kitchen","sku":"MUG-1","price":12,"stock":40}';
  const json = { 'content-type': 'application/json' };
  for (const [length, status] of [['9', 201], ['9000', 409]] as const) {
    const answer = await ask('/products', {
      method: 'POST', body, headers: { ...json, 'content-length': length },
    });
    assert.equal(answer.status, status);
  }
  const removal = await ask('/products/sku/MUG-1', {
    method: 'DELETE', headers: { 'content-length': '5' },
  });
  assert.equal(removal.status, 204);
});

test('authenticates in the asynchronous context of its caller', async (t) => {
  const users = new AsyncLocalStorage<{ readonly seller: string }>();
  const { shop, id } = await openShop(t, { authenticate: () => users.getStore() });
  const list = () => shop.fetch(new Request(`${API}/products`));
  const statuses = await Promise.all(
    [users.run({ seller: id }, list), list(), users.run({ seller: id }, list)]);
  assert.deepEqual(statuses.map(({ status }) => status), [200, 401, 200]);
});

test('accepts a forwarded client address only if the program is trusted', async (t) => {
  const headers = { 'x-forwarded-for': '192.0.2.7' };
  for (const [trustedProxies, address] of [[['unix'], '192.0.2.7'], [[], '']] as const) {
    const { ask, completed } = await openShop(t, { trustedProxies });
    await ask('/products', { headers });
    assert.equal(completed[0]?.address, address);
  }
});

test('rejects a request whose body was read before, without an unhandled rejection', async (t) => {
  const { shop } = await openShop(t);
  const request = new Request(`${API}/products`, { method: 'POST', body: '{}' });
  await request.text();
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  t.after(() => process.off('unhandledRejection', note));
  await assert.rejects(shop.fetch(request), TypeError);
  await setImmediate();
  assert.deepEqual(unhandled, []);
});
