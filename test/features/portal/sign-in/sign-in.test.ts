/** Signing in and out, as a browser does it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  SESSION_SEEN_INTERVAL_MS, FAILED_SIGN_INS_LIMIT,
} from '../../../../src/features/portal/limits.ts';
import { SESSION_IDLE_MS, SESSION_LIFE_MS } from '../../../../src/store/limits.ts';
import { loadAssets } from '../../../../src/features/portal/assets.ts';
import { Form } from '../../../../src/features/portal/forms/form.ts';
import { signIn as signInByForm } from '../../../../src/features/portal/sign-in/sign-in.ts';
import type { AnonymousPageRequest, Portal } from '../../../../src/features/portal/route.ts';
import type { PasswordClient } from '../../../../src/domain/access/password.ts';
import { PortalLimits } from '../../../../src/features/portal/sign-in/rate-limits.ts';
import type { RequestRecord } from '../../../../src/http/request-record.ts';
import { makeClock } from '../../../support/clock.ts';
import { startServer } from '../../../support/server.ts';
import { addColleague } from '../colleague.ts';
import { openShop, readText, type Shop, PageClient, waitUntilSeen } from '../page-client.ts';
import { ownerOf } from '../../../support/owner.ts';

async function prepare(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  return { clock, server, shop: await openShop(server) };
}

/** Submits these fields on the sign-in page, in a new browser. */
async function signIn(port: number, fields: Record<string, string>, path = '/portal/sign-in') {
  const user = new PageClient(port);
  await user.get(path);
  return { user, answer: await user.submit(fields) };
}

function ownOf({ email, password }: Shop): Record<string, string> {
  return { email, password };
}

test('signs in, redirects to the requested page, and signs out', async (t) => {
  const { server, shop } = await prepare(t);
  const user = new PageClient(server.port);
  const asked = await user.get('/portal/activity?type=signed_in');
  assert.equal(asked.status, 303);
  await user.follow();
  const { email, password } = shop;
  const signedIn = await user.submit({ email: ` ${email.toUpperCase()} `, password });
  assert.equal(signedIn.status, 303);
  assert.equal(signedIn.headers.location, '/portal/activity?type=signed_in');
  const page = await user.follow();
  assert.match(readText(page.text), /Activity/);
  const token = user.cookies.get('__Host-session');
  await user.submit({}, { action: '/portal/sign-out' });
  assert.equal(user.page?.headers.location, '/portal/sign-in');
  assert.equal((await user.get('/portal')).status, 303);
  // The session token itself is no longer valid.
  user.cookies.set('__Host-session', token ?? '');
  assert.equal((await user.get('/portal')).status, 303);
  // The other browser stays signed in.
  assert.equal((await shop.user.get('/portal')).status, 200);
});

test('rejects a wrong password and an unknown e-mail identically', async (t) => {
  const { server, shop: { email, password } } = await prepare(t);
  const answers = [];
  for (const fields of [
    { email, password: `${password}!` }, { email, password: '' },
    { email: 'nobody@shop.example', password }, { email: 'no e-mail <b>', password },
  ]) {
    const { user, answer } = await signIn(server.port, fields);
    assert.equal(answer.status, 422);
    assert.equal(user.valueOf('email'), fields.email);
    assert.equal(user.valueOf('password'), '');
    assert.equal(user.cookies.has('__Host-session'), false);
    assert.equal(user.cookies.has('__Host-device'), false);
    const { date, 'content-length': length, ...headers } = answer.headers;
    assert.ok(date && length);
    answers.push({
      headers, text: answer.text.replaceAll(/value="[^"]*"/g, ''),
    });
  }
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
});

