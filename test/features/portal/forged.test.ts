/** Cross-site requests are rejected, and change nothing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { test, type TestContext } from 'node:test';
import { SESSION_SEEN_INTERVAL_MS } from '../../../src/features/portal/limits.ts';
import { routes } from '../../../src/features/portal/routes.ts';
import { makeClock } from '../../support/clock.ts';
import { send } from '../../support/http.ts';
import { startServer } from '../../support/server.ts';
import { openShop, readText, PageClient, waitUntilSeen } from './page-client.ts';
import { ownerOf } from '../../support/owner.ts';

const SETTINGS = { locale: 'fr-CH', time_zone: 'UTC' };

async function prepare(t: TestContext) {
  const server = await startServer(t, { portal: true });
  return { server, shop: await openShop(server) };
}

test('rejects a form without the token of its browser, and changes nothing', async (t) => {
  const { server, shop: { user, sellerId } } = await prepare(t);
  const other = await openShop(server);
  await other.user.get('/portal/account');
  const stranger = new PageClient(server.port);
  await stranger.get('/portal/sign-in');
  const before = await server.store.findAccount(ownerOf(sellerId));
  for (const csrf of [
    undefined, '', 'x', other.user.valueOf('csrf'), stranger.valueOf('csrf'),
    user.cookies.get('__Host-session'), user.cookies.get('__Host-visit'),
  ]) {
    await user.get('/portal/account');
    const answer = await user.submit({ ...SETTINGS, csrf });
    assert.equal(answer.status, 403, String(csrf));
    assert.match(readText(answer.text), /Nothing was changed\. Reload the page/);
    assert.deepEqual(await server.store.findAccount(ownerOf(sellerId)), before);
  }
  await user.get('/portal/account');
  assert.equal((await user.submit(SETTINGS)).status, 303);
});

test('rejects the token of a session that has ended', async (t) => {
  const { shop: { user, email, password } } = await prepare(t);
  await user.get('/portal/account');
  const old = user.page;
  await user.submit({}, { action: '/portal/sign-out' });
  await user.follow();
  await user.submit({ email, password });
  user.page = old;
  assert.equal((await user.submit(SETTINGS)).status, 403);
});

test('ignores a form if its session ended while it was being received', async (t) => {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  const { store } = server;
  const { user, sellerId } = await openShop(server);
  await user.get('/portal/keys/new');
  const fields = [...['csrf', 'once'].map((name) => [name, user.valueOf(name) ?? '']),
    ['name', 'Late'], ['scopes', 'products:read']];
  const body = new URLSearchParams(fields).toString();
  clock.now += SESSION_SEEN_INTERVAL_MS;
  const slow = request({
    host: '127.0.0.1', port: server.port, method: 'POST', path: '/portal/keys/new', agent: false,
    headers: {
      cookie: user.formatCookies(),
      'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length,
      'sec-fetch-site': 'same-origin',
    },
  });
  slow.write(body.slice(0, 10));
  await waitUntilSeen(server, sellerId, clock.now); // the server has found the session
  await store.endSessions(ownerOf(sellerId), { allBut: 0 }, { type: 'session_ended', address: '' });
  const answered = once(slow, 'response');
  slow.end(body.slice(10));
  // The cast: `response` events have this argument.
  const [answer] = await answered as [IncomingMessage];
  answer.resume();
  assert.equal(answer.statusCode, 303);
  assert.equal(answer.headers.location, '/portal/sign-in');
  const made = await store.listAuditEvents(sellerId, {
    type: 'key_created', before: undefined, limit: 10,
  });
  assert.equal(made.length, 1); // created with the shop
});

test('rejects a form from another site or of unknown origin', async (t) => {
  const { server, shop: { user, sellerId } } = await prepare(t);
  const before = await server.store.findAccount(ownerOf(sellerId));
  const origin = `http://127.0.0.1:${server.port}`;
  const base = 'sec-fetch-site';
  for (const headers of [
    { [base]: undefined }, { [base]: 'cross-site' }, { [base]: 'same-site' }, { [base]: 'none' },
    { [base]: 'cross-site', origin }, { [base]: undefined, origin: 'https://evil.example' },
    { [base]: undefined, origin: 'null' }, { [base]: undefined, origin: 'http://127.0.0.1:1' },
    { [base]: undefined, referer: `${origin}/portal/account` },
  ]) {
    await user.get('/portal/account');
    const answer = await user.submit(SETTINGS, { headers });
    assert.equal(answer.status, 403, JSON.stringify(headers));
    assert.match(readText(answer.text), /did not come from a page of this portal/);
    assert.deepEqual(await server.store.findAccount(ownerOf(sellerId)), before);
  }
  // A browser without Fetch Metadata sends its origin.
  await user.get('/portal/account');
  const answer = await user.submit(SETTINGS, { headers: { [base]: undefined, origin } });
  assert.equal(answer.status, 303);
});

test('prevents other sites from signing a browser in (login CSRF)', async (t) => {
  const { server, shop: { email, password } } = await prepare(t);
  const user = new PageClient(server.port);
  const body = { email, password, csrf: '' };
  // Neither before the browser's first visit, nor with the token of another browser.
  assert.equal((await user.post('/portal/sign-in', new URLSearchParams(body))).status, 403);
  await user.get('/portal/sign-in');
  const forger = new PageClient(server.port);
  await forger.get('/portal/sign-in');
  const forged = new URLSearchParams({ ...body, csrf: forger.valueOf('csrf') ?? '' });
  assert.equal((await user.post('/portal/sign-in', forged)).status, 403);
  assert.equal(user.cookies.has('__Host-session'), false);
});

test('rejects a token if the cookie was sent twice', async (t) => {
  const { server, shop: { user, sellerId } } = await prepare(t);
  await user.get('/portal/account');
  const cookie = user.formatCookies();
  const twice = `${cookie}; __Host-session=${'A'.repeat(43)}`;
  const before = await server.store.findAccount(ownerOf(sellerId));
  const answer = await user.submit(SETTINGS, { headers: { cookie: twice } });
  assert.equal(answer.status, 403);
  assert.match(answer.text, /<h1>Sign in<\/h1>/);
  assert.deepEqual(await server.store.findAccount(ownerOf(sellerId)), before);
});

test('checks every form before its handler runs', async (t) => {
  const { server, shop: { user } } = await prepare(t);
  const posts = routes.filter(({ method, access }) => method === 'POST' && access !== 'upload');
  assert.ok(posts.length > 10);
  for (const { path } of posts) {
    const target = `/portal${path.replaceAll(/\{\w+\}/g, '1')}`;
    const bare = await user.post(target, new URLSearchParams({ a: 'b' }));
    assert.equal(bare.status, 403, target);
    const csrf = user.valueOf('csrf') ?? '';
    const crossed = await user.post(target, new URLSearchParams({ csrf }), {
      'sec-fetch-site': 'cross-site',
    });
    assert.equal(crossed.status, 403, target);
  }
  assert.deepEqual(server.reports, []);
});

test('changes nothing on GET, nor on a method that a page does not support', async (t) => {
  const { server, shop: { user } } = await prepare(t);
  for (const path of ['/portal/sign-out', '/portal/account/two-factor/off']) {
    assert.equal((await user.get(path)).status, 405);
  }
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await user.request({
      method, path: '/portal/account', headers: { 'sec-fetch-site': 'same-origin' },
    });
    assert.equal(answer.status, 405, method);
    assert.match(answer.headers.allow ?? '', /GET/);
  }
  assert.equal((await user.get('/portal')).status, 200);
  assert.deepEqual(server.reports, []);
});

test('rejects every page under a foreign host name (DNS rebinding)', async (t) => {
  const { server, shop: { user } } = await prepare(t);
  const cookie = user.formatCookies();
  for (const host of ['evil.example', `evil.example:${server.port}`, '127.0.0.1.nip.io']) {
    for (const path of ['/portal', '/portal/sign-in', '/portal/account']) {
      const answer = await send(server.port, { path, headers: { host, cookie } });
      assert.equal(answer.status, 403, `${host} ${path}`);
      assert.equal(answer.headers['set-cookie'], undefined);
      assert.doesNotMatch(answer.text, /A shop/);
    }
  }
});

/** A non-loopback address of this machine, whose clients look like other machines. */
const OUTER = Object.values(networkInterfaces()).flat()
  .find((network) => network?.family === 'IPv4' && !network.internal)?.address;

test('rejects every page for a client on another machine, whatever its Host says', {
  skip: OUTER === undefined && 'this machine has no network',
}, async (t) => {
  const { port } = await startServer(t, { portal: true, host: '::' });
  const ask = (hostname: string, path: string, headers: OutgoingHttpHeaders = {}) =>
    send(port, { path, hostname, headers: { host: `localhost:${port}`, ...headers } });
  for (const path of ['/portal', '/portal/sign-in', '/portal/join', '/portal/assets/portal.css']) {
    const answer = await ask(OUTER ?? '', path);
    assert.equal(answer.status, 403, path);
    assert.match(readText(answer.text), /start it with --base-url https:/, path);
    const proxied = await ask('127.0.0.1', path, { 'x-forwarded-for': '192.0.2.7' });
    assert.equal(proxied.status, 403, path);
    assert.equal(proxied.headers['content-type'], 'text/html; charset=utf-8');
  }
  assert.equal((await ask('127.0.0.1', '/portal/join')).status, 200);
  const proxied = await ask('127.0.0.1', '/portal/join', { 'x-forwarded-for': '127.0.0.1' });
  assert.equal(proxied.status, 200);
});
