/** Keys that are revoked while a request waits for changes, or while its body arrives. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test, type TestContext } from 'node:test';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { generateApiKey, toStoredSecret } from '../../../src/domain/access/api-key.ts';
import { makeNewKey } from '../../store/contract/fixture.ts';
import type { Answer } from '../../support/http.ts';
import type { TestSeller, TestServer } from '../../support/server.ts';
import { assertProblem } from '../../api/problem.ts';
import { REAUTHORIZE_BODY_MS } from '../../../src/api/limits.ts';
import { PRODUCTS } from '../../../src/api/route.ts';
import { CHANGES, openShop, readPosition, STOCK } from '../../api/stock/stock.ts';
import { type ControlledWaits, controlWaits } from './controlled-waits.ts';

interface Waiting {
  readonly waits: ControlledWaits;
  readonly server: TestServer;
  readonly seller: TestSeller;
  readonly answer: Promise<Answer>;
  /** Makes the awaited change, with another key of the seller. */
  change(): Promise<unknown>;
}

async function startWaiting(t: TestContext): Promise<Waiting> {
  const { server, seller } = await openShop(t, { A: 1 });
  const { store } = server;
  const { sellerId } = seller;
  const other = await store.createKey(sellerId, toStoredSecret(generateApiKey()), makeNewKey());
  const { products: [product] } = await store.listProducts(sellerId, {
    after: undefined, limit: 1,
  });
  assert.ok(product);
  const waits = controlWaits(t);
  const answer = seller.send({ path: `${CHANGES}?after=1&wait=15` });
  await waits.untilStarted(1);
  return {
    server, seller, waits, answer,
    change: () => store.syncStock({ sellerId, keyId: other.id }, {
      changes: [{ sku: product.sku, set: 2 }], isAtomic: false, source: undefined,
      reason: undefined, completion: undefined,
    }, false),
  };
}

test('answers a waiting request with the change', async (t) => {
  const { answer, change } = await startWaiting(t);
  await change();
  const { status, json } = await answer;
  assert.equal(status, 200);
  assert.equal(json().changes.length, 1);
});

test('sends no change to a key that was revoked while it waited', async (t) => {
  const { server, seller, answer, change } = await startWaiting(t);
  await server.store.revokeKey(seller);
  await change();
  assertProblem(await answer, 401, 'key-unknown');
});

test('rejects a key whose seller was disabled during the wait', async (t) => {
  const { server, seller, waits, answer } = await startWaiting(t);
  await server.store.setSellerDisabled(seller.sellerId, true);
  waits.expire();
  assertProblem(await answer, 401, 'key-unknown');
});

test('checks the key once for a request that does not wait', async (t) => {
  const { server, seller } = await openShop(t, { A: 1 });
  const { mock } = t.mock.method(server.store, 'findGrant');
  assert.equal((await seller.send({ path: `${CHANGES}?wait=15` })).status, 200);
  assert.equal((await seller.send({ path: `${CHANGES}?after=1` })).status, 200);
  assert.equal(mock.callCount(), 2);
});

for (const [type, first, last, path] of [
  ['application/json', '{"changes":[', '{"sku":"A","set":9}]}', STOCK],
  ['application/x-ndjson', '{"sku":"A",', '"set":9}\n', STOCK],
  ['text/csv', 'sku,set\nA', ',9\n', STOCK],
  ['text/csv', 'sku,name,category,price,stock\nB', ',B,B,1,1\n', `${PRODUCTS}/import`],
] as const) {
  test(`changes nothing by ${type} to ${path} if the key is revoked while it arrives`,
    async (t) => {
      const { server, seller } = await openShop(t, { A: 1 }, {});
      const outgoing = request({
        host: '127.0.0.1', port: server.port, path, method: 'POST', agent: false,
        headers: { 'x-api-key': seller.key, 'content-type': type },
      });
      const answered = once(outgoing, 'response');
      const { mock } = t.mock.method(server.store, 'findGrant');
      outgoing.write(first);
      while (mock.callCount() === 0) await new Promise(setImmediate);
      await server.store.revokeKey(seller);
      await wait(2 * REAUTHORIZE_BODY_MS);
      outgoing.end(last);
      const [response] = await answered as [IncomingMessage];
      assert.match(await text(response), /"status":401/);
      assert.equal(await readPosition(server, seller), 1);
    });
}