test('checks a password even without an account, so that both take as long', async (t) => {
  const { server: { store }, shop: { email, password } } = await prepare(t);
  const checked: (string | undefined)[] = [];
  const turns: PasswordClient[] = [];
  const { signal } = new AbortController();
  const limits = new PortalLimits(store, Date.now);
  // The casts: a rejected sign-in uses only these members.
  const request = {
    address: '192.0.2.7', headers: {}, csrfToken: '', link: String, record: {},
    base: { origin: 'http://localhost', url: 'http://localhost' },
    path: '/sign-in', query: new Form(), disconnectSignal: () => signal,
  } as unknown as AnonymousPageRequest;
  const takeTurn = async (client: PasswordClient): Promise<void> => void turns.push(client);
  const verify = async (
    _: string, hash: string | undefined, client: PasswordClient,
  ): Promise<boolean> => {
    checked.push(hash);
    turns.push(client);
    return false;
  };
  const portal = {
    store, limits, clock: Date.now, passwords: { verify, takeTurn }, assets: loadAssets(),
    isRegistrationOpen: false,
    report() {}, // a write to the activity log may end after the test
  } as unknown as Portal;
  for (const name of [email, 'nobody@shop.example']) {
    const form = new Form(new URLSearchParams({ email: name, password }));
    assert.equal((await signInByForm(request, portal, form)).status, 422);
  }
  const { passwordHash } = await store.findCredentials(email) ?? assert.fail();
  assert.deepEqual(checked, [passwordHash, undefined]);
  // A full queue of strangers does not reveal the account either.
  const { sellerId } = await store.findCredentials(email) ?? assert.fail();
  const lanes = turns.map(({ lane }) => lane);
  assert.deepEqual(lanes, [`seller ${sellerId}`, 'strangers', 'strangers']);
  assert.ok(turns.every((turn) => turn.signal === signal));
});

