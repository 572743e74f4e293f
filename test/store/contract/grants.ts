/** The contract of a store: the query that finds the caller and its position. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { livedUntil, makeClock } from '../../support/clock.ts';
import {
  DAY_MS, makeActor, makeNewKey, makeNewProduct, makeSecret, makeSeller, type PrepareStore,
} from './fixture.ts';

export function testGrants(prepare: PrepareStore): void {
  test('finds what a key grants, in which currency and at which position', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { id: sellerId } = await makeSeller(store, 'JPY');
    const secret = makeSecret();
    const key = await store.createKey(sellerId, secret, makeNewKey({
      scopes: ['products:write'], addressRanges: ['10.0.0.0/8'], expiresAt: clock.now + DAY_MS,
      rateLimitPerMinute: 1,
    }));
    assert.deepEqual(await store.findGrant(secret.hash), {
      sellerId, keyId: key.id, scopes: ['products:write'], addressRanges: ['10.0.0.0/8'],
      expiresAt: clock.now + DAY_MS, livedUntil: livedUntil(0, DAY_MS), rateLimitPerMinute: 1,
      currency: { code: 'JPY', decimals: 0 }, position: 0,
    });
  });

  test('has the position of the last change in every grant of its seller', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeActor(store), await makeSeller(store)];
    const secrets = [makeSecret(), makeSecret(), makeSecret()] as const;
    await store.createKey(one.sellerId, secrets[0], makeNewKey());
    await store.createKey(one.sellerId, secrets[1], makeNewKey());
    await store.createKey(other.id, secrets[2], makeNewKey());
    await store.createProduct(one, makeNewProduct());
    await store.createProduct(one, makeNewProduct());
    const grants = await Promise.all(secrets.map(({ hash }) => store.findGrant(hash)));
    assert.deepEqual(grants.map((grant) => grant?.position), [2, 2, 0]);
  });

  test('finds nothing for an unknown or a revoked key, from the revocation on', async (t) => {
    const store = await prepare(t)(makeClock());
    const { id: sellerId } = await makeSeller(store);
    const secret = makeSecret();
    assert.equal(await store.findGrant(secret.hash), undefined);
    const { id: keyId } = await store.createKey(sellerId, secret, makeNewKey());
    assert.equal((await store.findGrant(secret.hash))?.keyId, keyId);
    await store.revokeKey({ sellerId, keyId });
    assert.equal(await store.findGrant(secret.hash), undefined);
  });

  test('finds an expired key, which the caller has to reject', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { id: sellerId } = await makeSeller(store);
    const secret = makeSecret();
    const expiresAt = clock.now + DAY_MS;
    await store.createKey(sellerId, secret, makeNewKey({ expiresAt }));
    clock.now += 2 * DAY_MS;
    assert.equal((await store.findGrant(secret.hash))?.expiresAt, expiresAt);
  });
}
