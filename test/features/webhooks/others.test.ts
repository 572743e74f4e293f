/** Slow or dead endpoints do not delay the others, however many there are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { makeActor } from '../../store/contract/fixture.ts';
import { prepareSending } from './fixture.ts';
import { answerWith, positionsOf, startReceiver } from './receiver.ts';

test('sends to other endpoints while one hangs', async (t) => {
  const sending = await prepareSending(t);
  const [slow, quick] = [await startReceiver(t, () => {}), await startReceiver(t)];
  await sending.create(slow.url);
  await sending.create(quick.url);
  sending.start();
  await sending.change(500);
  await quick.until((received) => positionsOf(received).length === 500);
  assert.equal(slow.received.length, 1);
});

test('limits failing and hanging endpoints to half of the slots', async (t) => {
  const { store, clock, ...sending } = await prepareSending(t);
  const [dead, quick] = [await startReceiver(t, answerWith(500)), await startReceiver(t)];
  await sending.create(quick.url);
  const owners = await Promise.all(Array.from({ length: 8 }, () => makeActor(store)));
  const failing = await Promise.all(owners.flatMap((owner) =>
    Array.from({ length: 20 }, () => sending.create(dead.url, {}, owner))));
  sending.start();
  for (const owner of owners) await sending.change(1, owner);
  await dead.until(({ length }) => length === failing.length);
  for (const webhook of failing) await sending.until(webhook, ({ failures }) => failures === 1);
  dead.answer = () => {}; // all of them hang from now on
  clock.now += 5_000;
  await sending.change(1);
  await dead.until(({ length }) => length === failing.length + 128);
  await sending.change(1);
  await quick.until((received) => positionsOf(received).length === 2);
  assert.equal(dead.received.length, failing.length + 128);
});

test('reports a store error, and pauses that endpoint', async (t) => {
  const { store, reports, ...sending } = await prepareSending(t);
  const [one, other] = [await startReceiver(t), await startReceiver(t)];
  const broken = await sending.create(one.url);
  await sending.create(other.url);
  const failing: Store = {
    ...store,
    endWebhookAttempt: (webhook, ...rest) => webhook.id === broken.id
      ? Promise.reject(new Error('The disk is gone.')) : store.endWebhookAttempt(webhook, ...rest),
  };
  sending.start(failing);
  for (let n = 1; n <= 5; n += 1) {
    await sending.change(1);
    await other.until((received) => positionsOf(received).length === n);
  }
  assert.equal(one.received.length, 1);
  assert.equal(reports.length, 1);
});

test('polls again after a pause when the store could not list due endpoints', async (t) => {
  const { store, reports, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t);
  await sending.create(receiver.url);
  let isBroken = true;
  const failing: Store = {
    ...store,
    async joinDelivery(onDue) {
      const member = await store.joinDelivery(onDue);
      return {
        ...member,
        listDueWebhooks: (query) => isBroken
          ? Promise.reject(new Error('The disk is gone.')) : member.listDueWebhooks(query),
      };
    },
  };
  sending.start(failing);
  await sending.change(1);
  while (reports.length === 0) await new Promise((resolve) => { setImmediate(resolve); });
  isBroken = false;
  await sending.change(1); // triggers a poll
  await receiver.until((received) => positionsOf(received).length === 2);
});

test('joins the delivery later if the store could not be reached', async (t) => {
  const { store, reports, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t);
  await sending.create(receiver.url);
  await sending.change(1);
  let tries = 0;
  const webhooks = sending.start({
    ...store,
    joinDelivery(onDue) {
      tries += 1;
      if (tries > 1) return store.joinDelivery(onDue);
      setImmediate(onDue); // instead of waiting for the pause
      return Promise.reject(new Error('The connection was closed.'));
    },
  });
  await receiver.until((received) => positionsOf(received).length === 1);
  assert.deepEqual([tries, reports.length], [2, 1]);
  await webhooks.close();
});

test('stops while the seller is disabled, and resumes when enabled', async (t) => {
  const { store, actor, clock, ...sending } = await prepareSending(t);
  const receiver = await startReceiver(t);
  const quick = await startReceiver(t);
  await sending.create(receiver.url);
  const other = await makeActor(store);
  await sending.create(quick.url, {}, other);
  await sending.change(300); // three messages in a row
  const answer = receiver.answer;
  receiver.answer = (...call) => {
    void store.setSellerDisabled(actor.sellerId, true).then(() => answer(...call));
  };
  sending.start();
  await receiver.until(({ length }) => length === 1);
  await sending.change(1, other);
  await quick.until((received) => positionsOf(received).length === 1);
  await sending.change(1, other);
  await quick.until((received) => positionsOf(received).length === 2);
  assert.equal(receiver.received.length, 1);
  receiver.answer = answer;
  await store.setSellerDisabled(actor.sellerId, false);
  await receiver.until((received) => positionsOf(received).length === 300);
});
