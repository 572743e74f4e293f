/** The contract of a store: webhook messages, and the results of delivery attempts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WEBHOOK_ATTEMPTS_KEPT } from '../../../src/store/limits.ts';
import type { KeyId } from '../../../src/domain/id.ts';
import type { Webhook, WebhookMessage } from '../../../src/domain/webhooks/webhook.ts';
import type { WebhookResult } from '../../../src/domain/webhooks/webhook-attempt.ts';
import type { Store } from '../../../src/store/store.ts';
import { countTo, DAY_MS, makeActor, type PrepareStore } from './fixture.ts';
import { prepareWebhook } from './webhooks.ts';

export const FAILED: WebhookResult =
  { at: 1, durationMs: 5, status: 500, outcome: 'responded with 500' };
const DELIVERED: WebhookResult = { at: 2, durationMs: 5, status: 204, outcome: 'delivered' };

// No store has given this id.
const NO_KEY = 1 as KeyId;

export function makeMessage(id: string, first: number, last: number): WebhookMessage {
  return { id, first, last, at: 1_000, types: null };
}

function isBegun(store: Store, webhook: Webhook, message: WebhookMessage): Promise<boolean> {
  return store.beginWebhookMessage(webhook, webhook.position, message);
}

async function find(store: Store, webhook: Webhook): Promise<Webhook> {
  return await store.findWebhook(webhook) ?? assert.fail('the endpoint is gone');
}

/** An endpoint to which positions 1 and 2 are pending, and the message that contains them. */
export async function prepareMessage(open: ReturnType<PrepareStore>) {
  const prepared = await prepareWebhook(open);
  const { store, actor } = prepared;
  const { webhook } = await store.replayWebhook(actor, prepared.webhook.id, 0);
  const message = makeMessage('msg_1', 1, 2);
  assert.equal(await isBegun(store, webhook, message), true);
  return { ...prepared, webhook, message };
}

export function testWebhookDeliveries(prepare: PrepareStore): void {
  testMessages(prepare);
  testSingleMessages(prepare);
  testConcurrentChanges(prepare);
  testLog(prepare);
  testPrunedLog(prepare);
}

function testMessages(prepare: PrepareStore): void {
  test('keeps a message until it is delivered, and then the next one', async (t) => {
    const { store, webhook, message, clock } = await prepareMessage(prepare(t));
    assert.deepEqual((await find(store, webhook)).message, message);
    clock.now += 1_000;
    const failed = { isDelivered: false, retryAt: 9, disabledReason: undefined } as const;
    for (let n = 0; n < 2; n += 1) {
      await store.endWebhookAttempt(webhook, message, FAILED, failed);
    }
    const failing = await find(store, webhook);
    assert.deepEqual(failing.message, message);
    const { failures, failingSince, nextAttemptAt, position } = failing;
    assert.deepEqual([failures, failingSince, nextAttemptAt, position], [2, clock.now, 9, 0]);
    const next = makeMessage('msg_2', 2, 2);
    const step = { isDelivered: true, position: 1, next } as const;
    assert.equal(await store.endWebhookAttempt(webhook, message, DELIVERED, step), true);
    const after = await find(store, webhook);
    assert.deepEqual(after.message, next);
    assert.deepEqual([after.failures, after.failingSince, after.position], [0, undefined, 1]);
    const last = { isDelivered: true, position: 2, next: undefined } as const;
    assert.equal(await store.endWebhookAttempt(webhook, next, DELIVERED, last), false);
    assert.equal((await find(store, webhook)).message, undefined);
  });

  test('starts no message if the endpoint has changed', async (t) => {
    const { store, actor, webhook } = await prepareWebhook(prepare(t));
    const message = makeMessage('msg_1', 1, 2);
    await store.replayWebhook(actor, webhook.id, 0);
    assert.equal(await isBegun(store, webhook, message), false);
    const seen = await find(store, webhook);
    await store.patchWebhook(actor, webhook.id, { types: ['stock'] });
    assert.equal(await isBegun(store, seen, message), false);
    const seenAgain = await find(store, webhook);
    assert.equal(await store.beginWebhookMessage(seenAgain, 1, undefined), true);
    assert.equal((await find(store, webhook)).position, 1);
  });

  test('disables an endpoint after the last attempt', async (t) => {
    const { store, webhook, message } = await prepareMessage(prepare(t));
    const step = { isDelivered: false, retryAt: 9, disabledReason: 'Five days.' } as const;
    await store.endWebhookAttempt(webhook, message, FAILED, step);
    const { status, disabledReason } = await find(store, webhook);
    assert.deepEqual([status, disabledReason], ['disabled', 'Five days.']);
  });

  test('disables an endpoint only if it has not changed', async (t) => {
    const { store, actor, webhook } = await prepareMessage(prepare(t));
    const seen = await find(store, webhook);
    await store.replayWebhook(actor, webhook.id, 1);
    await store.disableWebhook(seen, 'Too late.');
    assert.equal((await find(store, webhook)).status, 'active');
    await store.disableWebhook(await find(store, webhook), 'In time.');
    assert.equal((await find(store, webhook)).disabledReason, 'In time.');
  });
}

