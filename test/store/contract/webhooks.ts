/** The contract of a store: webhooks, as their sellers create and change them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WebhookId } from '../../../src/domain/id.ts';
import { WEBHOOKS_PER_SELLER_LIMIT } from '../../../src/domain/limits.ts';
import type { NewWebhook } from '../../../src/domain/webhooks/webhook.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import { countTo, DAY_MS, makeActor, makeNewProduct, plain, type PrepareStore } from './fixture.ts';

const NO_WEBHOOK = 5 as WebhookId;
const SHAPE = /^whsec_[A-Za-z0-9+/]{43}=$/;

export function makeNewWebhook(members: Partial<NewWebhook> = {}): NewWebhook {
  return { url: 'https://shop.example/hook', description: '', types: null, ...members };
}

/** A store with a seller whose catalogue has two products, and with one endpoint. */
export async function prepareWebhook(open: ReturnType<PrepareStore>) {
  const clock = makeClock();
  const store = await open(clock);
  const actor = await makeActor(store);
  for (let n = 0; n < 2; n += 1) await store.createProduct(actor, makeNewProduct());
  const { webhook, secret } = await store.createWebhook(actor, makeNewWebhook());
  return { clock, store, actor, webhook, secret };
}

export function testWebhooks(prepare: PrepareStore): void {
  testCreation(prepare);
  testListing(prepare);
  testPatching(prepare);
  testSecrets(prepare);
  testReplay(prepare);
  testOthers(prepare);
}

function testCreation(prepare: PrepareStore): void {
  test("stores an endpoint with all members, at the catalogue's position",
    async (t) => {
      const { clock, store, actor, webhook } = await prepareWebhook(prepare(t));
      const expected = {
        sellerId: actor.sellerId, id: webhook.id, ...makeNewWebhook(), delivery: 'batch',
        status: 'active', disabledReason: undefined, position: 2, message: undefined, failures: 0,
        failingSince: undefined, failingLivedSince: undefined, nextAttemptAt: clock.now,
        createdAt: clock.now,
        updatedAt: clock.now, createdBy: 'test',
      };
      assert.deepEqual(await store.findWebhook(webhook), expected);
      assert.equal(JSON.stringify(webhook), JSON.stringify(expected));
      const full = makeNewWebhook({ description: 'Cash desk 🧾', types: ['created', 'stock'] });
      const made = await store.createWebhook(actor, full);
      const found = await store.findWebhook(made.webhook);
      assert.deepEqual([found?.description, found?.types], [full.description, full.types]);
    });

  test('returns the first endpoint and its secret to a retry', async (t) => {
    const { store, actor } = await prepareWebhook(prepare(t));
    const write = { ...actor, idempotency: { key: 'k', part: 0 } };
    const first = await store.createWebhook(write, makeNewWebhook());
    await store.rotateWebhookSecret(actor, first.webhook.id, 0);
    const again = await store.createWebhook(write, makeNewWebhook());
    assert.deepEqual(plain(again), plain({ ...first, isReplay: true }));
    const other = store.createWebhook(write, makeNewWebhook({ description: 'other' }));
    await assert.rejects(other, { code: 'idempotency_mismatch' });
    assert.equal((await listAll(store, actor)).length, 2);
  });

  test('limits the endpoints of a seller, also after one is deleted', async (t) => {
    const { store, actor, webhook } = await prepareWebhook(prepare(t));
    const create = () => store.createWebhook(actor, makeNewWebhook());
    await Promise.all(countTo(WEBHOOKS_PER_SELLER_LIMIT - 1).map(create));
    await assert.rejects(create(), { code: 'limit_reached' });
    await store.createWebhook(await makeActor(store), makeNewWebhook());
    await store.deleteWebhook(actor, webhook.id);
    await create();
    await assert.rejects(create(), { code: 'limit_reached' });
  });
}

async function listAll(store: Store, { sellerId }: Actor) {
  return store.listWebhooks(sellerId, { after: undefined, limit: 100 });
}

function testListing(prepare: PrepareStore): void {
  test('lists the endpoints of one seller in pages, in the order of creation', async (t) => {
    const { clock, store, actor, webhook } = await prepareWebhook(prepare(t));
    const made = [webhook.id];
    for (let n = 0; n < 4; n += 1) {
      clock.now -= 1_000; // a clock may step backwards
      made.push((await store.createWebhook(actor, makeNewWebhook())).webhook.id);
    }
    const { sellerId } = actor;
    const first = await store.listWebhooks(sellerId, { after: undefined, limit: 3 });
    const second = await store.listWebhooks(sellerId, { after: first.at(-1)?.id, limit: 3 });
    assert.deepEqual([...first, ...second].map(({ id }) => id), made);
    assert.deepEqual(await listAll(store, await makeActor(store)), []);
  });
}

