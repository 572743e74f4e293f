/** The contract of a store: the audit log of accounts, keys and webhooks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatKeyId, formatWebhookId } from '../../../src/domain/id.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, makeActor, makeNewKey, makeNewProduct, makeSecret, type PrepareStore,
} from './fixture.ts';
import { join, listEvents, listTypes } from './portal-fixture.ts';
import { makeNewWebhook } from './webhooks.ts';

export function testAudit(prepare: PrepareStore): void {
  testListing(prepare);
  testNewestTime(prepare);
  testKeyEvents(prepare);
  testWebhookEvents(prepare);
}

function testListing(prepare: PrepareStore): void {
  test('lists the events of one seller in pages, the newest first', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const [one, other] = [await makeActor(store), await makeActor(store)];
    for (const n of countTo(5)) {
      clock.now += 1_000;
      await note(store, one.sellerId, String(n));
      await note(store, other.sellerId, `other ${n}`);
    }
    await note(store, undefined, 'of nobody');
    const { sellerId } = one;
    const first = await store.listAuditEvents(sellerId, {
      type: undefined, before: undefined, limit: 3,
    });
    const second = await store.listAuditEvents(sellerId, {
      type: undefined, before: first.at(-1)?.n, limit: 10,
    });
    const { n = 0, ...newest } = first[0] ?? {};
    assert.ok(n > 0);
    const event = { type: 'sign_in_refused', address: '192.0.2.7', subject: '5' };
    assert.deepEqual(newest, { ...event, sellerId, at: clock.now, actorName: undefined });
    assert.deepEqual([...first, ...second].map(({ type, subject }) =>
      type === 'key_created' ? type : subject), ['5', '4', '3', '2', '1', 'key_created']);
    const back = await store.listAuditEvents(sellerId, {
      type: undefined, before: undefined, after: second[1]?.n, limit: 3,
    });
    assert.deepEqual(back.map(({ subject }) => subject), ['2', '3', '4']);
    const counted = await store.countAuditEvents(sellerId, undefined);
    assert.deepEqual(counted, { count: 6, isExact: true });
  });

  test('lists the events of one type', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await join(store);
    for (const n of countTo(4)) await note(store, sellerId, String(n));
    const list = async (before?: number) => store.listAuditEvents(sellerId, {
      type: 'sign_in_refused', before, limit: 3,
    });
    const first = await list();
    const second = await list(first.at(-1)?.n);
    assert.deepEqual([...first, ...second].map(({ subject }) => subject), ['4', '3', '2', '1']);
    const back = await store.listAuditEvents(sellerId, {
      type: 'sign_in_refused', before: undefined, after: second[0]?.n, limit: 2,
    });
    assert.deepEqual(back.map(({ subject }) => subject), ['2', '3']);
    const counted = await store.countAuditEvents(sellerId, 'sign_in_refused');
    assert.deepEqual(counted, { count: 4, isExact: true });
  });

  test('truncates long values, and keeps them well-formed', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await makeActor(store);
    await note(store, sellerId, `${'x'.repeat(299)}🧾`, 'y'.repeat(101));
    const [event] = (await listEvents(store, sellerId)).slice(-1);
    assert.equal(event?.subject, `${'x'.repeat(299)}\uFFFD`);
    assert.equal(event.address, 'y'.repeat(100));
  });
}

function note(
  store: Store, sellerId: Parameters<Store['noteAuditEvent']>[0]['sellerId'], subject: string,
  address = '192.0.2.7',
): Promise<void> {
  return store.noteAuditEvent({ sellerId, type: 'sign_in_refused', address, subject });
}

function testNewestTime(prepare: PrepareStore): void {
  test('finds the newest time of all changes and events', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const [one, other] = [await makeActor(store), await makeActor(store)];
    clock.now += 1_000;
    await store.createProduct(one, makeNewProduct());
    assert.equal(await store.findNewestTime(), clock.now);
    for (const sellerId of [other.sellerId, undefined]) {
      clock.now += 1_000;
      await note(store, sellerId, 'later');
      assert.equal(await store.findNewestTime(), clock.now);
    }
  });
}

function testKeyEvents(prepare: PrepareStore): void {
  test('logs which key was created, rotated or revoked, and from where', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await makeActor(store);
    const made = await store.createKey(
      sellerId, makeSecret(), makeNewKey({ name: 'Cash desk' }), { address: '192.0.2.7' },
    );
    const reference = { sellerId, keyId: made.id };
    const next = await store.rotateKey(reference, makeSecret(), 0, { address: '192.0.2.8' });
    await store.revokeKey(reference, { actorName: 'Anna', address: '192.0.2.9' });
    await store.revokeKey({ sellerId, keyId: next.id });
    const subject = `${formatKeyId(reference)} Cash desk`;
    const events = (await listEvents(store, sellerId)).map((event) =>
      [event.type, event.address, event.subject, event.actorName]);
    assert.deepEqual(events.slice(1), [
      ['key_created', '192.0.2.7', subject, undefined],
      ['key_rotated', '192.0.2.8', subject, undefined],
      ['key_revoked', '192.0.2.9', subject, 'Anna'],
      ['key_revoked', '', `${formatKeyId({ sellerId, keyId: next.id })} Cash desk`, undefined],
    ]);
  });

  test('logs nothing that was rejected, or that changed nothing', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    await store.revokeKey(actor);
    clock.now += 1_000;
    await store.revokeKey(actor);
    await assert.rejects(store.rotateKey(actor, makeSecret(), 0), { code: 'not_found' });
    assert.deepEqual(await listTypes(store, actor.sellerId), ['key_created', 'key_revoked']);
  });
}

function testWebhookEvents(prepare: PrepareStore): void {
  test('logs which webhook was created, changed, given a secret or deleted', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const from = (n: number) => ({ ...actor, address: `192.0.2.${n}` });
    const url = 'https://hooks.example:8443/secret?token=secret';
    const { webhook } = await store.createWebhook(from(1), makeNewWebhook({ url }));
    await store.patchWebhook(from(2), webhook.id, { url: 'https://other.example/x' });
    await store.patchWebhook(from(3), webhook.id, { status: 'disabled' });
    await store.rotateWebhookSecret(from(4), webhook.id, 0);
    await store.deleteWebhook({ ...actor, actorName: 'Anna' }, webhook.id);
    const id = formatWebhookId(webhook);
    const events = (await listEvents(store, actor.sellerId)).map((event) =>
      [event.type, event.actorName, event.address, event.subject]);
    assert.deepEqual(events.slice(1), [
      ['webhook_created', 'test', '192.0.2.1', `${id} hooks.example:8443`],
      ['webhook_changed', 'test', '192.0.2.2', `${id} other.example`],
      ['webhook_changed', 'test', '192.0.2.3', `${id} other.example`],
      ['webhook_secret_rotated', 'test', '192.0.2.4', `${id} other.example`],
      ['webhook_deleted', 'Anna', '', `${id} other.example`],
    ]);
  });

  test('logs a replayed webhook creation once, and no unchanged webhook', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const idempotency = { key: 'k', part: 0 };
    const make = (address: string) =>
      store.createWebhook({ ...actor, idempotency, address }, makeNewWebhook());
    const { webhook } = await make('192.0.2.7');
    assert.equal((await make('192.0.2.8')).isReplay, true);
    await store.patchWebhook(actor, webhook.id, { url: webhook.url, status: 'active' });
    await store.replayWebhook(actor, webhook.id, 0);
    await assert.rejects(store.deleteWebhook(await makeActor(store), webhook.id));
    const types = await listTypes(store, actor.sellerId);
    assert.deepEqual(types, ['key_created', 'webhook_created']);
  });
}