function testSingleMessages(prepare: PrepareStore): void {
  test('stores the event of a message with a single change, and its threshold', async (t) => {
    const { store, actor, webhook } = await prepareWebhook(prepare(t));
    await store.patchWebhook(actor, webhook.id, { delivery: 'single', types: ['stock.low'] });
    const { webhook: replayed } = await store.replayWebhook(actor, webhook.id, 0);
    const types = ['stock.low'] as const;
    const low = { types, event: 'stock.low', lowStock: 0 } as const;
    const message = { ...makeMessage('msg_1', 1, 1), ...low };
    assert.equal(await isBegun(store, replayed, message), true);
    const found = await find(store, webhook);
    assert.deepEqual([found.delivery, found.message], ['single', message]);
    await store.patchWebhook(actor, webhook.id, { delivery: 'batch' });
    assert.equal((await find(store, webhook)).message, undefined);
    assert.equal(await store.findLowStock(actor.sellerId), 5);
  });
}

function testConcurrentChanges(prepare: PrepareStore): void {
  const delivered = { isDelivered: true, position: 2, next: undefined } as const;

  for (const [what, change] of [
    ['a replay', (store, { sellerId, id }) =>
      store.replayWebhook({ sellerId, keyId: NO_KEY }, id, 0)],
    ['other types', (store, { sellerId, id }) =>
      store.patchWebhook({ sellerId, keyId: NO_KEY }, id, { types: ['created'] })],
  ] as const satisfies [string, (store: Store, webhook: Webhook) => Promise<unknown>][]) {
    test(`ignores the result of an attempt after ${what}`, async (t) => {
      const { store, webhook, message } = await prepareMessage(prepare(t));
      await change(store, webhook);
      const before = await find(store, webhook);
      assert.equal(before.message, undefined);
      assert.equal(await store.endWebhookAttempt(webhook, message, DELIVERED, delivered), false);
      assert.deepEqual(await find(store, webhook), before);
      const log = await store.listWebhookAttempts(webhook, { before: undefined, limit: 9 });
      assert.equal(log.length, 1);
    });
  }

  test('starts no next message if the endpoint was disabled during the attempt', async (t) => {
    const { store, actor, webhook, message } = await prepareMessage(prepare(t));
    await store.patchWebhook(actor, webhook.id, { status: 'disabled' });
    const step = { ...delivered, next: makeMessage('msg_2', 3, 3) };
    assert.equal(await store.endWebhookAttempt(webhook, message, DELIVERED, step), false);
    const { position, message: next, status } = await find(store, webhook);
    assert.deepEqual([position, next, status], [2, undefined, 'disabled']);
  });

  test('records nothing for an endpoint that was deleted during the attempt', async (t) => {
    const { store, actor, webhook, message } = await prepareMessage(prepare(t));
    await store.deleteWebhook(actor, webhook.id);
    assert.equal(await store.endWebhookAttempt(webhook, message, DELIVERED, delivered), false);
    await store.noteWebhookAttempt(webhook, { id: 'msg_t', at: 1 }, DELIVERED);
    const log = await store.listWebhookAttempts(webhook, { before: undefined, limit: 9 });
    assert.deepEqual(log, []);
  });

  test('resets failures when the endpoint becomes active or gets another URL',
    async (t) => {
      const { clock, store, actor, webhook, message } = await prepareMessage(prepare(t));
      for (const patch of [{ status: 'active' }, { url: 'https://b.example/' }] as const) {
        const step = { isDelivered: false, retryAt: clock.now * 2, disabledReason: 'No.' } as const;
        await store.endWebhookAttempt(webhook, message, FAILED, step);
        const { webhook: patched } = await store.patchWebhook(actor, webhook.id, patch);
        assert.deepEqual([patched.failures, patched.nextAttemptAt], [0, clock.now]);
        assert.deepEqual(patched.message, message);
      }
    });
}

