/** A seller who is disabled while requests are in flight: each of them ends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { HEARTBEAT_INTERVAL_MS } from '../../src/features/changes/limits.ts';
import { countTo, makeNewProduct } from '../store/contract/fixture.ts';
import { openEvents } from '../features/changes/event-stream.ts';
import { assertProblem } from './problem.ts';
import { NDJSON, openShop, readPosition } from './stock/stock.ts';

const PRODUCTS = '/api/v1/products';
const BATCH_ROWS = 1_000;

test('rejects the keys of a disabled seller like unknown ones, and no others', async (t) => {
  const { server, seller } = await openShop(t, { A: 1 });
  const other = await server.makeSeller();
  await server.store.setSellerDisabled(seller.sellerId, true);
  const refused = await seller.send({ path: PRODUCTS });
  assertProblem(refused, 401, 'key-unknown');
  const unknown = await server.makeSeller();
  await server.store.revokeKey(unknown);
  const { text } = await unknown.send({ path: PRODUCTS });
  assert.equal(refused.text, text);
  assert.equal((await other.send({ path: PRODUCTS })).status, 200);
  await server.store.setSellerDisabled(seller.sellerId, false);
  assert.equal((await seller.send({ path: PRODUCTS })).json().products.length, 1);
});

test('ends a live stream within 15 s after its seller was disabled', async (t) => {
  const { server, seller } = await openShop(t, { A: 1 }, {}); // its own server: timers are mocked
  let passedMs = 0;
  const start = performance.now();
  t.mock.method(performance, 'now', () => start + passedMs);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stream = await openEvents(t, server.port, seller);
  await stream.reach(1);
  await server.store.setSellerDisabled(seller.sellerId, true);
  let isOver = false;
  void stream.ended.then(() => { isOver = true; });
  while (!isOver) {
    await turn();
    if (passedMs >= HEARTBEAT_INTERVAL_MS) continue;
    passedMs += 1_000;
    t.mock.timers.tick(1_000);
  }
  assert.equal(passedMs, HEARTBEAT_INTERVAL_MS);
});

for (const path of [`${PRODUCTS}?format=ndjson`, '/api/v1/stock/movements?format=ndjson']) {
  test(`ends an export within 15 s after its seller was disabled (${path})`, async (t) => {
    const { server: { store }, seller } = await openShop(t, {});
    const products = countTo(3_000).map((n) => makeNewProduct({ sku: `P-${n}` }));
    await store.importProducts(seller, products, 'create');
    const now = performance.now.bind(performance);
    let passedMs = 0;
    t.mock.method(performance, 'now', () => now() + passedMs);
    const shutOut = async (): Promise<void> => {
      await store.setSellerDisabled(seller.sellerId, true);
      passedMs = HEARTBEAT_INTERVAL_MS;
    };
    const { exportProducts, listMovements } = store;
    t.mock.method(store, 'exportProducts', async (...query: Parameters<typeof exportProducts>) => {
      const found = await exportProducts(...query);
      const first = await found.pages.next();
      return {
        ...found,
        pages: Object.assign(found.pages, {
          async next() {
            await shutOut();
            return first;
          },
        }),
      };
    });
    t.mock.method(store, 'listMovements', async (...query: Parameters<typeof listMovements>) => {
      const page = await listMovements(...query);
      await shutOut();
      return page;
    });
    await assert.rejects(seller.send({ path }), { code: 'ECONNRESET' });
    t.mock.restoreAll();
    await store.setSellerDisabled(seller.sellerId, false);
    assert.equal((await seller.send({ path })).text.trimEnd().split('\n').length, 3_000);
  });
}

test('ends an import in flight at its next batch', async (t) => {
  const { server, seller } = await openShop(t, { A: 1 });
  const call = request({
    host: '127.0.0.1', port: server.port, path: `${PRODUCTS}/import`, method: 'POST', agent: false,
    headers: { 'x-api-key': seller.key, 'content-type': NDJSON },
  });
  const writeUnit = (unit: number): void => {
    for (let n = 0; n < BATCH_ROWS; n += 1) {
      const sku = `U${unit}-${n}`;
      call.write(`{"name":"Mug","category":"Kitchen","sku":"${sku}","price":1,"stock":1}\n`);
    }
  };
  writeUnit(1);
  const [answer] = await once(call, 'response') as [IncomingMessage];
  while (await readPosition(server, seller) < 1 + BATCH_ROWS) await turn();
  await server.store.setSellerDisabled(seller.sellerId, true);
  let text = '';
  answer.setEncoding('utf8').on('data', (chunk: string) => { text += chunk; });
  writeUnit(2);
  call.end();
  await once(answer, 'end');
  const { problem } = JSON.parse(text.trim().split('\n').at(-1) ?? '');
  assert.equal(problem.status, 401);
  assert.equal(problem.summary.created, BATCH_ROWS);
  assert.equal((await server.store.findSeller(seller.sellerId))?.position, 1 + BATCH_ROWS);
});