test("limits guesses with and without an account identically, but not in the owner's browser",
  async (t) => {
    const { clock, server, shop: { user: known, email, password } } = await prepare(t);
    await known.get('/portal');
    await known.submit({}, { action: '/portal/sign-out' });
    const answers = [];
    for (const name of [email, 'nobody@shop.example']) {
      const stranger = new PageClient(server.port);
      await stranger.get('/portal/sign-in');
      for (let n = 0; n < FAILED_SIGN_INS_LIMIT; n += 1) {
        assert.equal((await stranger.submit({ email: name, password: `wrong ${n}` })).status, 422);
      }
      await stranger.get('/portal/sign-in');
      // Even the right password, so that the response reveals nothing.
      const limited = await stranger.submit({ email: name, password });
      assert.equal(limited.status, 429);
      assert.equal(limited.headers['retry-after'], '90');
      assert.match(readText(limited.text), /Too many attempts\. Try again in 90 s\./);
      answers.push(limited.text.replace(/name="csrf" value="[^"]*"/, ''));
    }
    assert.equal(answers[0], answers[1]);
    await known.get('/portal/sign-in');
    assert.equal((await known.submit({ email, password })).status, 303);
    clock.now += 90_000;
    assert.equal((await signIn(server.port, { email, password })).answer.status, 303);
  });

test("does not recognize a browser by another account's cookie, nor after a password change",
  async (t) => {
    const { server, shop } = await prepare(t);
    const other = await openShop(server);
    const { email, user } = shop;
    const stranger = new PageClient(server.port);
    stranger.cookies.set('__Host-device', other.user.cookies.get('__Host-device') ?? '');
    await stranger.get('/portal/sign-in');
    for (let n = 0; n < FAILED_SIGN_INS_LIMIT; n += 1) {
      await stranger.submit({ email, password: 'wrong' });
    }
    const last = await signIn(server.port, { email, password: 'wrong' });
    assert.equal(last.answer.status, 429);

    const old = user.cookies.get('__Host-device') ?? '';
    await user.get('/portal/account/password');
    const fields = { current_password: shop.password, new_password: 'eight purple boats' };
    assert.equal((await user.submit(fields)).status, 303);
    const stolen = new PageClient(server.port);
    stolen.cookies.set('__Host-device', old);
    await stolen.get('/portal/sign-in');
    assert.equal((await stolen.submit({ email, password: 'wrong' })).status, 429);
    // The browser that changed the password has a new device cookie, and stays known.
    await user.get('/portal');
    await user.submit({}, { action: '/portal/sign-out' });
    await user.follow();
    assert.equal((await user.submit({ email, password: 'wrong' })).status, 422);
  });

test('clears the cache of a browser that signs out, unless a host shares the origin', async (t) => {
  for (const [options, expected] of [[{}, '"cache"'], [{ isEmbedded: true }, undefined]] as const) {
    const { user } = await openShop(await startServer(t, { portal: options }));
    await user.get('/portal');
    const { status, headers } = await user.submit({}, { action: '/portal/sign-out' });
    assert.deepEqual([status, headers['clear-site-data']], [303, expected]);
    assert.equal(user.cookies.has('__Host-session'), false);
  }
});

test('notes failed sign-ins and denied roles for the log, without the e-mail', async (t) => {
  const events: unknown[] = [];
  const server = await startServer(t, {
    portal: true,
    onSecurityEvent: ({ securityEvent, sellerId, accountId }: RequestRecord) =>
      events.push([securityEvent, sellerId, accountId]),
  });
  const shop = await openShop(server);
  const { email, sellerId } = shop;
  for (const name of [email, 'nobody@shop.example']) {
    await signIn(server.port, { email: name, password: 'wrong' });
  }
  const { user, account } = await addColleague(server, shop, 'viewer');
  assert.equal((await user.get('/portal/keys')).status, 403);
  assert.deepEqual(events, [
    ['sign_in_failed', sellerId, 1], ['sign_in_failed', undefined, undefined],
    ['role_denied', sellerId, account.accountId],
  ]);
});

test('starts a new session at each sign-in, and ends the one that the browser had', async (t) => {
  const { server, shop: { user, sellerId, email, password } } = await prepare(t);
  const first = user.cookies.get('__Host-session');
  await user.get('/portal');
  const csrf = user.valueOf('csrf') ?? '';
  const again = await user.post('/portal/sign-in', new URLSearchParams({
    csrf, email, password,
  }));
  assert.equal(again.status, 303);
  const second = user.cookies.get('__Host-session');
  assert.notEqual(second, first);
  assert.equal((await server.store.listSessions(ownerOf(sellerId), 10)).length, 1);
  assert.equal((await user.get('/portal')).status, 200);
  user.cookies.set('__Host-session', first ?? '');
  assert.equal((await user.get('/portal')).status, 303);
});

test('starts no session if the password changes while it is checked', async (t) => {
  const { server: { port, store }, shop } = await prepare(t);
  const { createSession } = store;
  t.mock.method(store, 'createSession', async (...asked: Parameters<typeof createSession>) => {
    await shop.user.get('/portal/account/password');
    await shop.user.submit({
      current_password: shop.password, new_password: 'eight purple boats',
    });
    return createSession(...asked);
  }, { times: 1 });
  const { user, answer } = await signIn(port, ownOf(shop));
  assert.equal(answer.headers.location, '/portal/sign-in?late');
  assert.equal(user.cookies.has('__Host-session'), false);
  assert.equal((await store.listSessions(ownerOf(shop.sellerId), 10)).length, 1);
  assert.equal((await shop.user.get('/portal')).status, 200);
});

test('never adopts a session token from the browser (session fixation)', async (t) => {
  const { server, shop } = await prepare(t);
  const user = new PageClient(server.port);
  const fixed = 'A'.repeat(43);
  user.cookies.set('__Host-session', fixed);
  await user.get('/portal/sign-in');
  await user.submit(ownOf(shop));
  assert.notEqual(user.cookies.get('__Host-session'), fixed);
  user.cookies.set('__Host-session', fixed);
  assert.equal((await user.get('/portal')).status, 303);
});

test('redirects to its own pages only', async (t) => {
  const { server, shop } = await prepare(t);
  for (const [to, location] of [
    ['/products?q=mug&page=2', '/portal/products?q=mug&page=2'], ['/', '/portal'],
    ['', '/portal'], ['//evil.example', '/portal'], ['/\\evil.example', '/portal'],
    ['\\\\evil.example', '/portal'], ['https://evil.example', '/portal'],
    ['javascript:alert(1)', '/portal'], ['evil.example', '/portal'], ['/\t/evil', '/portal'],
    ['/\r\nset-cookie: a=b', '/portal'], [`/${'a'.repeat(1_001)}`, '/portal'],
    ['/../../admin', '/portal'], ['/%2e%2e/admin', '/portal'], ['/..%2fadmin', '/portal'],
  ] as const) {
    const path = `/portal/sign-in?${new URLSearchParams({ to })}`;
    const { user, answer } = await signIn(server.port, ownOf(shop), path);
    assert.equal(answer.headers.location, location, to);
    // A signed-in user is redirected immediately.
    assert.equal((await user.get(path)).headers.location, location, to);
  }
});

test('redirects to the registration if no shop exists yet', async (t) => {
  const server = await startServer(t, { portal: true });
  const user = new PageClient(server.port);
  const answer = await user.get('/portal/sign-in');
  assert.deepEqual([answer.status, answer.headers.location], [303, '/portal/join']);
});

test('ends a session that is idle for too long or too old', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { user, sellerId } = shop;
  const begun = clock.now;
  const isIn = async (): Promise<boolean> => (await user.get('/portal')).status === 200;
  while (clock.now - begun + SESSION_IDLE_MS - 1 < SESSION_LIFE_MS) {
    clock.now += SESSION_IDLE_MS - 1;
    assert.equal(await isIn(), true, String(clock.now - begun));
    await waitUntilSeen(server, sellerId, clock.now);
  }
  clock.now = begun + SESSION_LIFE_MS - 1;
  assert.equal(await isIn(), true);
  clock.now += 1;
  assert.equal(await isIn(), false);

  const other = await signIn(server.port, ownOf(shop));
  clock.now += SESSION_IDLE_MS;
  assert.equal((await other.user.get('/portal')).status, 303);
});

