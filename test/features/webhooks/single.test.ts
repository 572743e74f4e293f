/** Messages with one change, and `stock.low`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatProductId, formatWebhookId } from '../../../src/domain/id.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import { countTo, makeNewProduct } from '../../store/contract/fixture.ts';
import { prepareSending, type Sending } from './fixture.ts';
import { answerWith, OK, positionsOf, type Received, startReceiver } from './receiver.ts';

/** Creates a product with this stock, and returns a function that sets the stock. */
async function makeProduct({ store, actor }: Sending, stock: number, sku = 'MUG-1') {
  const { id } = await store.createProduct(actor,
    // The cast: it is a valid SKU.
    makeNewProduct({ sku: sku as Sku, stock }));
  const target = { id };
  return {
    id,
    set: (to: number) => store.patchProduct(actor, target, { stock: to }, {}),
    rename: (name: string, to: number) =>
      store.patchProduct(actor, target, { name, stock: to }, {}),
    remove: () => store.deleteProduct(actor, target, {}),
  };
}

function summaryOf(received: readonly Received[]): unknown[] {
  return received.map(({ body }) => [body.type, body.data.position]);
}

test('sends each change in a message of its own, in order', async (t) => {
  const sending = await prepareSending(t);
  const { store, actor, clock } = sending;
  const receiver = await startReceiver(t);
  const webhook = await sending.create(receiver.url, { delivery: 'single' });
  const { set, rename, remove, id } = await makeProduct(sending, 40);
  await set(38);
  await rename('Cup', 37);
  await remove();
  sending.start();
  await sending.until(webhook, ({ position }) => position === 4);
  assert.deepEqual(summaryOf(receiver.received), [
    ['product.created', 1], ['stock.changed', 2], ['product.updated', 3], ['product.deleted', 4],
  ]);
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 4);
  const at = new Date(clock.now).toISOString();
  const [created, moved, updated, deleted] = receiver.received.map(({ body }) => body);
  const { product: sent, key_id: keyId, ...data } = moved.data;
  assert.match(keyId, /^key_/);
  assert.deepEqual({ ...moved, data }, {
    type: 'stock.changed', timestamp: at,
    data: {
      webhook_id: formatWebhookId(webhook), position: 2,
      product_id: formatProductId(actor.sellerId, id), sku: 'MUG-1', at,
      stock_before: 40, stock_after: 38, stock_delta: -2, reason: null, source: null,
      sequence: null,
    },
  });
  assert.deepEqual([sent.name, sent.stock, sent.position], [created.data.product.name, 38, 2]);
  assert.deepEqual([updated.data.product.name, updated.data.stock_delta], ['Cup', -1]);
  assert.deepEqual([deleted.data.product.name, deleted.data.stock_after], ['Cup', 0]);
  for (const { data: members } of [created, updated, deleted]) {
    assert.deepEqual(Object.keys(members), Object.keys(moved.data));
  }
  const log = await store.listWebhookAttempts(webhook, { before: undefined, limit: 9 });
  assert.deepEqual(log.map(({ first, last }) => [first, last]), [[4, 4], [3, 3], [2, 2], [1, 1]]);
});

test('sends only the selected changes, one message after the other', async (t) => {
  const sending = await prepareSending(t);
  const receiver = await startReceiver(t);
  const webhook = await sending.create(receiver.url, { delivery: 'single', types: ['created'] });
  const { set } = await makeProduct(sending, 5);
  await set(4);
  await sending.change(50);
  await set(3);
  sending.start();
  await sending.until(webhook, ({ position }) => position === 53);
  const positions = receiver.received.map(({ body }) => body.data.position);
  assert.deepEqual(positions, [1, ...countTo(52).slice(2)]);
});

test('repeats a message until it is delivered, with the same id and body', async (t) => {
  const sending = await prepareSending(t);
  const receiver = await startReceiver(t, answerWith(500));
  const webhook = await sending.create(receiver.url, { delivery: 'single' });
  const { set, rename } = await makeProduct(sending, 5);
  await set(4);
  sending.start();
  await sending.until(webhook, ({ failures }) => failures === 1);
  await rename('Cup', 3);
  receiver.answer = (response, received) => {
    // Each message is rejected once.
    const isNew = receiver.received.filter(({ id }) => id === received.id).length === 1;
    answerWith(isNew ? 503 : 204)(response, received);
  };
  for (let position = 0; position < 3;) {
    await sending.store.retryWebhook(sending.actor, webhook.id);
    ({ position } = await sending.until(webhook, ({ failures, position: reached }) =>
      failures > 0 || reached === 3));
  }
  const attempts = Map.groupBy(receiver.received, ({ id }) => id);
  assert.deepEqual([...attempts.values()].map(([first]) => first?.body.data.position), [1, 2, 3]);
  for (const [, all] of attempts) {
    assert.ok(all.length > 1);
    assert.equal(new Set(all.map(({ text }) => text)).size, 1);
  }
});

