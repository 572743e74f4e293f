/** The contract of a store: sellers who are disabled, and enabled again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashCode } from '../../../src/domain/access/human-code.ts';
import type { SellerId } from '../../../src/domain/id.ts';
import { makeClock } from '../../support/clock.ts';
import {
  DAY_MS, eventually, makeActor, makeNewKey, makeNewProduct, makeSecret, makeSeller,
  type PrepareStore,
} from './fixture.ts';
import {
  join, listTypes, makeInvitation, makeJoining, makeNewSession, shownFor,
} from './portal-fixture.ts';
import { prepareWebhook } from './webhooks.ts';
import { ownerOf } from '../../support/owner.ts';

export function testDisabledSellers(prepare: PrepareStore): void {
  testAccess(prepare);
  testChanges(prepare);
}

function testAccess(prepare: PrepareStore): void {
  test('rejects every credential of a disabled seller immediately, in every process', async (t) => {
    const open = prepare(t);
    const clock = makeClock();
    const [store, second] = [await open(clock), await open(clock)];
    const [one, other] = [await join(store), await join(store)];
    const disabled = await store.setSellerDisabled(one.sellerId, true);
    assert.equal(disabled.disabledAt, clock.now);
    assert.deepEqual(await second.findSeller(one.sellerId), disabled);
    const { account, secret, session } = one.joining;
    assert.equal(await second.findGrant(secret.hash), undefined);
    assert.equal(await second.findSignedInSession(one.sellerId, session.hash), undefined);
    assert.equal(await second.findCredentials(account.email), undefined);
    assert.equal(await second.createSession(shownFor(one.sellerId), makeNewSession()), false);
    assert.deepEqual(await second.listSessions(ownerOf(one.sellerId), 10), []);
    assert.ok(await second.findGrant(other.joining.secret.hash));
    assert.ok(await second.findSignedInSession(other.sellerId, other.joining.session.hash));
    assert.ok(await second.findCredentials(other.joining.account.email));
  });

  test('lets a re-enabled seller in, but not with an earlier session', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId, joining: { account, secret, session } } = await join(store);
    await store.setSellerDisabled(sellerId, true);
    const enabled = await store.setSellerDisabled(sellerId, false);
    assert.equal(enabled.disabledAt, undefined);
    assert.ok(await store.findGrant(secret.hash));
    assert.ok(await store.findCredentials(account.email));
    assert.equal(await store.findSignedInSession(sellerId, session.hash), undefined);
    assert.equal(await store.createSession(shownFor(sellerId), makeNewSession()), true);
  });

  test("creates no account for a disabled seller's invitation", async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { id: sellerId } = await makeSeller(store);
    const codeHash = hashCode('7QK2-M9XD-0AEV-4TBC') ?? '';
    const expiresAt = clock.now + DAY_MS;
    await store.createInvitation(codeHash, makeInvitation({ sellerId, expiresAt }));
    await store.setSellerDisabled(sellerId, true);
    assert.equal(await store.findInvitation(codeHash), undefined);
    assert.deepEqual(await store.register(makeJoining({ codeHash })), { rejection: 'code' });
    await store.setSellerDisabled(sellerId, false);
    assert.equal((await store.register(makeJoining({ codeHash }))).rejection, undefined);
  });

  test('logs once that a seller was disabled and enabled, and rejects unknown ids', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { id } = await makeSeller(store);
    await store.setSellerDisabled(id, false);
    const first = await store.setSellerDisabled(id, true);
    clock.now += 1_000;
    assert.deepEqual(await store.setSellerDisabled(id, true), first);
    await store.setSellerDisabled(id, false);
    assert.deepEqual(await listTypes(store, id), ['seller_disabled', 'seller_enabled']);
    const unknown = store.setSellerDisabled(5 as SellerId, true);
    await assert.rejects(unknown, { code: 'not_found' });
  });
}

function testChanges(prepare: PrepareStore): void {
  test('changes nothing for a disabled seller, and keeps all data', async (t) => {
    const store = await prepare(t)(makeClock());
    const [actor, other] = [await makeActor(store), await makeActor(store)];
    const { id } = await store.createProduct(actor, makeNewProduct());
    const before = await store.findProduct(actor.sellerId, { id });
    await store.setSellerDisabled(actor.sellerId, true);
    const sync = { source: undefined, reason: undefined, isAtomic: false, completion: undefined };
    for (const change of [
      () => store.createProduct(actor, makeNewProduct()),
      () => store.deleteProduct(actor, { id }, {}),
      () => store.importProducts(actor, [makeNewProduct()], 'upsert'),
      () => store.syncStock(actor, { ...sync, changes: [{ id: 'prd_x', set: 1 }] }, false),
    ]) await assert.rejects(change, { code: 'key_unknown' });
    await store.createProduct(other, makeNewProduct());
    assert.deepEqual(await store.findProduct(actor.sellerId, { id }), before);
    assert.equal((await store.findSeller(actor.sellerId))?.position, 1);
    await store.setSellerDisabled(actor.sellerId, false);
    await store.createProduct(actor, makeNewProduct());
    assert.equal((await store.findSeller(actor.sellerId))?.position, 2);
  });

  test('has no due webhook for a disabled seller, until it is enabled', async (t) => {
    const { clock, store, actor } = await prepareWebhook(prepare(t));
    await store.createProduct(actor, makeNewProduct());
    const member = await store.joinDelivery(() => {});
    const assertDue = (count: number) => eventually(async () => {
      const query = { at: clock.now, isFailing: false, limit: 10 };
      assert.equal((await member.listDueWebhooks(query)).length, count);
    });
    await assertDue(1);
    await store.setSellerDisabled(actor.sellerId, true);
    await assertDue(0);
    await store.setSellerDisabled(actor.sellerId, false);
    await assertDue(1);
  });

  test('creates keys for a disabled seller, which do not work yet', async (t) => {
    const store = await prepare(t)(makeClock());
    const { id } = await makeSeller(store);
    await store.setSellerDisabled(id, true);
    const secret = makeSecret();
    await store.createKey(id, secret, makeNewKey());
    assert.equal(await store.findGrant(secret.hash), undefined);
    await store.setSellerDisabled(id, false);
    assert.ok(await store.findGrant(secret.hash));
  });
}
