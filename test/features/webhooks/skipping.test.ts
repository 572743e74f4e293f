/** Runs of changes without an event are skipped in large steps, with one write per step. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import { DnsResolver } from '../../../src/features/webhooks/dns-resolver.ts';
import { sendToEndpoint } from '../../../src/features/webhooks/endpoint.ts';
import { countTo, makeNewProduct } from '../../store/contract/fixture.ts';
import { makeSync } from '../../store/contract/stock.ts';
import { prepareSending } from './fixture.ts';
import { positionsOf, startReceiver } from './receiver.ts';

test('skips thousands of changes without an event in one run, with few writes', async (t) => {
  for (const delivery of ['single', 'batch'] as const) {
    const { store, actor, clock, ...sending } = await prepareSending(t);
    const receiver = await startReceiver(t);
    // The cast: it is a valid SKU.
    const sku = 'MUG-1' as Sku;
    await store.createProduct(actor, makeNewProduct({ sku, stock: 100_000 }));
    const webhook = await sending.create(receiver.url, { types: ['stock.low'], delivery });
    const sales = countTo(300).map(() => ({ sku, adjust: -1 }));
    for (let n = 0; n < 40; n += 1) await store.syncStock(actor, makeSync(sales), false);
    await store.syncStock(actor, makeSync([{ sku, set: 0 }]), false);
    const steps: number[] = [];
    await sendToEndpoint(webhook, {
      store: {
        ...store,
        beginWebhookMessage(seen, position, message) {
          steps.push(position);
          return store.beginWebhookMessage(seen, position, message);
        },
      },
      clock, policy: { allowHttp: true, allowPrivate: true }, timeoutMs: 5_000, random: () => 1,
      resolver: new DnsResolver(), stop: new AbortController().signal,
      attempts: { delivered: 0, refused: 0, failed: 0 }, report: () => {},
    });
    assert.deepEqual(steps, [5_001, 10_001, 12_001]);
    assert.equal(receiver.received.length, 1);
    const [message] = receiver.received;
    assert.equal(message?.body.data.position ?? positionsOf(receiver.received)[0], 12_002);
    assert.equal((await sending.find(webhook)).position, 12_002);
  }
});

test('compares with the threshold of a product that a revert restored', async (t) => {
  const { store, actor, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t);
  const webhook = await sending.create(receiver.url, { types: ['stock.low'], delivery: 'single' });
  const { id } = await store.createProduct(actor, makeNewProduct({ stock: 40 }));
  await store.patchProduct(actor, { id }, { lowStock: 20 }, {});
  await store.patchProduct(actor, { id }, { stock: 30 }, {});
  await store.deleteProduct(actor, { id }, {});
  using revert = await store.startRevert(actor, {
    selection: { after: 1, upTo: 4 }, isForced: false, isDryRun: false,
  });
  await revert.next();
  await revert.finish();
  for (const stock of [19, 0]) await store.patchProduct(actor, { id }, { stock }, {});
  sending.start();
  await sending.until(webhook, ({ position }) => position === 7);
  assert.deepEqual(receiver.received.map(({ body: { data } }) => [data.position, data.low_stock]),
    [[7, 5]]);
});
