/**
 * The contract of a store: what protects from repetition is kept, and what grants access ends, by
 * the time that the store has lived through, whichever way the clock steps.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { livedUntil, makeClock } from '../../support/clock.ts';
import {
  countTo, DAY_MS, makeActor, makeNewKey, makeNewProduct, makeSecret, type PrepareStore,
} from './fixture.ts';
import {
  join, makeInvitation, makeNewSession, makeSecretHash, shownFor,
} from './portal-fixture.ts';
import { FAILED, prepareMessage } from './webhook-deliveries.ts';

const SECOND_MS = 1_000;
const YEARS_MS = 54 * 365 * DAY_MS;

export function testLivedTime(prepare: PrepareStore): void {
  testAccumulation(prepare);
  testProtection(prepare);
  testGrants(prepare);
}

function testAccumulation(prepare: PrepareStore): void {
  test('counts the time that passes, and no step of the clock', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    assert.equal(store.now().lived, 0);
    for (const ms of [3 * DAY_MS, -3 * DAY_MS, YEARS_MS, -YEARS_MS - DAY_MS]) {
      clock.step(ms);
      clock.now += SECOND_MS;
    }
    assert.equal(store.now().lived, 4 * SECOND_MS);
  });

  test('continues in the next process, and counts each second once if there are several',
    async (t) => {
      const clock = makeClock();
      const open = prepare(t);
      const [one, other] = [await open(clock), await open(clock)];
      clock.now += DAY_MS;
      await Promise.all([one, other].map((store) => store.keepLivedTime()));
      clock.now += DAY_MS;
      await one.keepLivedTime();
      const late = await open(clock);
      assert.deepEqual([one, other, late].map((store) => store.now().lived),
        [2 * DAY_MS, 2 * DAY_MS, 2 * DAY_MS]);
    });

  test('says when it had lived through a time less, exact to a day', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const start = clock.now;
    assert.equal(await store.findTimeLivedAgo(0), 0);
    for (const _ of countTo(5)) {
      await store.keepLivedTime();
      clock.now += DAY_MS;
    }
    clock.step(90 * DAY_MS);
    const ago = async (days: number): Promise<number> =>
      (await store.findTimeLivedAgo(days * DAY_MS) - start) / DAY_MS;
    assert.deepEqual([await ago(1), await ago(1.5), await ago(4)], [4, 3, 1]);
    assert.equal(await store.findTimeLivedAgo(400 * DAY_MS), 0);
  });
}

function testProtection(prepare: PrepareStore): void {
  for (const [name, steps] of [
    ['ahead, and corrected', [3 * DAY_MS, -3 * DAY_MS]],
    ['behind, and corrected', [-3 * DAY_MS, 3 * DAY_MS]],
    ['ahead by years, and corrected', [YEARS_MS, -YEARS_MS]],
  ] as const) {
    test(`replays a change to a retry after the clock was ${name}`, async (t) => {
      const clock = makeClock();
      const store = await prepare(t)(clock);
      const actor = await makeActor(store);
      const product = makeNewProduct();
      const create = async (key: string) => (await store.createProduct(
        { ...actor, idempotency: { key, part: 0 } }, { ...product, sku: `${key}` as never },
      )).isReplay;
      const rotated = await store.createKey(actor.sellerId, makeSecret(), makeNewKey());
      const secret = makeSecret();
      const rotate = () => store.rotateKey({ sellerId: actor.sellerId, keyId: rotated.id }, secret,
        DAY_MS, { idempotency: { key: 'r', part: 0 } });
      assert.equal(await create('before'), false);
      await rotate();
      for (const [index, ms] of steps.entries()) {
        clock.step(ms);
        assert.equal(await create('before'), true);
        assert.equal(await create(`during ${index}`), false); // it also prunes
        await store.pruneIdempotency();
        clock.now += SECOND_MS;
      }
      for (const key of ['before', 'during 0', 'during 1']) assert.equal(await create(key), true);
      await rotate(); // the same secret: a replay
      // None is kept for ever: each is forgotten after 48 hours, whatever its clock said.
      clock.now += 2 * DAY_MS;
      await store.pruneIdempotency();
      for (const key of ['before', 'during 0', 'during 1']) {
        await assert.rejects(create(key), { code: 'sku_taken' });
      }
    });
  }

  test('counts since when an endpoint fails in lived time', async (t) => {
    const { clock, store, webhook, message } = await prepareMessage(prepare(t));
    const fail = () => store.endWebhookAttempt(webhook, message, FAILED,
      { isDelivered: false, retryAt: clock.now, disabledReason: undefined });
    const since = async () => (await store.findWebhook(webhook))?.failingLivedSince;
    clock.now += SECOND_MS;
    await fail();
    clock.step(6 * DAY_MS);
    clock.now += SECOND_MS;
    await fail();
    assert.deepEqual([await since(), store.now().lived], [SECOND_MS, 2 * SECOND_MS]);
    await store.endWebhookAttempt(webhook, message, { ...FAILED, status: 200 },
      { isDelivered: true, position: message.last, next: undefined });
    assert.equal(await since(), undefined);
  });
}

function testGrants(prepare: PrepareStore): void {
  test('says until when what grants access is valid in lived time', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { sellerId } = await join(store);
    clock.now += SECOND_MS;
    const [secret, successor] = [makeSecret(), makeSecret()];
    const key = await store.createKey(sellerId, secret,
      makeNewKey({ expiresAt: clock.now + DAY_MS }));
    const findEnd = async (hash: string) => (await store.findGrant(hash))?.livedUntil;
    assert.equal(await findEnd(secret.hash), livedUntil(SECOND_MS, DAY_MS));
    clock.step(-3 * DAY_MS);
    clock.now += SECOND_MS;
    await store.rotateKey({ sellerId, keyId: key.id }, successor, 5 * SECOND_MS);
    assert.deepEqual([await findEnd(secret.hash), await findEnd(successor.hash)],
      [livedUntil(2 * SECOND_MS, 5 * SECOND_MS), livedUntil(2 * SECOND_MS, DAY_MS)]);
    const session = makeNewSession();
    await store.createSession(shownFor(sellerId), session);
    const found = await store.findSignedInSession(sellerId, session.hash);
    assert.ok(found);
    clock.step(-3 * DAY_MS);
    clock.now += SECOND_MS;
    await store.noteSessionSeen(shownFor(sellerId), found.session.id);
    const seen = (await store.findSignedInSession(sellerId, session.hash))?.session;
    assert.deepEqual([seen?.livedAt, seen?.seenLivedAt], [2 * SECOND_MS, 3 * SECOND_MS]);
  });

  test('ends keys and invitations in lived time if the clock was set back',
    async (t) => {
      const clock = makeClock();
      const store = await prepare(t)(clock);
      const { sellerId } = await makeActor(store);
      const [hash, keySecret] = [makeSecretHash(), makeSecret()];
      await store.createInvitation(hash,
        makeInvitation({ sellerId, expiresAt: clock.now + DAY_MS }), undefined);
      const key = await store.createKey(sellerId, keySecret,
        makeNewKey({ expiresAt: clock.now + DAY_MS }));
      clock.step(-3 * DAY_MS);
      clock.now += livedUntil(0, DAY_MS) - 1;
      assert.ok(await store.findInvitation(hash));
      clock.now += 1;
      assert.equal(await store.findInvitation(hash), undefined);
      await assert.rejects(store.rotateKey({ sellerId, keyId: key.id }, makeSecret(), 0),
        { code: 'not_found' });
    });
}
