/** The contract of a store: portal sessions, and what ends them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  SESSION_IDLE_MS, SESSION_LIFE_MS, SESSIONS_PER_ACCOUNT_LIMIT,
} from '../../../src/store/limits.ts';
import { PORTAL_KEY_ID, type SellerId } from '../../../src/domain/id.ts';
import { generateTotpSecret } from '../../../src/domain/access/totp.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import { countTo, makeNewProduct, type PrepareStore } from './fixture.ts';
import {
  join, listEvents, makeNewSession, makeSecretHash, SHOWN, shownFor,
} from './portal-fixture.ts';
import { ownerOf } from '../../support/owner.ts';

const ENDED = { type: 'session_ended', address: '192.0.2.9' } as const;

export function testSessions(prepare: PrepareStore): void {
  testBeginning(prepare);
  testLookUp(prepare);
  testEnding(prepare);
  testLimits(prepare);
}

function testBeginning(prepare: PrepareStore): void {
  test('starts no session with credentials that have changed since', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId, joining } = await join(store);
    const begin = (passwordHash: string, hasTotp: boolean) =>
      store.createSession({ ...ownerOf(sellerId), passwordHash, hasTotp }, makeNewSession());
    const kept = (await store.findSignedInSession(sellerId, joining.session.hash))?.session.id ?? 0;
    const [old, fresh] = [SHOWN.passwordHash, '$argon2id$two'];
    await store.setPassword(ownerOf(sellerId), fresh, { id: kept, hash: makeSecretHash() }, {});
    assert.deepEqual([await begin(old, false), await begin(old, true)], [false, false]);
    const totp = { secret: generateTotpSecret(), step: 7, recoveryHashes: [] };
    await store.enableTotp(ownerOf(sellerId), totp, {});
    assert.deepEqual([await begin(fresh, false), await begin(old, true)], [false, false]);
    assert.equal((await store.listSessions(ownerOf(sellerId), 10)).length, 1);
    assert.equal(await begin(fresh, true), true);
    await store.disableTotp(ownerOf(sellerId), {});
    assert.deepEqual([await begin(fresh, true), await begin(fresh, false)], [true, true]);
    await store.removeAccount(ownerOf(sellerId));
    assert.equal(await begin(fresh, false), false);
    const types = (await listEvents(store, sellerId)).map(({ type }) => type);
    assert.equal(types.filter((type) => type === 'signed_in').length, 3);
  });
}

function testLookUp(prepare: PrepareStore): void {
  test('finds the signed-in account and its catalogue position', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { sellerId, joining } = await join(store);
    const other = await join(store);
    clock.now += 5_000;
    const session = makeNewSession({ address: '2001:db8::7', userAgent: 'Safari/26' });
    await store.createSession(shownFor(sellerId), session);
    await store.createProduct({ sellerId, keyId: PORTAL_KEY_ID }, makeNewProduct());
    const visitor = await store.findSignedInSession(sellerId, session.hash);
    const { id, ...rest } = visitor?.session ?? { id: 0 };
    assert.ok(id > 0);
    assert.deepEqual(rest, {
      createdAt: clock.now, seenAt: clock.now, livedAt: 5_000, seenLivedAt: 5_000,
      address: '2001:db8::7', userAgent: 'Safari/26',
    });
    assert.deepEqual([visitor?.account.sellerId, visitor?.position], [sellerId, 1]);
    const first = await store.findSignedInSession(sellerId, joining.session.hash);
    const second = await store.findSignedInSession(other.sellerId, other.joining.session.hash);
    assert.deepEqual([first?.account.sellerId, first?.position], [sellerId, 1]);
    assert.deepEqual([second?.account.sellerId, second?.position], [other.sellerId, 0]);
    assert.equal(await store.findSignedInSession(other.sellerId, session.hash), undefined);
    const [event] = (await listEvents(store, sellerId)).slice(-1);
    assert.deepEqual([event?.type, event?.address, event?.subject, event?.at],
      ['signed_in', '2001:db8::7', 'Safari/26', clock.now]);
  });

  test('lists the sessions of one seller, the newest first', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { sellerId } = await join(store);
    await join(store);
    for (const userAgent of ['one', 'two']) {
      clock.now -= 1_000; // a clock may step backwards
      await store.createSession(shownFor(sellerId), makeNewSession({ userAgent }));
    }
    assert.deepEqual(await listBrowsers(store, sellerId), ['two', 'one', 'Firefox/140']);
    assert.equal((await store.listSessions(ownerOf(sellerId), 2)).length, 2);
  });

  test('records when a session was last seen', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { sellerId, joining: { session: { hash } } } = await join(store);
    const other = await join(store);
    const begun = clock.now;
    clock.now += 90_000;
    const id = (await store.findSignedInSession(sellerId, hash))?.session.id ?? 0;
    await store.noteSessionSeen(ownerOf(sellerId), id);
    const seen = (await store.findSignedInSession(sellerId, hash))?.session;
    assert.deepEqual([seen?.createdAt, seen?.seenAt], [begun, clock.now]);
    const [others] = await store.listSessions(ownerOf(other.sellerId), 10);
    assert.equal(others?.seenAt, begun);
  });
}

async function listBrowsers(store: Store, sellerId: SellerId): Promise<string[]> {
  return (await store.listSessions(ownerOf(sellerId), 1_000)).map(({ userAgent }) => userAgent);
}

function testEnding(prepare: PrepareStore): void {
  test('ends one session immediately, and none of another seller', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await join(store), await join(store)];
    const { sellerId, joining: { session: { hash } } } = one;
    const id = (await store.findSignedInSession(sellerId, hash))?.session.id ?? 0;
    await store.endSessions(ownerOf(other.sellerId), { id: id + 1 }, ENDED);
    await store.endSessions(ownerOf(one.sellerId), { id: id + 1 }, ENDED);
    assert.ok(await store.findSignedInSession(sellerId, hash));
    await store.endSessions(ownerOf(one.sellerId), { id }, ENDED);
    await store.endSessions(ownerOf(one.sellerId), { id }, ENDED);
    assert.equal(await store.findSignedInSession(sellerId, hash), undefined);
    assert.equal((await store.listSessions(ownerOf(other.sellerId), 10)).length, 1);
    const ended = (await listEvents(store, one.sellerId)).filter(({ type }) =>
      type === 'session_ended');
    assert.deepEqual(ended.map(({ address, subject }) => [address, subject]),
      [['192.0.2.9', 'Firefox/140']]);
  });

  test('does not end a session of another seller', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await join(store), await join(store)];
    const [session] = await store.listSessions(ownerOf(one.sellerId), 1);
    // The other seller has a session of the same id: that one is ended.
    await store.endSessions(ownerOf(other.sellerId), { id: session?.id ?? 0 }, ENDED);
    await store.endSessions(ownerOf(other.sellerId), { allBut: 0 }, ENDED);
    assert.ok(await store.findSignedInSession(one.sellerId, one.joining.session.hash));
    const { hash } = other.joining.session;
    assert.equal(await store.findSignedInSession(other.sellerId, hash), undefined);
  });

  test('ends all sessions but one', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId, joining } = await join(store);
    for (const userAgent of ['one', 'two']) {
      await store.createSession(shownFor(sellerId), makeNewSession({ userAgent }));
    }
    const kept = (await store.findSignedInSession(sellerId, joining.session.hash))?.session.id ?? 0;
    for (let n = 0; n < 2; n += 1) {
      await store.endSessions(ownerOf(sellerId), { allBut: kept }, ENDED);
    }
    assert.deepEqual(await listBrowsers(store, sellerId), ['Firefox/140']);
    const ended = (await listEvents(store, sellerId)).filter(({ type }) =>
      type === 'session_ended');
    assert.deepEqual(ended.map(({ subject }) => subject), ['2 others']);
  });
}

function testLimits(prepare: PrepareStore): void {
  test('limits the sessions of an account, and ends the oldest first', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await join(store);
    const other = await join(store);
    for (const n of countTo(SESSIONS_PER_ACCOUNT_LIMIT + 1)) {
      await store.createSession(shownFor(sellerId), makeNewSession({ userAgent: String(n) }));
    }
    const browsers = await listBrowsers(store, sellerId);
    assert.equal(browsers.length, SESSIONS_PER_ACCOUNT_LIMIT);
    assert.deepEqual([browsers[0], browsers.at(-1)], [String(SESSIONS_PER_ACCOUNT_LIMIT + 1), '2']);
    assert.equal((await listBrowsers(store, other.sellerId)).length, 1);
  });

  test('deletes sessions that are too old, or were idle for too long', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const { sellerId } = await join(store);
    const begun = clock.now;
    const add = (userAgent: string) =>
      store.createSession(shownFor(sellerId), makeNewSession({ userAgent }));
    const [first] = await store.listSessions(ownerOf(sellerId), 1);
    clock.now += SESSION_IDLE_MS - 1;
    await store.noteSessionSeen(ownerOf(sellerId), first?.id ?? 0);
    await add('idle');
    assert.deepEqual(await listBrowsers(store, sellerId), ['idle', 'Firefox/140']);
    clock.now = begun + SESSION_LIFE_MS - 1;
    await store.noteSessionSeen(ownerOf(sellerId), first?.id ?? 0);
    await add('new');
    assert.deepEqual(await listBrowsers(store, sellerId), ['new', 'Firefox/140']);
    clock.now += 1;
    await add('newer');
    assert.deepEqual(await listBrowsers(store, sellerId), ['newer', 'new']);
  });
}
