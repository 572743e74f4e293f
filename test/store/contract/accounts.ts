/** The contract of a store: account settings, passwords and two-factor authentication. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateTotpSecret } from '../../../src/domain/access/totp.ts';
import { makeClock } from '../../support/clock.ts';
import { countTo, DAY_MS, type PrepareStore } from './fixture.ts';
import {
  join, listEvents, listTypes, makeInvitation, makeJoining, makeNewSession, makeSecretHash, SHOWN,
  shownFor,
} from './portal-fixture.ts';
import { ownerOf } from '../../support/owner.ts';

const ADDRESS = '192.0.2.9';
const BY = { actorName: 'Anna', address: ADDRESS };

export function testAccounts(prepare: PrepareStore): void {
  testSettings(prepare);
  testRemoval(prepare);
  testPassword(prepare);
  testLatePassword(prepare);
  testTotp(prepare);
  testRecoveryCodes(prepare);
  testEncryption(prepare);
}

function testSettings(prepare: PrepareStore): void {
  test('changes the settings of one account', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await join(store), await join(store)];
    const settings = { locale: 'fr-CH', timeZone: 'Asia/Tokyo' };
    const before = await store.findAccount(ownerOf(other.sellerId));
    await store.setAccountSettings(ownerOf(one.sellerId), settings, BY);
    const { locale, timeZone } = await store.findAccount(ownerOf(one.sellerId)) ?? {};
    assert.deepEqual({ locale, timeZone }, settings);
    assert.deepEqual(await store.findAccount(ownerOf(other.sellerId)), before);
    const [event] = (await listEvents(store, one.sellerId)).slice(-1);
    assert.deepEqual([event?.type, event?.address], ['settings_changed', ADDRESS]);
  });

  test('changes the settings of one shop', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await join(store), await join(store)];
    await store.setShopSettings(one.sellerId, { lowStock: 0 }, BY);
    assert.equal((await store.findAccount(ownerOf(one.sellerId)))?.lowStock, 0);
    assert.equal((await store.findAccount(ownerOf(other.sellerId)))?.lowStock, 5);
    await store.setShopSettings(one.sellerId, { requiresTwoFactor: true }, BY);
    const readShop = async (shop: typeof one) => {
      const { lowStock, requiresTwoFactor } = await store.findAccount(ownerOf(shop.sellerId))
        ?? assert.fail();
      return [lowStock, requiresTwoFactor];
    };
    assert.deepEqual(await readShop(one), [0, true]);
    await store.setShopSettings(one.sellerId, { lowStock: 1 }, BY);
    assert.deepEqual(await readShop(one), [1, true]);
    assert.deepEqual(await readShop(other), [5, false]);
    const [event] = (await listEvents(store, one.sellerId)).slice(-1);
    assert.deepEqual([event?.type, event?.address], ['shop_settings_changed', ADDRESS]);
  });

  test('changes the e-mail, unless another account has it', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await join(store), await join(store)];
    const [own, foreign] = [one, other].map(({ joining }) => joining.account.email);
    assert.ok(own !== undefined && foreign !== undefined);
    assert.equal(await store.setEmail(ownerOf(one.sellerId), foreign, BY), false);
    assert.equal((await store.findAccount(ownerOf(one.sellerId)))?.email, own);
    assert.equal(await store.setEmail(ownerOf(one.sellerId), 'new@shop.example', BY), true);
    assert.equal((await store.findCredentials('new@shop.example'))?.sellerId, one.sellerId);
    assert.equal(await store.findCredentials(own), undefined);
    // The old address is free, and an account may set its own address again.
    assert.equal(await store.setEmail(ownerOf(other.sellerId), own, BY), true);
    assert.equal(await store.setEmail(ownerOf(other.sellerId), own, BY), true);
    const changed = (await listEvents(store, one.sellerId)).filter(({ type }) =>
      type === 'email_changed');
    assert.deepEqual(changed.map(({ subject }) => subject), [`${own} → new@shop.example`]);
  });
}

function testRemoval(prepare: PrepareStore): void {
  test('removes an account with its credentials and sessions, and keeps the seller', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const [{ sellerId, joining }, other] = [await join(store), await join(store)];
    const [old, code] = [makeSecretHash(), makeSecretHash()];
    const invitation = makeInvitation({ sellerId, expiresAt: clock.now + DAY_MS });
    await store.createInvitation(old, invitation);
    const totp = { secret: generateTotpSecret(), step: 7, recoveryHashes: [makeSecretHash()] };
    await store.enableTotp(ownerOf(sellerId), totp, BY);
    for (let n = 0; n < 2; n += 1) await store.removeAccount(ownerOf(sellerId));
    assert.equal(await store.findAccount(ownerOf(sellerId)), undefined);
    assert.equal(await store.findSignedInSession(sellerId, joining.session.hash), undefined);
    assert.equal(await store.findTotp(ownerOf(sellerId)), undefined);
    assert.equal(await store.findInvitation(old), undefined);
    assert.ok(await store.findGrant(joining.secret.hash));
    assert.ok(await store.findSignedInSession(other.sellerId, other.joining.session.hash));
    await store.createInvitation(code, invitation);
    const again = await store.register(makeJoining({ codeHash: code }, joining.account.email));
    assert.ok(again.rejection === undefined && again.sellerId === sellerId);
    // Its number is not reused.
    assert.equal(again.accountId, 2);
    assert.equal((await store.findAccount(again))?.hasTotp, false);
    const removed = (await listEvents(store, sellerId)).filter(({ type }) =>
      type === 'account_removed');
    assert.deepEqual(removed.map(({ subject }) => subject), [joining.account.email]);
  });
}

function testPassword(prepare: PrepareStore): void {
  test('a new password ends all other sessions, and gives its own a new token', async (t) => {
    const store = await prepare(t)(makeClock());
    const [{ sellerId, joining }, other] = [await join(store), await join(store)];
    const [session, hash] = [makeNewSession(), makeSecretHash()];
    await store.createSession(shownFor(sellerId), session);
    const id = (await store.findSignedInSession(sellerId, session.hash))?.session.id ?? 0;
    await store.setPassword(ownerOf(sellerId), '$argon2id$two', { id, hash }, BY);
    const credentials = await store.findCredentials(joining.account.email);
    assert.equal(credentials?.passwordHash, '$argon2id$two');
    assert.equal(await store.findSignedInSession(sellerId, session.hash), undefined);
    assert.equal(await store.findSignedInSession(sellerId, joining.session.hash), undefined);
    assert.equal((await store.findSignedInSession(sellerId, hash))?.session.id, id);
    assert.ok(await store.findSignedInSession(other.sellerId, other.joining.session.hash));
    const others = await store.findCredentials(other.joining.account.email);
    assert.equal(others?.passwordHash, '$argon2id$one');
    const [event] = (await listEvents(store, sellerId)).slice(-1);
    assert.deepEqual([event?.type, event?.address, event?.subject],
      ['password_changed', ADDRESS, '']);
  });
}

function testLatePassword(prepare: PrepareStore): void {
  test('rejects a new password from a session that has ended', async (t) => {
    const store = await prepare(t)(makeClock());
    const [{ sellerId, joining }, other] = [await join(store), await join(store)];
    const id = (await store.findSignedInSession(sellerId, joining.session.hash))?.session.id ?? 0;
    await store.endSessions(ownerOf(sellerId), { id }, { type: 'session_ended', address: '' });
    const kept = { id, hash: makeSecretHash() };
    const late = store.setPassword(ownerOf(sellerId), '$argon2id$two', kept, {});
    await assert.rejects(late, { code: 'browser_refused' });
    const credentials = await store.findCredentials(joining.account.email);
    assert.equal(credentials?.passwordHash, SHOWN.passwordHash);
    assert.ok(await store.findSignedInSession(other.sellerId, other.joining.session.hash));
    assert.ok(!(await listTypes(store, sellerId)).includes('password_changed'));
  });
}

function testTotp(prepare: PrepareStore): void {
  test('stores the TOTP secret, also for the next process', async (t) => {
    const open = prepare(t);
    const clock = makeClock();
    const store = await open(clock);
    const [{ sellerId, joining }, other] = [await join(store), await join(store)];
    assert.equal(await store.findTotp(ownerOf(sellerId)), undefined);
    const secret = generateTotpSecret();
    const recoveryHashes = countTo(3).map(makeSecretHash);
    await store.enableTotp(ownerOf(sellerId), { secret, step: 7, recoveryHashes }, BY);
    const expected = { secret, step: 7, recoveryCodes: 3 };
    assert.deepEqual(await store.findTotp(ownerOf(sellerId)), expected);
    assert.deepEqual(await (await open(clock)).findTotp(ownerOf(sellerId)), expected);
    assert.equal((await store.findAccount(ownerOf(sellerId)))?.hasTotp, true);
    assert.equal((await store.findCredentials(joining.account.email))?.hasTotp, true);
    assert.equal(await store.findTotp(ownerOf(other.sellerId)), undefined);
    assert.equal((await listTypes(store, sellerId)).at(-1), 'totp_enabled');
  });

  test('accepts each TOTP time step once, and no earlier one', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await join(store);
    const totp = { secret: generateTotpSecret(), step: 7, recoveryHashes: [] };
    await store.enableTotp(ownerOf(sellerId), totp, BY);
    assert.equal(await store.takeTotpStep(ownerOf(sellerId), 7), false);
    const taken = await Promise.all(countTo(4).map(() => store.takeTotpStep(ownerOf(sellerId), 9)));
    assert.deepEqual(taken.sort(), [false, false, false, true]);
    assert.equal(await store.takeTotpStep(ownerOf(sellerId), 8), false);
    assert.equal((await store.findTotp(ownerOf(sellerId)))?.step, 9);
    assert.equal(await store.takeTotpStep(ownerOf(sellerId), 10), true);
  });

  test('deletes the TOTP secret and its recovery codes', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await join(store);
    const hash = makeSecretHash();
    const totp = { secret: generateTotpSecret(), step: 7, recoveryHashes: [hash] };
    await store.enableTotp(ownerOf(sellerId), totp, BY);
    for (let n = 0; n < 2; n += 1) await store.disableTotp(ownerOf(sellerId), BY);
    assert.equal(await store.findTotp(ownerOf(sellerId)), undefined);
    assert.equal((await store.findAccount(ownerOf(sellerId)))?.hasTotp, false);
    assert.equal(await store.takeRecoveryCode(ownerOf(sellerId), hash, ADDRESS), false);
    const off = (await listTypes(store, sellerId)).filter((type) => type === 'totp_disabled');
    assert.equal(off.length, 1);
  });
}

function testRecoveryCodes(prepare: PrepareStore): void {
  test('accepts each recovery code once, also from concurrent requests', async (t) => {
    const store = await prepare(t)(makeClock());
    const [{ sellerId }, other] = [await join(store), await join(store)];
    const hashes = countTo(3).map(makeSecretHash);
    const [one = '', second = ''] = hashes;
    const totp = { secret: generateTotpSecret(), step: 7, recoveryHashes: hashes };
    await store.enableTotp(ownerOf(sellerId), totp, BY);
    assert.equal(await store.takeRecoveryCode(ownerOf(other.sellerId), one, ADDRESS), false);
    const taken = await Promise.all(countTo(3).map(() =>
      store.takeRecoveryCode(ownerOf(sellerId), one, ADDRESS)));
    assert.deepEqual(taken.sort(), [false, false, true]);
    assert.equal((await store.findTotp(ownerOf(sellerId)))?.recoveryCodes, 2);
    assert.equal(await store.takeRecoveryCode(ownerOf(sellerId), makeSecretHash(), ADDRESS), false);
    assert.equal(await store.takeRecoveryCode(ownerOf(sellerId), second, ADDRESS), true);
    const used = (await listEvents(store, sellerId)).filter(({ type }) =>
      type === 'recovery_code_used');
    assert.deepEqual(used.map(({ subject }) => subject), ['2 left', '1 left']);
  });

  test('replaces all recovery codes with new ones', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await join(store);
    const [old, fresh] = [makeSecretHash(), makeSecretHash()];
    const totp = { secret: generateTotpSecret(), step: 7, recoveryHashes: [old] };
    await store.enableTotp(ownerOf(sellerId), totp, BY);
    await store.setRecoveryCodes(ownerOf(sellerId), [fresh, makeSecretHash()], BY);
    assert.equal((await store.findTotp(ownerOf(sellerId)))?.recoveryCodes, 2);
    assert.equal(await store.takeRecoveryCode(ownerOf(sellerId), old, ADDRESS), false);
    assert.equal(await store.takeRecoveryCode(ownerOf(sellerId), fresh, ADDRESS), true);
    assert.ok((await listTypes(store, sellerId)).includes('recovery_codes_made'));
  });
}

function testEncryption(prepare: PrepareStore): void {
  test('decrypts only what it encrypted, and only for the same purpose', async (t) => {
    const store = await prepare(t)(makeClock());
    const sealed = await store.encrypt('Zoë', 'one');
    assert.match(sealed, /^[\w-]+$/);
    assert.equal(await store.decrypt(sealed, 'one'), 'Zoë');
    assert.notEqual(await store.encrypt('Zoë', 'one'), sealed);
    for (const [text, context] of [
      [sealed, 'other'], ['', 'one'], ['x', 'one'], [sealed.slice(4), 'one'],
      [`${sealed.slice(0, 20)}${sealed[20] === 'A' ? 'B' : 'A'}${sealed.slice(21)}`, 'one'],
    ] as const) {
      assert.equal(await store.decrypt(text, context), undefined, text);
    }
  });
}
