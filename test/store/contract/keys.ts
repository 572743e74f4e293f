/** The contract of a store: creating, listing and revoking keys, and their limit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyId, SellerId } from '../../../src/domain/id.ts';
import { LIVE_KEYS_PER_SELLER_LIMIT } from '../../../src/domain/limits.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, DAY_MS, makeActor, makeNewKey, makeSecret, makeSeller, type PrepareStore,
} from './fixture.ts';

// No store has given these ids.
const NO_SELLER = 5 as SellerId;
const NO_KEY = 5 as KeyId;

export function testKeys(prepare: PrepareStore): void {
  testCreation(prepare);
  testListing(prepare);
  testSingleKeys(prepare);
  testRevocation(prepare);
  testLimit(prepare);
}

function testCreation(prepare: PrepareStore): void {
  test('returns a key with all its members, but not its hash', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { id: sellerId } = await makeSeller(store);
    const secret = makeSecret();
    const made = await store.createKey(sellerId, secret, makeNewKey({
      name: 'Cash desk 🧾', scopes: ['stock:write', 'products:read'],
      addressRanges: ['192.0.2.0/24', '2001:db8::/32'], expiresAt: clock.now + DAY_MS,
      rateLimitPerMinute: 10_000_000,
    }), { actorName: 'Anna' });
    const [listed, ...others] = await store.listKeys(sellerId, { after: undefined, limit: 10 });
    assert.deepEqual(others, []);
    assert.deepEqual(listed, {
      sellerId, id: made.id, name: 'Cash desk 🧾', scopes: ['products:read', 'stock:write'],
      addressRanges: ['192.0.2.0/24', '2001:db8::/32'], createdAt: clock.now,
      expiresAt: clock.now + DAY_MS, rateLimitPerMinute: 10_000_000, revokedAt: undefined,
      lastUsedAt: undefined, lastUsedAddress: undefined, lastFour: secret.lastFour,
      successorId: undefined,
      createdBy: 'Anna',
    });
    assert.equal(JSON.stringify(made), JSON.stringify(listed));
  });

  test('finds a key of the seller by its hash, also after its revocation', async (t) => {
    const store = await prepare(t)(makeClock());
    const [{ id: sellerId }, other] = [await makeSeller(store), await makeSeller(store)];
    const secret = makeSecret();
    const { id: keyId } = await store.createKey(sellerId, secret, makeNewKey());
    assert.equal((await store.findKeyByHash(sellerId, secret.hash))?.id, keyId);
    assert.equal(await store.findKeyByHash(other.id, secret.hash), undefined);
    assert.equal(await store.findKeyByHash(sellerId, makeSecret().hash), undefined);
    await store.revokeKey({ sellerId, keyId });
    assert.equal((await store.findKeyByHash(sellerId, secret.hash))?.id, keyId);
  });

  test('rejects a key for a seller that does not exist', async (t) => {
    const store = await prepare(t)(makeClock());
    const made = store.createKey(NO_SELLER, makeSecret(), makeNewKey());
    await assert.rejects(made, { code: 'not_found' });
  });
}

function testListing(prepare: PrepareStore): void {
  test('lists the keys of one seller in pages, in the order of their creation', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeSeller(store), await makeActor(store)];
    const made: KeyId[] = [];
    for (let n = 0; n < 5; n += 1) {
      made.push((await store.createKey(one.id, makeSecret(), makeNewKey())).id);
    }
    const first = await store.listKeys(one.id, { after: undefined, limit: 3 });
    const second = await store.listKeys(one.id, { after: first.at(-1)?.id, limit: 3 });
    assert.deepEqual([first.length, second.length], [3, 2]);
    assert.deepEqual([...first, ...second].map(({ id }) => id), made);
    const others = await store.listKeys(other.sellerId, { after: undefined, limit: 10 });
    assert.deepEqual(others.map(({ id }) => id), [other.keyId]);
    assert.deepEqual(await store.listKeys(NO_SELLER, { after: undefined, limit: 10 }), []);
  });

  test('lists the newest keys first on request', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeSeller(store), await makeActor(store)];
    const made: KeyId[] = [];
    for (let n = 0; n < 5; n += 1) {
      made.unshift((await store.createKey(one.id, makeSecret(), makeNewKey())).id);
    }
    const first = await store.listKeys(one.id, { after: undefined, limit: 3 }, true);
    const second = await store.listKeys(one.id, { after: first.at(-1)?.id, limit: 3 }, true);
    assert.deepEqual([first.length, second.length], [3, 2]);
    assert.deepEqual([...first, ...second].map(({ id }) => id), made);
    const others = await store.listKeys(other.sellerId, { after: undefined, limit: 10 }, true);
    assert.deepEqual(others.map(({ id }) => id), [other.keyId]);
  });

  test('lists only the keys that work at a time, on request', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { sellerId, keyId: lasting } = await makeActor(store);
    const make = async (expiresAt?: number) =>
      (await store.createKey(sellerId, makeSecret(), { ...makeNewKey(), expiresAt })).id;
    const [expiring, revoked] = [await make(clock.now + 1_000), await make()];
    await store.revokeKey({ sellerId, keyId: revoked });
    const list = async (liveAt: number, isNewestFirst: boolean) =>
      (await store.listKeys(sellerId, { after: undefined, limit: 9, liveAt }, isNewestFirst))
        .map(({ id }) => id);
    assert.deepEqual(await list(clock.now + 999, true), [expiring, lasting]);
    assert.deepEqual(await list(clock.now + 999, false), [lasting, expiring]);
    assert.deepEqual(await list(clock.now + 1_000, true), [lasting]);
  });
}

function testSingleKeys(prepare: PrepareStore): void {
  test('finds a key by its id, and none of another seller', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeActor(store), await makeSeller(store)];
    const [listed] = await store.listKeys(one.sellerId, { after: undefined, limit: 1 });
    assert.deepEqual(await store.findKey(one), listed);
    assert.equal(await store.findKey({ sellerId: other.id, keyId: one.keyId }), undefined);
    assert.equal(await store.findKey({ sellerId: one.sellerId, keyId: NO_KEY }), undefined);
  });

  test('gives a key an id above all earlier ones when the clock steps backwards', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { sellerId, keyId } = await makeActor(store);
    clock.now -= DAY_MS;
    const later = await store.createKey(sellerId, makeSecret(), makeNewKey());
    assert.ok(later.id > keyId);
  });

  test('records when and from where a key was last used', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    const other = await store.createKey(actor.sellerId, makeSecret(), makeNewKey());
    clock.now += 90_000;
    await store.noteKeyUse(actor, '192.0.2.7');
    const keys = await store.listKeys(actor.sellerId, { after: undefined, limit: 10 });
    const uses = keys.map((key) => [key.id, key.lastUsedAt, key.lastUsedAddress]);
    assert.deepEqual(uses, [
      [actor.keyId, clock.now, '192.0.2.7'], [other.id, undefined, undefined],
    ]);
  });
}

function testRevocation(prepare: PrepareStore): void {
  test('revokes a key immediately and permanently: a second time changes nothing', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    const revokedAt = clock.now + 1_000;
    clock.now = revokedAt;
    assert.equal((await store.revokeKey(actor)).revokedAt, revokedAt);
    clock.now += 1_000;
    assert.equal((await store.revokeKey(actor)).revokedAt, revokedAt);
    const [key] = await store.listKeys(actor.sellerId, { after: undefined, limit: 1 });
    assert.equal(key?.revokedAt, revokedAt);
  });

  test('does not revoke an unknown key, or a key of another seller', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeActor(store), await makeSeller(store)];
    const absent = { sellerId: one.sellerId, keyId: NO_KEY };
    await assert.rejects(store.revokeKey(absent), { code: 'not_found' });
    const crossed = { sellerId: other.id, keyId: one.keyId };
    await assert.rejects(store.revokeKey(crossed), { code: 'not_found' });
    const [key] = await store.listKeys(one.sellerId, { after: undefined, limit: 1 });
    assert.equal(key?.revokedAt, undefined);
  });
}

function testLimit(prepare: PrepareStore): void {
  test('limits the keys that a seller can use, not those that have ended', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { id: sellerId } = await makeSeller(store);
    const [first] = await fillWithKeys(store, sellerId, clock.now + DAY_MS);
    assert.ok(first !== undefined);
    const create = () => store.createKey(sellerId, makeSecret(), makeNewKey());

    await assert.rejects(create(), { code: 'limit_reached' });
    const rotation = store.rotateKey({ sellerId, keyId: first }, makeSecret(), 0);
    await assert.rejects(rotation, { code: 'limit_reached' });
    await makeActor(store); // another seller has keys of its own

    await store.revokeKey({ sellerId, keyId: first });
    await create();
    await assert.rejects(create(), { code: 'limit_reached' });

    clock.now += DAY_MS; // all but the last have expired
    await create();
  });
}

async function fillWithKeys(
  store: Store, sellerId: SellerId, expiresAt: number,
): Promise<KeyId[]> {
  const ids: KeyId[] = [];
  while (ids.length < LIVE_KEYS_PER_SELLER_LIMIT) {
    const keys = await Promise.all(countTo(LIVE_KEYS_PER_SELLER_LIMIT / 10).map(() =>
      store.createKey(sellerId, makeSecret(), makeNewKey({ expiresAt }))));
    ids.push(...keys.map(({ id }) => id));
  }
  return ids;
}
