/** The contract of a store: invitations, and registration with their codes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClock } from '../../support/clock.ts';
import { countTo, DAY_MS, makeActor, makeSeller, type PrepareStore } from './fixture.ts';
import {
  join, listTypes, makeInvitation, makeJoining, makeSecretHash, shownFor,
} from './portal-fixture.ts';
import { ownerOf } from '../../support/owner.ts';

export function testJoining(prepare: PrepareStore): void {
  testInvitations(prepare);
  testJoinedAccounts(prepare);
  testExistingSellers(prepare);
}

function testInvitations(prepare: PrepareStore): void {
  test('accepts a code once, also from concurrent registrations', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const codeHash = makeSecretHash();
    const invitation = makeInvitation({ expiresAt: clock.now + DAY_MS });
    await store.createInvitation(codeHash, invitation);
    assert.deepEqual(await store.findInvitation(codeHash), invitation);
    const joined = await Promise.all(countTo(5).map(() =>
      store.register(makeJoining({ codeHash }))));
    assert.deepEqual(joined.map(({ rejection }) => rejection).sort(),
      ['code', 'code', 'code', 'code', undefined]);
    assert.equal((await store.listSellers({ after: undefined, limit: 10 })).length, 1);
    assert.equal(await store.findInvitation(codeHash), undefined);
    assert.deepEqual(await store.register(makeJoining({ codeHash })), { rejection: 'code' });
  });

  test('rejects an unknown code, and one that has expired', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const codeHash = makeSecretHash();
    await store.createInvitation(codeHash, makeInvitation({ expiresAt: clock.now + DAY_MS }));
    const unknown = makeSecretHash();
    assert.equal(await store.findInvitation(unknown), undefined);
    assert.deepEqual(await store.register(makeJoining({ codeHash: unknown })),
      { rejection: 'code' });
    clock.now += DAY_MS;
    assert.equal(await store.findInvitation(codeHash), undefined);
    assert.deepEqual(await store.register(makeJoining({ codeHash })), { rejection: 'code' });
    assert.deepEqual(await store.listSellers({ after: undefined, limit: 10 }), []);
  });

  test('accepts the code of an empty server only while it is empty', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const [one, other] = [makeSecretHash(), makeSecretHash()];
    for (const hash of [one, other]) {
      await store.createInvitation(hash, makeInvitation({
        isFirst: true, expiresAt: clock.now + DAY_MS,
      }));
    }
    const joined = await Promise.all([one, other].map((codeHash) =>
      store.register(makeJoining({ codeHash }))));
    assert.deepEqual(joined.map(({ rejection }) => rejection).sort(), ['code', undefined]);
    for (const hash of [one, other]) assert.equal(await store.findInvitation(hash), undefined);
  });

  test('rejects the code of an empty server once an administrator has created a seller',
    async (t) => {
      const clock = makeClock();
      const store = await prepare(t)(clock);
      const codeHash = makeSecretHash();
      const members = { isFirst: true, expiresAt: clock.now + DAY_MS };
      await store.createInvitation(codeHash, makeInvitation(members));
      await makeSeller(store);
      assert.equal(await store.findInvitation(codeHash), undefined);
      assert.deepEqual(await store.register(makeJoining({ codeHash })), { rejection: 'code' });
    });
}

function testJoinedAccounts(prepare: PrepareStore): void {
  test('keeps a code valid if its use was rejected for the e-mail', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { joining: { account: { email } } } = await join(store);
    const codeHash = makeSecretHash();
    await store.createInvitation(codeHash, makeInvitation({
      expiresAt: clock.now + DAY_MS,
    }));
    const taken = await store.register(makeJoining({ codeHash }, email));
    assert.deepEqual(taken, { rejection: 'email' });
    assert.equal((await store.listSellers({ after: undefined, limit: 10 })).length, 1);
    const again = await store.register(makeJoining({ codeHash }));
    assert.equal(again.rejection, undefined);
  });

  test('creates the seller, the account, a key and a session together', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const joining = makeJoining();
    const joined = await store.register(joining);
    assert.ok(joined.rejection === undefined);
    const { sellerId } = joined;
    const { email } = joining.account;
    const account = {
      ...ownerOf(sellerId), name: email.split('@')[0], role: 'owner', email,
      sellerName: 'A shop', currency: { code: 'EUR', decimals: 2 },
      hasTotp: false, requiresTwoFactor: false, passkeys: 0, isPasswordOff: false, locale: 'de-CH',
      timeZone: 'Europe/Zurich', lowStock: 5, createdAt: clock.now, seenAt: clock.now,
    };
    assert.deepEqual(await store.findAccount(ownerOf(sellerId)), account);
    assert.deepEqual(
      await store.findCredentials(email), { ...shownFor(sellerId), isPasswordOff: false },
    );
    const visitor = await store.findSignedInSession(sellerId, joining.session.hash);
    assert.deepEqual([visitor?.account, visitor?.position], [account, 0]);
    assert.equal((await store.findGrant(joining.secret.hash))?.keyId, joined.key?.id);
    assert.deepEqual(await listTypes(store, sellerId), ['account_created', 'key_created']);
  });

  test('gives an e-mail to one account, also in concurrent registrations', async (t) => {
    const store = await prepare(t)(makeClock());
    const email = 'same@shop.example';
    const joined = await Promise.all(countTo(4).map(() =>
      store.register(makeJoining({}, email))));
    assert.deepEqual(joined.map(({ rejection }) => rejection).sort(),
      ['email', 'email', 'email', undefined]);
    assert.equal((await store.listSellers({ after: undefined, limit: 10 })).length, 1);
  });

  test('finds no account of a seller without one, nor by another e-mail', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await makeActor(store);
    const { joining: { account: { email } } } = await join(store);
    assert.equal(await store.findAccount(ownerOf(sellerId)), undefined);
    assert.equal(await store.findCredentials(`x${email}`), undefined);
    assert.equal(await store.findCredentials(email.toUpperCase()), undefined);
    assert.equal(await store.findSignedInSession(sellerId, makeSecretHash()), undefined);
  });
}

function testExistingSellers(prepare: PrepareStore): void {
  test('gives an existing seller an account, and keeps their data', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const seller = await makeSeller(store, 'JPY');
    const [one, other] = [makeSecretHash(), makeSecretHash()];
    for (const hash of [one, other]) {
      await store.createInvitation(hash, makeInvitation({
        sellerId: seller.id, expiresAt: clock.now + DAY_MS,
      }));
    }
    assert.equal((await store.findInvitation(one))?.sellerId, seller.id);
    const joined = await store.register(makeJoining({ codeHash: one }));
    assert.ok(joined.rejection === undefined);
    assert.equal(joined.sellerId, seller.id);
    assert.equal((await store.findAccount(ownerOf(seller.id)))?.currency.code, 'JPY');
    assert.equal((await store.listSellers({ after: undefined, limit: 10 })).length, 1);
    // Only the first account of a seller gets a key.
    assert.ok(joined.key);
    const again = await store.register(makeJoining({ codeHash: other }));
    assert.ok(again.rejection === undefined && again.key === undefined);
    assert.deepEqual([again.sellerId, again.accountId], [seller.id, 2]);
    assert.deepEqual(await listTypes(store, seller.id), [
      'invitation_created', 'invitation_created', 'account_created', 'key_created',
      'account_created',
    ]);
  });
}