test('sends `stock.low` after the change that lowered the stock', async (t) => {
  const sending = await prepareSending(t);
  const { store, actor } = sending;
  await store.setShopSettings(actor.sellerId, { lowStock: 5 }, { address: '' });
  const [all, low] = [await startReceiver(t), await startReceiver(t)];
  const both = await sending.create(all.url, { delivery: 'single', types: ['stock', 'stock.low'] });
  const only = await sending.create(low.url, { delivery: 'single', types: ['stock.low'] });
  const { set, rename } = await makeProduct(sending, 9);
  for (const stock of [6, 5, 4, 7]) await set(stock);
  await rename('Cup', 0);
  sending.start();
  for (const webhook of [both, only]) {
    await sending.until(webhook, ({ position }) => position === 6);
  }
  assert.deepEqual(summaryOf(low.received), [['stock.low', 3], ['stock.low', 6]]);
  const [first] = low.received;
  assert.deepEqual([first?.body.data.low_stock, first?.body.data.product.stock], [5, 5]);
  assert.deepEqual(summaryOf(all.received), [
    ['stock.changed', 2], ['stock.changed', 3], ['stock.low', 3], ['stock.changed', 4],
    ['stock.changed', 5], ['stock.low', 6],
  ]);
  assert.equal(new Set(all.received.map(({ id }) => id)).size, 6);
});

test('compares with the threshold of the product, if it has one', async (t) => {
  const sending = await prepareSending(t);
  const { store, actor } = sending;
  const receiver = await startReceiver(t);
  const webhook = await sending.create(receiver.url, { delivery: 'single', types: ['stock.low'] });
  const { set, id } = await makeProduct(sending, 30);
  await store.patchProduct(actor, { id }, { lowStock: 20 }, {});
  await set(21);
  await set(20);
  // The threshold at the time of the change counts.
  await store.patchProduct(actor, { id }, { lowStock: null, stock: 10 }, {});
  await set(5);
  await store.patchProduct(actor, { id }, { lowStock: 2, stock: 4 }, {});
  await set(2);
  sending.start();
  await sending.until(webhook, ({ position }) => position === 8);
  assert.deepEqual(receiver.received.map(({ body: { data } }) => [data.position, data.low_stock]),
    [[4, 20], [6, 5], [8, 2]]);
});

test('sends no `stock.low` for a product that was archived at the change', async (t) => {
  const sending = await prepareSending(t);
  const { store, actor } = sending;
  const receiver = await startReceiver(t);
  const webhook = await sending.create(receiver.url, { delivery: 'single', types: ['stock.low'] });
  const { set, id } = await makeProduct(sending, 30);
  await store.patchProduct(actor, { id }, { lowStock: 20, archived: true }, {});
  await set(10);
  await store.patchProduct(actor, { id }, { lowStock: null, stock: 1 }, {});
  await store.patchProduct(actor, { id }, { archived: null, stock: 9 }, {});
  await set(4);
  sending.start();
  await sending.until(webhook, ({ position }) => position === 6);
  assert.deepEqual(receiver.received.map(({ body: { data } }) => [data.position, data.low_stock]),
    [[6, 5]]);
});

test('keeps a message the same when the threshold changes between attempts', async (t) => {
  for (const delivery of ['single', 'batch'] as const) {
    const sending = await prepareSending(t);
    const { store, actor } = sending;
    const receiver = await startReceiver(t, answerWith(500));
    const webhook = await sending.create(receiver.url, { delivery, types: ['stock.low'] });
    const { set } = await makeProduct(sending, 9);
    await set(3);
    await set(9);
    await set(2);
    sending.start();
    await sending.until(webhook, ({ failures }) => failures === 1);
    await store.setShopSettings(actor.sellerId, { lowStock: 0 }, { address: '' });
    receiver.answer = OK;
    await store.retryWebhook(actor, webhook.id);
    await sending.until(webhook, ({ position }) => position === 4);
    const [first, second] = receiver.received;
    assert.equal(first?.text, second?.text);
    if (delivery === 'batch') assert.deepEqual(positionsOf(receiver.received), [2, 4, 2, 4]);
    else assert.deepEqual(summaryOf(receiver.received), [['stock.low', 2], ['stock.low', 2]]);
  }
});

test('sends changes selected by `stock.low` in batches, in the batch format', async (t) => {
  const sending = await prepareSending(t);
  const receiver = await startReceiver(t);
  const webhook = await sending.create(receiver.url, { types: ['created', 'stock.low'] });
  const { set } = await makeProduct(sending, 9);
  for (const stock of [8, 3, 2]) await set(stock);
  sending.start();
  await sending.until(webhook, ({ position }) => position === 4);
  const [message] = receiver.received;
  assert.deepEqual(message?.body.data.changes.map(
    ({ type, position }: { type: string; position: number }) => [type, position]),
  [['created', 1], ['stock', 3]]);
});

test('sends waiting changes one by one after `delivery` changes to `single`', async (t) => {
  const sending = await prepareSending(t);
  const { store, actor } = sending;
  const receiver = await startReceiver(t, answerWith(500));
  const webhook = await sending.create(receiver.url);
  await sending.change(2);
  sending.start();
  await sending.until(webhook, ({ failures }) => failures === 1);
  receiver.answer = OK;
  await store.patchWebhook(actor, webhook.id, { delivery: 'single', status: 'active' });
  await sending.until(webhook, ({ position }) => position === 2);
  const [batch, ...singles] = receiver.received;
  assert.equal(batch?.body.data.changes.length, 2);
  assert.deepEqual(summaryOf(singles), [['product.created', 1], ['product.created', 2]]);
  assert.ok(!singles.some(({ id }) => id === batch?.id));
});
