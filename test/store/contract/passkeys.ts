/** The contract of a store: passkeys, their signature counters, and passwords that are off. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { AccountReference } from '../../../src/domain/access/account.ts';
import type { NewPasskey } from '../../../src/domain/access/passkey.ts';
import {
  CREDENTIAL_ID_LIMIT_BYTES, PASSKEYS_PER_ACCOUNT_LIMIT,
} from '../../../src/domain/limits.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import { ownerOf } from '../../support/owner.ts';
import type { PrepareStore } from './fixture.ts';
import { join, listEvents, listTypes, makeNewSession, shownFor } from './portal-fixture.ts';

const BY = { actorName: 'anna', address: '192.0.2.7' };

export function makePasskey(members: Partial<NewPasskey> = {}): NewPasskey {
  return {
    name: 'Laptop', rpId: 'shop.example', signCount: 0, transports: ['hybrid', 'internal'],
    credentialId: randomBytes(32).toString('base64url'),
    publicKey: randomBytes(77).toString('base64url'),
    ...members,
  };
}

/** Adds a passkey, and returns what its next use stores. */
async function add(store: Store, account: AccountReference, members: Partial<NewPasskey> = {}) {
  assert.equal(await store.addPasskey(account, makePasskey(members), BY), true);
  const added = (await store.listPasskeys(account)).at(-1);
  assert.ok(added);
  return added;
}

export function testPasskeys(prepare: PrepareStore): void {
  testChanges(prepare);
  testLimits(prepare);
  testUse(prepare);
  testPassword(prepare);
}

function testChanges(prepare: PrepareStore): void {
  test('adds, lists, renames and removes passkeys of one account', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const [{ sellerId }, other] = [await join(store), await join(store)];
    const account = ownerOf(sellerId);
    const [one, two] = [makePasskey(), makePasskey({ name: 'Key 水', transports: [] })];
    assert.equal(await store.addPasskey(account, one, BY), true);
    clock.now += 1_000;
    assert.equal(await store.addPasskey(account, two, BY), true);
    const shown = { createdAt: clock.now - 1_000, lastUsedAt: undefined };
    const [first, second] = await store.listPasskeys(account);
    assert.ok(first && second && first.id < second.id);
    assert.deepEqual(first, { id: first.id, ...one, ...shown });
    assert.deepEqual(second, { id: second.id, ...two, ...shown, createdAt: clock.now });
    assert.equal((await store.findAccount(account))?.passkeys, 2);
    assert.deepEqual(await store.listPasskeys(ownerOf(other.sellerId)), []);
    assert.equal((await store.findAccount(ownerOf(other.sellerId)))?.passkeys, 0);

    await store.renamePasskey(account, second.id, 'Key');
    await store.removePasskey(account, first.id, BY);
    const names = (await store.listPasskeys(account)).map(({ name }) => name);
    assert.deepEqual(names, ['Key']);
    const strange = [[account, first.id], [ownerOf(other.sellerId), second.id]] as const;
    for (const [of, id] of strange) {
      await assert.rejects(store.renamePasskey(of, id, 'x'), { code: 'not_found' });
      await assert.rejects(store.removePasskey(of, id, BY), { code: 'not_found' });
    }
    const events = (await listEvents(store, sellerId)).slice(-3);
    assert.deepEqual(
      events.map(({ type, subject, actorName, address }) => [type, subject, actorName, address]),
      ['passkey_added', 'passkey_added', 'passkey_removed'].map((type, index) =>
        [type, ['Laptop', 'Key 水', 'Laptop'][index], BY.actorName, BY.address]),
    );
  });

  test('removes the passkeys of a removed account', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await join(store);
    const passkey = await add(store, ownerOf(sellerId));
    await store.removeAccount(ownerOf(sellerId));
    assert.deepEqual(await store.listPasskeys(ownerOf(sellerId)), []);
    await assert.rejects(store.addPasskey(ownerOf(sellerId), passkey, BY), { code: 'not_found' });
  });
}

function testLimits(prepare: PrepareStore): void {
  test('adds a credential once per seller, and limits the passkeys of an account', async (t) => {
    const store = await prepare(t)(makeClock());
    const [{ sellerId }, other] = [await join(store), await join(store)];
    const account = ownerOf(sellerId);
    const longest = makePasskey({
      name: '🧾'.repeat(60), rpId: 'a'.repeat(253), signCount: 2 ** 32 - 1,
      credentialId: Buffer.alloc(CREDENTIAL_ID_LIMIT_BYTES, 1).toString('base64url'),
      publicKey: Buffer.alloc(540, 2).toString('base64url'),
      transports: ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal'],
    });
    assert.equal(await store.addPasskey(account, longest, BY), true);
    const { id, createdAt, lastUsedAt, ...kept } = (await store.listPasskeys(account))[0] ?? {};
    assert.deepEqual(kept, longest);
    assert.equal(await store.addPasskey(account, { ...longest, name: 'x' }, BY), false);
    assert.equal(await store.addPasskey(ownerOf(other.sellerId), longest, BY), true);
    for (let n = 1; n < PASSKEYS_PER_ACCOUNT_LIMIT; n += 1) await add(store, account);
    await assert.rejects(store.addPasskey(account, makePasskey(), BY), { code: 'limit_reached' });
    assert.equal((await store.listPasskeys(account)).length, PASSKEYS_PER_ACCOUNT_LIMIT);
  });
}

