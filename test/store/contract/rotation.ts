/** The contract of a store: rotation, which replaces a key while the old one still works. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiKey } from '../../../src/domain/access/api-key.ts';
import type { KeyId, KeyReference, SellerId } from '../../../src/domain/id.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import { DAY_MS, makeNewKey, makeSecret, makeSeller, type PrepareStore } from './fixture.ts';

const HOUR_MS = 60 * 60 * 1000;

export function testRotation(prepare: PrepareStore): void {
  testSuccessor(prepare);
  testOverlap(prepare);
  testRejections(prepare);
}

function testSuccessor(prepare: PrepareStore): void {
  test('rotates a key into one with the same name, scopes and ranges', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const old = await makeKey(store, undefined);
    clock.now += DAY_MS;
    const secret = makeSecret();
    const made = await store.rotateKey(old.reference, secret, HOUR_MS);
    assert.notEqual(made.id, old.reference.keyId);
    assert.equal(made.createdAt, clock.now);
    assert.equal(made.expiresAt, undefined);
    const grant = await store.findGrant(secret.hash);
    assert.deepEqual([grant?.sellerId, grant?.keyId], [old.reference.sellerId, made.id]);
    for (const key of [made, grant]) {
      assert.deepEqual(key?.scopes, ['products:read', 'changes:read']);
      assert.deepEqual(key?.addressRanges, ['192.0.2.0/24']);
      assert.equal(key?.rateLimitPerMinute, 60);
    }
    assert.equal(made.name, 'Rotated');
  });

  test('names the newest successor of a key, and keeps the end of its secret', async (t) => {
    const store = await prepare(t)(makeClock());
    const { reference } = await makeKey(store, undefined);
    assert.equal((await store.findKey(reference))?.successorId, undefined);
    for (const lastFour of ['a1B2', 'c3D4']) {
      const made = await store.rotateKey(reference, { ...makeSecret(), lastFour }, HOUR_MS);
      assert.equal(made.lastFour, lastFour);
      assert.equal((await store.findKey(reference))?.successorId, made.id);
    }
  });

  test('gives the new key the lifetime with which the old one was created', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const old = await makeKey(store, clock.now + 90 * DAY_MS);
    clock.now += 80 * DAY_MS;
    const made = await store.rotateKey(old.reference, makeSecret(), HOUR_MS);
    assert.equal(made.expiresAt, clock.now + 90 * DAY_MS);
    clock.now += 10 * DAY_MS;
    const { sellerId } = old.reference;
    const next = await store.rotateKey({ sellerId, keyId: made.id }, makeSecret(), HOUR_MS);
    assert.equal(next.expiresAt, clock.now + 90 * DAY_MS);
  });

  test('gives a key that is rotated again a successor with no shorter lifetime', async (t) => {
    // A seller who lost the new key rotates the old one again while it is valid.
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const old = await makeKey(store, undefined);
    await store.rotateKey(old.reference, makeSecret(), DAY_MS);
    clock.now += HOUR_MS;
    const again = await store.rotateKey(old.reference, makeSecret(), DAY_MS);
    assert.equal(again.expiresAt, undefined);
  });
}

function testOverlap(prepare: PrepareStore): void {
  test('lets the old key expire after the overlap', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const old = await makeKey(store, undefined);
    clock.now += DAY_MS;
    await store.rotateKey(old.reference, makeSecret(), HOUR_MS);
    assert.equal((await store.findGrant(old.hash))?.expiresAt, clock.now + HOUR_MS);
    assert.equal((await readKey(store, old.reference))?.expiresAt, clock.now + HOUR_MS);
  });

  test('ends the old key immediately if there is no overlap', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const old = await makeKey(store, undefined);
    await store.rotateKey(old.reference, makeSecret(), 0);
    assert.equal((await store.findGrant(old.hash))?.expiresAt, clock.now);
    const again = store.rotateKey(old.reference, makeSecret(), 0);
    await assert.rejects(again, { code: 'not_found' });
  });

  test('never extends the lifetime of the old key', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const endsAt = clock.now + HOUR_MS;
    const old = await makeKey(store, endsAt);
    await store.rotateKey(old.reference, makeSecret(), DAY_MS);
    assert.equal((await store.findGrant(old.hash))?.expiresAt, endsAt);
  });
}

function testRejections(prepare: PrepareStore): void {
  test('does not rotate a revoked, expired or unknown key, or one of another seller', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const revoked = await makeKey(store, undefined);
    await store.revokeKey(revoked.reference);
    const expired = await makeKey(store, clock.now + HOUR_MS);
    clock.now += HOUR_MS;
    const live = await makeKey(store, undefined);
    const { sellerId } = live.reference;
    const references = [
      revoked.reference,
      expired.reference,
      { sellerId, keyId: 5 as KeyId }, // no store has given this id
      { sellerId: revoked.reference.sellerId, keyId: live.reference.keyId },
    ];
    for (const reference of references) {
      const secret = makeSecret();
      await assert.rejects(store.rotateKey(reference, secret, HOUR_MS), { code: 'not_found' });
      assert.equal(await store.findGrant(secret.hash), undefined);
    }
    assert.equal((await readKey(store, live.reference))?.expiresAt, undefined);
  });
}

async function makeKey(
  store: Store, expiresAt: number | undefined,
): Promise<{ reference: KeyReference; hash: string }> {
  const { id: sellerId }: { id: SellerId } = await makeSeller(store);
  const secret = makeSecret();
  const key = await store.createKey(sellerId, secret, makeNewKey({
    name: 'Rotated', scopes: ['products:read', 'changes:read'], addressRanges: ['192.0.2.0/24'],
    rateLimitPerMinute: 60, expiresAt,
  }));
  return { reference: { sellerId, keyId: key.id }, hash: secret.hash };
}

async function readKey(
  store: Store, { sellerId, keyId }: KeyReference,
): Promise<ApiKey | undefined> {
  const keys = await store.listKeys(sellerId, { after: undefined, limit: 1_000 });
  return keys.find(({ id }) => id === keyId);
}
