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
  const { inFlight, attempts } = await webhooks.readMetrics();
  assert.deepEqual([inFlight, attempts], [0, { delivered: 0, refused: 0, failed: 0 }]);
  await sending.change(1);
  await receiver.until(({ length }) => length === 1);
  await sending.until(rejected, ({ failures }) => failures === 1);
  await sending.until(broken, ({ failures }) => failures === 1);
  const sent = await webhooks.readMetrics();
  assert.deepEqual(sent.attempts, { delivered: 0, refused: 1, failed: 1 });
  assert.ok(sent.inFlight >= 1);
  const { message } = await sending.find(rejected);
  assert.deepEqual([sent.leases, sent.oldestMessageAt], [1, message?.at]);
  receiver.answer = OK;
  held[0]?.writeHead(204).end();
  await sending.until(good, ({ position }) => position === 1);
  const ended = await webhooks.readMetrics();
  assert.deepEqual(ended.attempts, { delivered: 1, refused: 1, failed: 1 });
});