function testUse(prepare: PrepareStore): void {
  test('starts a session with a passkey, and records its use', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { sellerId } = await join(store);
    const account = ownerOf(sellerId);
    const use = await add(store, account);
    clock.now += 5_000;
    const session = makeNewSession();
    assert.equal(await store.createPasskeySession(account, use, session), true);
    assert.ok(await store.findSignedInSession(sellerId, session.hash));
    assert.equal((await store.listPasskeys(account))[0]?.lastUsedAt, clock.now);
    const event = (await listEvents(store, sellerId)).at(-1);
    assert.deepEqual([event?.type, event?.subject, event?.address],
      ['signed_in_with_passkey', `Laptop · ${session.userAgent}`, session.address]);

    await store.setSellerDisabled(sellerId, true);
    assert.equal(await store.createPasskeySession(account, use, makeNewSession()), false);
    await store.setSellerDisabled(sellerId, false);
    await store.removePasskey(account, use.id, BY);
    assert.equal(await store.createPasskeySession(account, use, makeNewSession()), false);
    await add(store, account); // another one, which may get the same id
    assert.equal(await store.createPasskeySession(account, use, makeNewSession()), false);
    assert.deepEqual(await store.listSessions(account, 10), []); // ended with the seller
  });

  test('accepts a signature counter that increases, or is always 0', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await join(store);
    const account = ownerOf(sellerId);
    for (const [start, counts] of [
      [0, [[0, true], [0, true], [3, true], [3, false], [0, false], [2, false], [4, true]]],
      [7, [[7, false], [0, false], [6, false], [8, true], [2 ** 32 - 1, true]]],
    ] as const) {
      const passkey = await add(store, account, { signCount: start });
      for (const [signCount, isAccepted] of counts) {
        const use = { ...passkey, signCount };
        assert.equal(await store.notePasskeyUse(account, use), isAccepted, `${start} ${signCount}`);
      }
      const last = (await store.listPasskeys(account)).at(-1);
      assert.equal(last?.signCount, start === 0 ? 4 : 2 ** 32 - 1);
      const [session, other] = [makeNewSession(), await join(store)];
      assert.equal(await store.createPasskeySession(account, passkey, session), false);
      assert.equal(await store.findSignedInSession(sellerId, session.hash), undefined);
      assert.equal(await store.notePasskeyUse(ownerOf(other.sellerId), passkey), false);
    }
  });

  test('accepts one of two concurrent uses with the same counter', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await join(store);
    const passkey = await add(store, ownerOf(sellerId), { signCount: 1 });
    const uses = await Promise.all([1, 2, 3].map(() =>
      store.createPasskeySession(
        ownerOf(sellerId), { ...passkey, signCount: 2 }, makeNewSession(),
      )));
    assert.equal(uses.filter(Boolean).length, 1);
  });
}

function testPassword(prepare: PrepareStore): void {
  test('turns the password off only with a passkey, and then keeps the last passkey', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId, joining: { account: { email } } } = await join(store);
    const account = ownerOf(sellerId);
    const isOff = async () => (await store.findCredentials(email))?.isPasswordOff;
    await assert.rejects(store.setPasswordOff(account, true, BY), { code: 'limit_reached' });
    assert.equal(await isOff(), false);
    const [one, two] = [await add(store, account), await add(store, account)];
    await store.setPasswordOff(account, true, BY);
    await store.setPasswordOff(account, true, BY); // sent twice
    assert.equal(await isOff(), true);
    assert.equal((await store.findAccount(account))?.isPasswordOff, true);
    assert.equal(await store.createSession(shownFor(sellerId), makeNewSession()), false);
    await store.removePasskey(account, one.id, BY);
    await assert.rejects(store.removePasskey(account, two.id, BY), { code: 'limit_reached' });
    await store.setPasswordOff(account, false, BY);
    assert.equal(await isOff(), false);
    assert.equal(await store.createSession(shownFor(sellerId), makeNewSession()), true);
    await store.removePasskey(account, two.id, BY);
    const types = (await listTypes(store, sellerId)).filter((type) => type.startsWith('password'));
    assert.deepEqual(types, ['password_sign_in_disabled', 'password_sign_in_enabled']);
  });

  test('turns the password on again when the operator resets it', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId, joining: { account: { email } } } = await join(store);
    await add(store, ownerOf(sellerId));
    await store.setPasswordOff(ownerOf(sellerId), true, BY);
    await store.resetPassword(ownerOf(sellerId), '$argon2id$two');
    const { isPasswordOff, ...credentials } = await store.findCredentials(email) ?? {};
    assert.equal(isPasswordOff, false);
    assert.deepEqual(credentials, {
      ...ownerOf(sellerId), passwordHash: '$argon2id$two', hasTotp: false,
    });
    assert.equal((await store.listPasskeys(ownerOf(sellerId))).length, 1);
  });
}