function testPatching(prepare: PrepareStore): void {
  test('changes only the members of a patch', async (t) => {
    const { clock, store, actor, webhook } = await prepareWebhook(prepare(t));
    clock.now += 1_000;
    const patch = { description: 'New', types: ['deleted'] } as const;
    const { webhook: patched } = await store.patchWebhook(actor, webhook.id, patch);
    const expected = { ...webhook, ...patch, updatedAt: clock.now };
    assert.equal(JSON.stringify(patched), JSON.stringify(expected));
    const all = await store.patchWebhook(actor, webhook.id, { types: null });
    assert.equal(all.webhook.types, null);
  });

  test('makes a failing webhook due now, and a disabled one active', async (t) => {
    const { clock, store, actor, webhook } = await prepareWebhook(prepare(t));
    const { webhook: retried } = await store.retryWebhook(actor, webhook.id);
    assert.deepEqual([retried.failures, retried.nextAttemptAt], [0, clock.now]);
    await store.patchWebhook(actor, webhook.id, { status: 'disabled' });
    const write = { ...actor, idempotency: { key: 'k', part: 0 } };
    const enabled = await store.retryWebhook(write, webhook.id);
    assert.equal(enabled.webhook.status, 'active');
    assert.equal((await store.retryWebhook(write, webhook.id)).isReplay, true);
    await assert.rejects(store.retryWebhook(actor, NO_WEBHOOK), { code: 'not_found' });
    const other = await makeActor(store);
    await assert.rejects(store.retryWebhook(other, webhook.id), { code: 'not_found' });
  });

  test('disables an endpoint with a reason, and makes it active again', async (t) => {
    const { clock, store, actor, webhook } = await prepareWebhook(prepare(t));
    const { id } = webhook;
    const off = await store.patchWebhook(actor, id, { status: 'disabled' });
    assert.match(off.webhook.disabledReason ?? '', /by a request/);
    clock.now += 1_000;
    const on = await store.patchWebhook(actor, id, { status: 'active' });
    assert.equal(on.webhook.disabledReason, undefined);
    assert.equal(on.webhook.nextAttemptAt, clock.now);
  });

  test('deletes an endpoint with its log', async (t) => {
    const { store, actor, webhook } = await prepareWebhook(prepare(t));
    await store.noteWebhookAttempt(webhook, { id: 'msg', at: 1 }, {
      at: 1, durationMs: 2, status: 200, outcome: 'delivered',
    });
    await store.deleteWebhook(actor, webhook.id);
    assert.equal(await store.findWebhook(webhook), undefined);
    const query = { before: undefined, limit: 10 };
    assert.deepEqual(await store.listWebhookAttempts(webhook, query), []);
    await assert.rejects(store.deleteWebhook(actor, webhook.id), { code: 'not_found' });
  });
}

function testSecrets(prepare: PrepareStore): void {
  test('stores the secret of an endpoint for other processes', async (t) => {
    const open = prepare(t);
    const { clock, store, webhook, secret } = await prepareWebhook(open);
    assert.match(secret, SHAPE);
    assert.deepEqual(await store.findWebhookSecrets(webhook), [secret]);
    assert.deepEqual(await (await open(clock)).findWebhookSecrets(webhook), [secret]);
  });

  test('lets both secrets sign until the overlap of a rotation ends', async (t) => {
    const { clock, store, actor, webhook, secret } = await prepareWebhook(prepare(t));
    const rotated = await store.rotateWebhookSecret(actor, webhook.id, DAY_MS);
    assert.match(rotated.secret, SHAPE);
    assert.notEqual(rotated.secret, secret);
    clock.now += DAY_MS - 1;
    assert.deepEqual(await store.findWebhookSecrets(webhook), [rotated.secret, secret]);
    clock.now += 1;
    assert.deepEqual(await store.findWebhookSecrets(webhook), [rotated.secret]);
    const last = await store.rotateWebhookSecret(actor, webhook.id, 0);
    assert.deepEqual(await store.findWebhookSecrets(webhook), [last.secret]);
  });

  test('returns the same secret to a retry of a rotation', async (t) => {
    const { store, actor, webhook } = await prepareWebhook(prepare(t));
    const write = { ...actor, idempotency: { key: 'r', part: 0 } };
    const first = await store.rotateWebhookSecret(write, webhook.id, DAY_MS);
    const again = await store.rotateWebhookSecret(write, webhook.id, DAY_MS);
    assert.deepEqual(plain(again), plain({ ...first, isReplay: true }));
  });
}

function testReplay(prepare: PrepareStore): void {
  test('replays from any existing position', async (t) => {
    const { store, actor, webhook } = await prepareWebhook(prepare(t));
    for (const position of [0, 2, 1]) {
      await store.replayWebhook(actor, webhook.id, position);
      assert.equal((await store.findWebhook(webhook))?.position, position);
    }
    const beyond = store.replayWebhook(actor, webhook.id, 3);
    await assert.rejects(beyond, { code: 'invalid_data' });
    assert.equal((await store.findWebhook(webhook))?.position, 1);
  });
}

function testOthers(prepare: PrepareStore): void {
  test("does not find another seller's endpoint, nor an unknown one", async (t) => {
    const { store, actor, webhook } = await prepareWebhook(prepare(t));
    const other = await makeActor(store);
    for (const [write, id] of [[other, webhook.id], [actor, NO_WEBHOOK]] as const) {
      const { sellerId } = write;
      const expected = { code: 'not_found' };
      await assert.rejects(store.patchWebhook(write, id, { description: 'x' }), expected);
      await assert.rejects(store.rotateWebhookSecret(write, id, 0), expected);
      await assert.rejects(store.replayWebhook(write, id, 0), expected);
      await assert.rejects(store.deleteWebhook(write, id), expected);
      assert.equal(await store.findWebhook({ sellerId, id }), undefined);
      assert.equal(await store.findWebhookSecrets({ sellerId, id }), undefined);
    }
    assert.equal((await listAll(store, actor)).length, 1);
  });
}