function testPrunedLog(prepare: PrepareStore): void {
  test('deletes the bodies that attempts sent when their changes are pruned', async (t) => {
    const { store, webhook, message, clock } = await prepareMessage(prepare(t));
    const exchange = {
      url: 'https://shop.example/hook', response: undefined,
      request: { headers: [], body: '{"name":"Mug"}', bodyBytes: 14 },
    };
    const step = { isDelivered: false, retryAt: 9, disabledReason: undefined } as const;
    await store.endWebhookAttempt(webhook, message, { ...FAILED, exchange }, step);
    await store.noteWebhookAttempt(webhook, { id: 'msg_t', at: 7 }, { ...DELIVERED, exchange });
    const later = makeMessage('msg_2', 2, 3);
    await store.noteWebhookAttempt(webhook, later, { ...FAILED, exchange });
    const read = async () => (await Promise.all([1, 2, 3].map((n) =>
      store.findWebhookAttempt(webhook, n)))).map((attempt) => [
      attempt?.outcome, attempt?.exchange !== undefined, attempt?.message !== undefined,
    ]);
    const [failed, delivered] = [FAILED.outcome, DELIVERED.outcome];
    await store.pruneHistory(0);
    assert.deepEqual(await read(),
      [[failed, true, true], [delivered, true, true], [failed, true, true]]);
    await store.pruneHistory(clock.now + DAY_MS);
    assert.deepEqual(await read(),
      [[failed, false, false], [delivered, true, true], [failed, true, true]]);
  });
}

function testLog(prepare: PrepareStore): void {
  test('stores what an attempt sent and received, and its message', async (t) => {
    const { store, actor, webhook, message } = await prepareMessage(prepare(t));
    const exchange = {
      url: 'https://shop.example/hook',
      request: {
        headers: [{ name: 'webhook-id', value: 'msg_1' }],
        body: '"\\\u0000é🧾\n'.repeat(2_000), bodyBytes: 99_999,
      },
      response: { headers: [{ name: 'x', value: 'ÿ' }], body: '\0\uFFFD' },
    };
    const result = { ...FAILED, exchange };
    const step = { isDelivered: false, retryAt: 9, disabledReason: undefined } as const;
    await store.endWebhookAttempt(webhook, message, result, step);
    const test = { id: 'msg_t', at: 7 };
    assert.equal(await store.noteWebhookAttempt(webhook, test, DELIVERED), 2);
    const first = await store.findWebhookAttempt(webhook, 1);
    assert.deepEqual(first, {
      ...FAILED, n: 1, messageId: 'msg_1', kind: 'changes', first: 1, last: 2, exchange, message,
    });
    const second = await store.findWebhookAttempt(webhook, 2);
    assert.deepEqual([second?.kind, second?.exchange, second?.message], ['test', undefined, test]);
    assert.equal(await store.findWebhookAttempt(webhook, 3), undefined);
    const other = { ...webhook, sellerId: (await makeActor(store)).sellerId };
    assert.equal(await store.findWebhookAttempt(other, 1), undefined);
    await store.deleteWebhook(actor, webhook.id);
    assert.equal(await store.findWebhookAttempt(webhook, 1), undefined);
  });

  test('keeps the newest attempts of an endpoint, and lists them in pages', async (t) => {
    const { store, webhook, message } = await prepareMessage(prepare(t));
    const step = { isDelivered: false, retryAt: 9, disabledReason: undefined } as const;
    await store.endWebhookAttempt(webhook, message, { ...FAILED, status: undefined }, step);
    const [first] = await store.listWebhookAttempts(webhook, { before: undefined, limit: 9 });
    assert.deepEqual(first, {
      n: 1, messageId: 'msg_1', kind: 'changes', first: 1, last: 2, at: 1, durationMs: 5,
      status: undefined, outcome: 'responded with 500',
    });
    await Promise.all(countTo(WEBHOOK_ATTEMPTS_KEPT + 3).map((n) =>
      store.noteWebhookAttempt(webhook, { id: `msg_t${n}`, at: 1 }, DELIVERED)));
    const list = (before: number | undefined, limit: number) =>
      store.listWebhookAttempts(webhook, { before, limit });
    const newest = await list(undefined, 3);
    const total = WEBHOOK_ATTEMPTS_KEPT + 4;
    assert.deepEqual(newest.map(({ n }) => n), [total, total - 1, total - 2]);
    assert.deepEqual([newest[0]?.kind, newest[0]?.first], ['test', undefined]);
    const rest = await list(newest.at(-1)?.n, 1_000);
    assert.equal(rest.length, WEBHOOK_ATTEMPTS_KEPT - 3);
    assert.equal(rest.at(-1)?.n, 5);
  });
}
