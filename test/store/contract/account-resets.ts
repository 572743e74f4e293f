/** The contract of a store: operator resets for an owner who can no longer sign in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SellerId } from '../../../src/domain/id.ts';
import { generateTotpSecret } from '../../../src/domain/access/totp.ts';
import { makeClock } from '../../support/clock.ts';
import { makeSeller, type PrepareStore } from './fixture.ts';
import { join, listTypes, makeNewSession, makeSecretHash, shownFor } from './portal-fixture.ts';
import { ownerOf } from '../../support/owner.ts';

const ADDRESS = '192.0.2.7';
const BY = { address: ADDRESS };

export function testAccountResets(prepare: PrepareStore): void {
  test('resets a password: ends all sessions, and rejects sign-ins with the old one', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await join(store), await join(store)];
    const { sellerId, joining: { account, session } } = one;
    await store.createSession(shownFor(sellerId), makeNewSession());
    await store.resetPassword(ownerOf(sellerId), '$argon2id$two');
    assert.deepEqual(await store.listSessions(ownerOf(sellerId), 10), []);
    assert.equal(await store.findSignedInSession(sellerId, session.hash), undefined);
    const credentials = await store.findCredentials(account.email);
    assert.equal(credentials?.passwordHash, '$argon2id$two');
    assert.equal(await store.createSession(shownFor(sellerId), makeNewSession()), false);
    assert.equal(await store.createSession(credentials, makeNewSession()), true);
    assert.equal((await listTypes(store, sellerId)).at(-2), 'password_reset');
    assert.ok(await store.findSignedInSession(other.sellerId, other.joining.session.hash));
    assert.ok(!(await listTypes(store, other.sellerId)).includes('password_reset'));
  });

  test('resets two-factor authentication: drops recovery codes, ends sessions', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await join(store), await join(store)];
    const recovery = [makeSecretHash(), makeSecretHash()] as const;
    for (const [{ sellerId }, hash] of [[one, recovery[0]], [other, recovery[1]]] as const) {
      const totp = { secret: generateTotpSecret(), step: 7, recoveryHashes: [hash] };
      await store.enableTotp(ownerOf(sellerId), totp, BY);
    }
    const { sellerId, joining: { session } } = one;
    assert.equal(await store.resetTotp(ownerOf(sellerId)), true);
    assert.equal(await store.findTotp(ownerOf(sellerId)), undefined);
    assert.equal(await store.takeRecoveryCode(ownerOf(sellerId), recovery[0], ADDRESS), false);
    assert.equal(await store.findSignedInSession(sellerId, session.hash), undefined);
    assert.equal((await listTypes(store, sellerId)).at(-1), 'totp_reset');
    assert.equal((await store.findTotp(ownerOf(other.sellerId)))?.recoveryCodes, 1);
    assert.ok(await store.findSignedInSession(other.sellerId, other.joining.session.hash));
  });

  test('changes nothing if there is nothing to reset', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId, joining: { session } } = await join(store);
    const { id: without } = await makeSeller(store);
    assert.equal(await store.resetTotp(ownerOf(sellerId)), false);
    assert.ok(await store.findSignedInSession(sellerId, session.hash));
    assert.deepEqual(await listTypes(store, sellerId), ['account_created', 'key_created']);
    for (const id of [without, 5 as SellerId]) {
      const reset = store.resetPassword(ownerOf(id), '$argon2id$two');
      await assert.rejects(reset, { code: 'not_found' });
      assert.equal(await store.resetTotp(ownerOf(id)), false);
    }
  });
}
