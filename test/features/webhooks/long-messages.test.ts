/** Messages about very long products. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import { WEBHOOK_MESSAGE_LIMIT_CHARACTERS } from '../../../src/features/webhooks/limits.ts';
import { countTo, makeNewProduct } from '../../store/contract/fixture.ts';
import { prepareSending } from './fixture.ts';
import { positionsOf, startReceiver } from './receiver.ts';

test('ends a message early if its products are very long, and sends the rest next', async (t) => {
  const sending = await prepareSending(t);
  const { store, actor } = sending;
  const receiver = await startReceiver(t);
  const webhook = await sending.create(receiver.url);
  const description = '"'.repeat(5_000);
  for (const n of countTo(120)) {
    // The cast: it is a valid SKU.
    const product = makeNewProduct({ sku: `A${n}` as Sku });
    await store.createProduct(actor, { ...product, description });
  }
  sending.start();
  await sending.until(webhook, ({ position }) => position === 120);
  assert.deepEqual(positionsOf(receiver.received), countTo(120));
  const sizes = receiver.received.map(({ text }) => text.length);
  assert.equal(sizes.length, 3, String(sizes));
  assert.ok(Math.max(...sizes) < 1.1 * WEBHOOK_MESSAGE_LIMIT_CHARACTERS, String(sizes));
});