test('records the last use of a session at most once a minute', async (t) => {
  const { clock, server: { store }, shop: { user } } = await prepare(t);
  const note = store.noteSessionSeen;
  let notes = 0;
  store.noteSessionSeen = async (sellerId, id) => {
    notes += 1;
    await note(sellerId, id);
  };
  clock.now += SESSION_SEEN_INTERVAL_MS - 1;
  await user.get('/portal');
  assert.equal(notes, 0);
  clock.now += 1;
  await user.get('/portal');
  assert.equal(notes, 1);
});

test('logs sign-ins, and failed ones once a minute', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { email, sellerId } = shop;
  await signIn(server.port, ownOf(shop));
  for (let n = 0; n < 3; n += 1) await signIn(server.port, { email, password: 'wrong' });
  clock.now += 60_000;
  await signIn(server.port, { email, password: 'wrong' });
  await signIn(server.port, { email: 'nobody@shop.example', password: 'wrong' });
  await signIn(server.port, ownOf(shop)); // logged after the rejected attempts
  const events = await server.store.listAuditEvents(sellerId, {
    type: undefined, before: undefined, limit: 100,
  });
  const expected = ['signed_in', 'sign_in_refused', 'sign_in_refused', 'signed_in'];
  assert.deepEqual(events.map(({ type }) => type).slice(0, 4), expected);
  assert.deepEqual(events.map(({ address }) => address).slice(0, 4), Array(4).fill('127.0.0.1'));
});

test('serves the sign-in to a known browser while strangers exceed the page limit', async (t) => {
  const { server, shop: { user } } = await prepare(t);
  await user.get('/portal');
  await user.submit({}, { action: '/portal/sign-out' });
  const stranger = new PageClient(server.port);
  let status = 0;
  while (status !== 429) status = (await stranger.get('/portal/sign-in')).status;
  assert.ok(Number(stranger.page?.headers['retry-after']) > 0);
  assert.equal((await user.get('/portal/sign-in')).status, 200);
});
