/** Webhook metrics: attempts by result, and deliveries in flight. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { prepareSending } from './fixture.ts';
import { answerWith, OK, startReceiver } from './receiver.ts';

test('counts attempts by result, and deliveries in flight', async (t) => {
  const { store, ...sending } = await prepareSending(t);
  const held: ServerResponse[] = [];
  const receiver = await startReceiver(t, (response) => held.push(response));
  const refusing = await startReceiver(t, answerWith(500));
  const breaking = await startReceiver(t, (response) => response.destroy());
  const good = await sending.create(receiver.url);
  const rejected = await sending.create(refusing.url);
  const broken = await sending.create(breaking.url);
  const webhooks = sending.start();
  assert.deepEqual(webhooks.readMetrics(),
    { inFlight: 0, attempts: { delivered: 0, refused: 0, failed: 0 } });
  await sending.change(1);
  await receiver.until(({ length }) => length === 1);
  await sending.until(rejected, ({ failures }) => failures === 1);
  await sending.until(broken, ({ failures }) => failures === 1);
  assert.deepEqual(webhooks.readMetrics().attempts, { delivered: 0, refused: 1, failed: 1 });
  assert.ok(webhooks.readMetrics().inFlight >= 1);
  receiver.answer = OK;
  held[0]?.writeHead(204).end();
  await sending.until(good, ({ position }) => position === 1);
  assert.deepEqual(webhooks.readMetrics().attempts, { delivered: 1, refused: 1, failed: 1 });
});
