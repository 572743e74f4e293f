/**
 * The contract of a store: which process delivers the webhooks of a seller, and what it finds due.
 * Leases and writes of another store may take a moment to be seen, so assertions are repeated.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WebhookId } from '../../../src/domain/id.ts';
import { WEBHOOK_RETRY_LIMIT_MS } from '../../../src/store/limits.ts';
import type { DeliveryMember, DueWebhook } from '../../../src/store/webhook-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import { eventually, makeActor, makeNewProduct, type PrepareStore } from './fixture.ts';
import { FAILED, prepareMessage } from './webhook-deliveries.ts';
import { makeNewWebhook, prepareWebhook } from './webhooks.ts';

export function testWebhookLeases(prepare: PrepareStore): void {
  testExclusion(prepare);
  testNotification(prepare);
  testDue(prepare);
  testRetries(prepare);
}

/** The due webhooks of all sellers of the member: by default those that are not failing. */
function listDue(
  member: DeliveryMember, at: number, isFailing = false,
): Promise<readonly DueWebhook[]> {
  return member.listDueWebhooks({ at, isFailing, limit: 10 });
}

async function assertDue(
  member: DeliveryMember, at: number, ids: readonly WebhookId[], isFailing = false,
): Promise<void> {
  await eventually(async () => {
    const due = await listDue(member, at, isFailing);
    assert.deepEqual(due.map(({ webhook }) => webhook.id), ids);
  });
}

/** A member that counts the calls of `onDue`. */
async function join(store: Store) {
  const notified = { count: 0 };
  const member = await store.joinDelivery(() => { notified.count += 1; });
  return { member, notified };
}

function testExclusion(prepare: PrepareStore): void {
  test('lets one process deliver for a seller, until it leaves', async (t) => {
    const open = prepare(t);
    const { store, actor, webhook, clock } = await prepareWebhook(open);
    await store.createProduct(actor, makeNewProduct());
    const one = await store.joinDelivery(() => {});
    await assertDue(one, clock.now, [webhook.id]);
    const [first] = await listDue(one, clock.now);
    assert.equal(first?.lease.aborted, false);
    const other = await (await open(clock)).joinDelivery(() => {});
    await eventually(async () => {
      // Members may divide the sellers in any way, but no two ever have the same one.
      const all = [...await listDue(one, clock.now), ...await listDue(other, clock.now)];
      assert.equal(all.length, 1);
      assert.equal(all[0]?.lease.aborted, false);
    });
    await one.leave();
    assert.equal(first.lease.aborted, true);
    await assertDue(other, clock.now, [webhook.id]);
    assert.equal(await other.findNextRetry(0), undefined);
  });

  test('releases the leases of a store that is closed', async (t) => {
    const open = prepare(t);
    const { store, actor, webhook, clock } = await prepareWebhook(open);
    await store.createProduct(actor, makeNewProduct());
    const one = await store.joinDelivery(() => {});
    await assertDue(one, clock.now, [webhook.id]);
    const [first] = await listDue(one, clock.now);
    const other = await (await open(clock)).joinDelivery(() => {});
    await store.close();
    assert.equal(first?.lease.aborted, true);
    await assertDue(other, clock.now, [webhook.id]);
    await one.leave(); // again
  });
}

function testNotification(prepare: PrepareStore): void {
  test('notifies a member of what may be due, whichever store wrote', async (t) => {
    const open = prepare(t);
    const clock = makeClock();
    const [store, other] = [await open(clock), await open(clock)];
    const actor = await makeActor(store);
    const { member, notified } = await join(store);
    const assertNotified = async (write: () => Promise<unknown>): Promise<void> => {
      const before = notified.count;
      await write();
      await eventually(() => assert.ok(notified.count > before));
    };
    const created = await other.createWebhook(actor, makeNewWebhook()); // the first
    await other.createProduct(actor, makeNewProduct());
    await assertDue(member, clock.now, [created.webhook.id]);
    assert.ok(notified.count > 0);
    await assertNotified(() => store.createProduct(actor, makeNewProduct()));
    await assertNotified(() => other.createProduct(actor, makeNewProduct()));
    const { id } = created.webhook;
    await other.patchWebhook(actor, id, { status: 'disabled' });
    await assertDue(member, clock.now, []);
    await assertNotified(() => other.patchWebhook(actor, id, { status: 'active' }));
    await assertDue(member, clock.now, [id]);
  });

  test('notifies of the first webhook that the same store creates', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    const { member, notified } = await join(store);
    const { webhook } = await store.createWebhook(actor, makeNewWebhook());
    await store.createProduct(actor, makeNewProduct());
    await assertDue(member, clock.now, [webhook.id]);
    assert.ok(notified.count > 0);
  });
}

