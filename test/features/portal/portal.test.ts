/** Invariants of all pages: access, headers, size and cookies. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { routes } from '../../../src/features/portal/routes.ts';
import { makeClock } from '../../support/clock.ts';
import { send } from '../../support/http.ts';
import { makeProduct, startServer, type TestOptions } from '../../support/server.ts';
import { openShop, readText, PageClient } from './page-client.ts';

const POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
  "connect-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
  "require-trusted-types-for 'script'", "trusted-types 'none'",
].join('; ');

async function prepare(t: TestContext, options: Pick<TestOptions, 'clock'> = {}) {
  const server = await startServer(t, { portal: true, ...options });
  return { server, shop: await openShop(server) };
}

/** Routes that serve files or streams, which have their own tests. */
const OTHERS = ['/export', '/live', '/movements/export', '/start/progress'];

/** The pages of a shop without path parameters. */
function listPages(): string[] {
  return routes.filter(({ access, method }) => access === 'signed-in' && method === 'GET')
    .filter(({ path }) => !path.includes('{') && !OTHERS.includes(path))
    .map(({ path }) => `/portal${path === '/' ? '' : path}`);
}

test('redirects anonymous users from every page of a shop to the sign-in', async (t) => {
  const own = routes.filter(({ access }) => access !== 'public');
  assert.ok(own.length > 20);
  const clock = makeClock();
  const { server } = await prepare(t, { clock });
  for (const { method, path } of own) {
    clock.now += 1_000; // an address may send so many requests a minute
    const user = new PageClient(server.port);
    const target = `/portal${path.replaceAll(/\{\w+\}/g, '1')}`;
    const answer = method === 'GET' ? await user.get(target)
      : await user.post(target, new URLSearchParams());
    assert.equal(answer.status, 303, `${method} ${path}`);
    const { location = '' } = answer.headers;
    assert.match(location, /^\/portal\/sign-in(?:\?to=%2F[\w%-]*)?$/, `${method} ${path}`);
    assert.equal(answer.text, '');
  }
});

test('sends security headers and no-store with every page', async (t) => {
  const { shop: { user } } = await prepare(t);
  const pages = [...listPages(), '/portal/no-such-page', '/portal/sign-in', '/portal/join'];
  for (const path of pages) {
    const { status, headers } = await user.get(path);
    assert.equal(headers['cache-control'], 'no-store', path);
    assert.equal(headers['x-content-type-options'], 'nosniff', path);
    assert.ok(!('access-control-allow-origin' in headers), path);
    if (status === 303) continue;
    assert.equal(headers['content-type'], 'text/html; charset=utf-8', path);
    assert.equal(headers['content-security-policy'], POLICY, path);
    assert.equal(headers['x-frame-options'], 'DENY', path);
    assert.equal(headers['referrer-policy'], 'no-referrer', path);
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin', path);
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path);
    assert.match(String(headers['permissions-policy']), /camera=\(\)/, path);
    assert.equal(headers['strict-transport-security'], undefined, path);
  }
});

test('sends Strict-Transport-Security over TLS', async (t) => {
  const baseUrl = 'https://shop.example/mugs';
  const { port } = await startServer(t, { portal: true, baseUrl });
  const ask = (host: string) => send(port, { path: '/mugs/portal/join', headers: { host } });
  const { headers, text } = await ask('shop.example');
  assert.equal(headers['strict-transport-security'], 'max-age=31536000');
  assert.match(text, /href="\/mugs\/portal\/assets\//);
  assert.equal((await ask(`127.0.0.1:${port}`)).headers['strict-transport-security'], undefined);
});

test('keeps every page below 50 KiB, and loads nothing from elsewhere', async (t) => {
  const { shop: { user } } = await prepare(t);
  for (const path of listPages()) {
    const { text } = await user.get(path);
    assert.ok(Buffer.byteLength(text) < 50 * 1024, path);
    for (const [, target = ''] of text.matchAll(/\s(?:src|href|action|poster|data)="([^"]*)"/g)) {
      assert.match(target, /^(?:\/(?!\/)|#|\?|$|otpauth:)/, `${path}: ${target}`);
    }
    assert.doesNotMatch(text, /<(?:iframe|object|embed|base|meta http)/, path);
  }
});

test('sets cookies for this host only, over TLS only, unreadable by scripts', async (t) => {
  const { server, shop: { user, email, password } } = await prepare(t);
  const cookies: string[] = [];
  const keep = (): void => { cookies.push(...user.page?.headers['set-cookie'] ?? []); };
  await user.get('/portal');
  await user.submit({}, { action: '/portal/sign-out' });
  keep();
  user.cookies.clear();
  await user.get('/portal/sign-in');
  keep();
  await user.submit({ email, password });
  keep();
  const names = cookies.map((cookie) => cookie.split('=')[0]);
  assert.deepEqual(new Set(names), new Set([
    '__Host-session', '__Host-visit', '__Host-second-step', '__Host-device',
  ]));
  for (const cookie of cookies) {
    const attributes = cookie.split('; ').slice(1).filter((part) => !part.startsWith('Max-Age='));
    assert.deepEqual(attributes.sort(), ['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure'], cookie);
  }
  assert.deepEqual(server.reports, []);
});

test('answers an unknown path with a page that contains nothing from the request', async (t) => {
  const { server, shop: { user } } = await prepare(t);
  for (const path of ['/portal/no-such-page', '/portal/%3Cscript%3E', '/portal/account/x/y']) {
    const answer = await user.get(path);
    assert.equal(answer.status, 404);
    assert.match(readText(answer.text), /Page not found/);
    assert.doesNotMatch(answer.text, /no-such-page|<script>/);
    assert.equal(answer.headers['content-security-policy'], POLICY);
  }
  assert.deepEqual(server.reports, []);
});

test('treats malformed path parameters as unknown', async (t) => {
  const { server, shop: { user, send: call } } = await prepare(t);
  const made = await call({
    method: 'POST', path: '/api/v1/products', headers: { 'content-type': 'application/json' },
    body: JSON.stringify(makeProduct()),
  });
  const paths = [...listPages(), `/portal/products/${made.json().id}`, '/portal/sign-in'];
  const names = ['done', 'type', 'sort', 'stock', 'up_to', 'before', 'since', 'until', 'key', 'to'];
  for (const word of ['constructor', '__proto__', 'toString']) {
    const query = new URLSearchParams(names.map((name) => [name, word]));
    for (const path of paths) {
      const { status } = await user.get(`${path}?${query}`);
      assert.ok(status < 500, `${status} ${path} ${word}`);
    }
  }
  assert.deepEqual(server.reports, []);
});

test('reveals only the id of an internal error', async (t) => {
  const { server, shop: { user } } = await prepare(t);
  server.store.findSignedInSession = async () => { throw new Error('the password of the disk'); };
  const answer = await user.get('/portal');
  assert.equal(answer.status, 500);
  assert.doesNotMatch(answer.text, /password|at async|\.ts/);
  const [report] = server.reports;
  assert.ok(report && answer.text.includes(report.id));
});

test('redirects from the root, and answers 404 if it is disabled', async (t) => {
  const { server } = await prepare(t);
  const root = await send(server.port, { path: '/' });
  assert.deepEqual([root.status, root.headers.location], [303, '/portal']);
  const without = await startServer(t);
  for (const path of ['/', '/portal', '/portal/sign-in']) {
    assert.equal((await send(without.port, { path })).status, 404, path);
  }
});