function testDue(prepare: PrepareStore): void {
  test('finds the endpoints with undelivered changes', async (t) => {
    const { store, actor, webhook, clock } = await prepareWebhook(prepare(t));
    const member = await store.joinDelivery(() => {});
    await assertDue(member, clock.now, []);
    await store.createProduct(actor, makeNewProduct());
    const { webhook: late } = await store.createWebhook(actor, makeNewWebhook());
    await assertDue(member, clock.now, [webhook.id]);
    await store.createProduct(actor, makeNewProduct());
    await assertDue(member, clock.now, [webhook.id, late.id]);
    await store.patchWebhook(actor, webhook.id, { status: 'disabled' });
    await assertDue(member, clock.now, [late.id]);
    assert.deepEqual(await listDue(member, clock.now, true), []);
    const [due] = await listDue(member, clock.now);
    assert.deepEqual(due?.webhook, await store.findWebhook(late));
    await store.deleteWebhook(actor, late.id);
    await assertDue(member, clock.now, []);
  });
}

function testRetries(prepare: PrepareStore): void {
  test('finds failing endpoints separately, when they are due', async (t) => {
    const { store, webhook, message, clock } = await prepareMessage(prepare(t));
    const member = await store.joinDelivery(() => {});
    await assertDue(member, clock.now, [webhook.id]);
    const retryAt = clock.now + 5_000;
    const step = { isDelivered: false, retryAt, disabledReason: undefined } as const;
    assert.equal(await member.findNextRetry(clock.now), undefined);
    await store.endWebhookAttempt(webhook, message, FAILED, step);
    await assertDue(member, clock.now, []);
    assert.deepEqual(await listDue(member, clock.now, true), []);
    assert.equal(await member.findNextRetry(clock.now), retryAt);
    const { leases, oldestMessageAt } = await member.readMetrics();
    assert.ok(leases > 0);
    assert.equal(oldestMessageAt, message.at);
    clock.now = retryAt;
    assert.deepEqual(await listDue(member, clock.now), []);
    await assertDue(member, clock.now, [webhook.id], true);
    assert.equal(await member.findNextRetry(clock.now), undefined);
  });

  test('finds an endpoint due that another store has been asked to retry', async (t) => {
    const open = prepare(t);
    const { store, actor, webhook, message, clock } = await prepareMessage(open);
    const { member, notified } = await join(store);
    await assertDue(member, clock.now, [webhook.id]);
    const retryAt = clock.now + 5_000;
    const step = { isDelivered: false, retryAt, disabledReason: undefined } as const;
    await store.endWebhookAttempt(webhook, message, FAILED, step);
    await assertDue(member, clock.now, [], true);
    const { count } = notified;
    await (await open(clock)).retryWebhook(actor, webhook.id);
    await eventually(async () => assert.ok(notified.count > count));
    await assertDue(member, clock.now, [webhook.id], true);
  });

  test('retries immediately if the delay was started by a clock that was ahead', async (t) => {
    const { store, webhook, message, clock } = await prepareMessage(prepare(t));
    const member = await store.joinDelivery(() => {});
    const retryAt = clock.now + WEBHOOK_RETRY_LIMIT_MS;
    const step = { isDelivered: false, retryAt, disabledReason: undefined } as const;
    await store.endWebhookAttempt(webhook, message, FAILED, step);
    await assertDue(member, clock.now - 1, [webhook.id], true);
    await assertDue(member, clock.now, [], true);
    await assertDue(member, retryAt, [webhook.id], true);
  });
}
