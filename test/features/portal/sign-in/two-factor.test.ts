/** Two-factor authentication: turning it on, signing in with it, recovery codes, turning it off. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  NEW_TOTP_LIFE_MS, RECOVERY_CODES, TWO_FACTOR_LIFE_MS, FAILED_TOTP_LIMIT,
} from '../../../../src/features/portal/limits.ts';
import { makeClock } from '../../../support/clock.ts';
import { damage } from '../../../store/sqlite/check/sample-folder.ts';
import { startServer } from '../../../support/server.ts';
import { decodeSvg } from '../html/qr-code/decode.ts';
import { showCode } from './authenticator.ts';
import { openShop, readText, type Shop, PageClient } from '../page-client.ts';
import { ownerOf } from '../../../support/owner.ts';

const PAGE = '/portal/account/two-factor';
const STEP_MS = 30_000;

async function prepare(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  return { clock, server, shop: await openShop(server) };
}

function readCopy(user: PageClient, name: string): string {
  const copied = new RegExp(`<pre id="copy-${name}"[^>]*>([^<]+)<`).exec(user.page?.text ?? '');
  return copied?.[1] ?? assert.fail(`The page has no ${name}:\n${user.page?.text}`);
}

/** The secret, and the recovery codes. */
async function enable({ user, password }: Shop, now: number) {
  await user.get(PAGE);
  const secret = readCopy(user, 'secret');
  const answer = await user.submit({
    code: showCode(secret, now), current_password: password,
  });
  assert.equal(answer.status, 200, answer.text);
  assert.match(answer.text, /name="session" value="others">Sign out all other browsers</);
  assert.match(readCopy(user, 'codes'), /^(?:\w{4}(?:-\w{4}){5}\n?){10}$/);
  return { secret, codes: readCopy(user, 'codes').split('\n') };
}

/** A browser that has submitted the password, and is asked for the code. */
async function showPassword(port: number, { email, password }: Shop, to = '/portal/sign-in') {
  const user = new PageClient(port);
  await user.get(to);
  const answer = await user.submit({ email, password });
  assert.deepEqual([answer.status, answer.headers.location], [303, '/portal/sign-in/code']);
  assert.equal(user.cookies.has('__Host-session'), false);
  await user.follow();
  return user;
}

test('is turned on with a valid code, and then asks for one at sign-in', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret, codes } = await enable(shop, clock.now);
  assert.match(secret, /^(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}$/);
  assert.equal(new Set(codes).size, RECOVERY_CODES);
  const account = readText((await shop.user.get('/portal/account')).text);
  assert.match(account, /Two-factor authentication On/);

  clock.now += STEP_MS;
  const user = await showPassword(server.port, shop, '/portal/sign-in?to=/activity');
  assert.equal((await user.get('/portal')).headers.location, '/portal/sign-in');
  await user.get('/portal/sign-in/code');
  const code = showCode(secret, clock.now);
  const answer = await user.submit({ code: `${code.slice(0, 3)} ${code.slice(3)} ` });
  assert.deepEqual([answer.status, answer.headers.location], [303, '/portal/activity']);
  assert.equal((await user.follow()).status, 200);
  assert.equal(user.cookies.has('__Host-second-step'), false);
});

test('links to the authenticator app, with the secret on the page', async (t) => {
  const { shop: { user, email } } = await prepare(t);
  const { text } = await user.get(PAGE);
  const [, link = ''] = /href="(otpauth:[^"]+)"/.exec(text) ?? [];
  const uri = new URL(link.replaceAll('&amp;', '&'));
  assert.equal(decodeURIComponent(uri.pathname), `/A shop:${email}`);
  assert.equal(uri.searchParams.get('secret'), readCopy(user, 'secret').replaceAll(' ', ''));
  assert.notEqual((await user.get(PAGE)).text.match(/otpauth:[^"]+/)?.[0], link);
});

test('shows the link as a QR code, even for the longest names', async (t) => {
  const { server } = await prepare(t);
  const email = `${'a'.repeat(241)}@shop.example`;
  for (const options of [{ name: 'A shop' }, { name: '🧾'.repeat(100), email }]) {
    const { user } = await openShop(server, options);
    const { text } = await user.get(PAGE);
    const [, link = ''] = /href="(otpauth:[^"]+)"/.exec(text) ?? [];
    const [svg = ''] = /<svg class="qr".*?<\/svg>/s.exec(text) ?? [];
    assert.equal(decodeSvg(svg).text, link.replaceAll('&amp;', '&'));
  }
});

test('stays off without both a valid code and the password', async (t) => {
  const { clock, server: { store }, shop } = await prepare(t);
  const { user, sellerId, password } = shop;
  await user.get(PAGE);
  const secret = readCopy(user, 'secret');
  const code = showCode(secret, clock.now);
  const wrong = code === '000000' ? '111111' : '000000';
  for (const [fields, error] of [
    [{ code: wrong, current_password: password }, /Incorrect code/],
    [{ code: '', current_password: password }, /Incorrect code/],
    [{ code, current_password: 'wrong' }, /Incorrect password/],
    [{ code, current_password: '' }, /Incorrect password/],
  ] as const) {
    const answer = await user.submit(fields);
    assert.equal(answer.status, 422);
    assert.match(readText(answer.text), error);
    assert.equal(readCopy(user, 'secret'), secret);
    assert.equal(await store.findTotp(ownerOf(sellerId)), undefined);
  }
  assert.equal((await user.submit({ code, current_password: password })).status, 200);
  assert.ok(await store.findTotp(ownerOf(sellerId)));
});

test('accepts a new secret only from the session that saw it, until it expires', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { user, password, sellerId } = shop;
  const other = await openShop(server);
  await other.user.get(PAGE);
  const foreign = other.user.valueOf('secret');
  const secret = readCopy(other.user, 'secret');
  await user.get(PAGE);
  for (const encrypted of [foreign, '', 'x', secret]) {
    const fields = {
      secret: encrypted, code: showCode(secret, clock.now), current_password: password,
    };
    assert.equal((await user.submit(fields)).headers.location, `${PAGE}?done=late`);
    await user.get(PAGE);
  }
  const own = readCopy(user, 'secret');
  clock.now += NEW_TOTP_LIFE_MS;
  await user.submit({ code: showCode(own, clock.now), current_password: password });
  assert.match(readText((await user.follow()).text), /page has expired\. Add the new secret/);
  assert.equal(await server.store.findTotp(ownerOf(sellerId)), undefined);
});

test('answers a form that is submitted twice with valid recovery codes', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { user, password } = shop;
  await user.get(PAGE);
  const page = user.page;
  const fields = {
    code: showCode(readCopy(user, 'secret'), clock.now), current_password: password,
  };
  await user.submit(fields);
  user.page = page;
  assert.equal((await user.submit(fields)).status, 200);
  const [code = ''] = readCopy(user, 'codes').split('\n');
  const again = await showPassword(server.port, shop);
  assert.equal((await again.submit({ code })).headers.location, '/portal');
});

test('is not replaced by another secret while it is on', async (t) => {
  const { clock, server: { store }, shop } = await prepare(t);
  const { user, password, sellerId } = shop;
  await user.get(PAGE);
  const page = user.page;
  const { secret } = await enable(shop, clock.now);
  user.page = page;
  const code = showCode(readCopy(user, 'secret'), clock.now);
  const answer = await user.submit({ code, current_password: password });
  assert.equal(answer.headers.location, `${PAGE}?done=already`);
  assert.equal((await store.findTotp(ownerOf(sellerId)))?.secret, secret.replaceAll(' ', ''));
});

test('accepts no code twice, not even the one that turned it on', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret } = await enable(shop, clock.now);
  const first = await showPassword(server.port, shop);
  assert.equal((await first.submit({ code: showCode(secret, clock.now) })).status, 422);
  clock.now += STEP_MS;
  const code = showCode(secret, clock.now);
  const visitors = [];
  for (let n = 0; n < 3; n += 1) visitors.push(await showPassword(server.port, shop));
  const answers = await Promise.all(visitors.map((user) => user.submit({ code })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 422, 422]);
});

test('accepts codes of a clock that is one time step off, but not two', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret } = await enable(shop, clock.now);
  clock.now += 10 * STEP_MS;
  for (const [offset, status] of [[-2, 422], [2, 422], [-1, 303], [1, 303]] as const) {
    const user = await showPassword(server.port, shop);
    const code = showCode(secret, clock.now + offset * STEP_MS);
    assert.equal((await user.submit({ code })).status, status, String(offset));
  }
});

test('limits guesses of codes, and starts no session after the password alone', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret } = await enable(shop, clock.now);
  clock.now += STEP_MS;
  const code = showCode(secret, clock.now);
  const wrong = code === '000000' ? '111111' : '000000';
  const user = await showPassword(server.port, shop);
  for (let n = 0; n < FAILED_TOTP_LIMIT; n += 1) {
    const answer = await user.submit({ code: wrong });
    assert.equal(answer.status, 422);
    assert.match(readText(answer.text), /Incorrect or already used/);
  }
  const limited = await user.submit({ code });
  assert.equal(limited.status, 429);
  assert.equal(limited.headers['retry-after'], '8640');
  assert.equal(user.cookies.has('__Host-session'), false);
  // Other browsers share the account's limit; the owner's known browser has its own.
  const other = await showPassword(server.port, shop);
  assert.equal((await other.submit({ code })).status, 429);
  await shop.user.get('/portal');
  await shop.user.submit({}, { action: '/portal/sign-out' });
  await shop.user.follow();
  await shop.user.submit({ email: shop.email, password: shop.password });
  await shop.user.follow();
  assert.equal((await shop.user.submit({ code })).status, 303);
});

test('accepts each recovery code once, even beyond the limit of wrong codes', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { codes: [one = '', other = ''] } = await enable(shop, clock.now);
  const user = await showPassword(server.port, shop);
  for (let n = 0; n < FAILED_TOTP_LIMIT; n += 1) await user.submit({ code: 'wrong' });
  assert.equal((await user.submit({ code: '000000' })).status, 429);
  await user.get('/portal/sign-in/code');
  assert.equal((await user.submit({ code: 'AAAA-AAAA-AAAA-AAAA' })).status, 422);
  const typed = ` ${one.toLowerCase().replaceAll('-', ' ')} `;
  assert.equal((await user.submit({ code: typed })).headers.location, '/portal');
  assert.match(readText((await user.get(PAGE)).text), /You have 9 recovery codes left/);
  const again = await showPassword(server.port, shop);
  assert.equal((await again.submit({ code: one })).status, 422);
  assert.equal((await again.submit({ code: other })).status, 303);
});

test('asks for the password again if the code takes too long', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret } = await enable(shop, clock.now);
  const user = await showPassword(server.port, shop);
  clock.now += TWO_FACTOR_LIFE_MS;
  await user.submit({ code: showCode(secret, clock.now) });
  assert.equal(user.page?.headers.location, '/portal/sign-in?late');
  assert.match(readText((await user.follow()).text), /has expired\. Please sign in again/);
  assert.equal((await user.get('/portal/sign-in/code')).status, 303);
});

test('accepts the code only in the browser and with the password of the first step', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { codes } = await enable(shop, clock.now);
  const [user, thief] = [await showPassword(server.port, shop), new PageClient(server.port)];
  await thief.get('/portal/sign-in');
  const pending = user.cookies.get('__Host-second-step') ?? '';
  thief.cookies.set('__Host-second-step', pending);
  assert.equal((await thief.get('/portal/sign-in/code')).status, 303);
  assert.equal((await user.get('/portal/sign-in/code')).status, 200);

  await shop.user.get('/portal/account/password');
  await shop.user.submit({
    current_password: shop.password, new_password: 'eight purple boats',
  });
  const answer = await user.submit({ code: codes[0] });
  assert.equal(answer.headers.location, '/portal/sign-in?late');
});

test('requires the password to turn it off, and to replace its recovery codes', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { user, password, email } = shop;
  const { codes: old } = await enable(shop, clock.now);
  for (const action of [`${PAGE}/codes`, `${PAGE}/off`]) {
    await user.get(PAGE);
    const answer = await user.submit({ current_password: 'wrong' }, { action });
    assert.equal(answer.status, 422);
    assert.match(readText(answer.text), /Incorrect password/);
  }
  assert.match(readText((await user.get(PAGE)).text), /You have 10 recovery codes left/);
  await user.submit({ current_password: password }, { action: `${PAGE}/codes` });
  const fresh = readCopy(user, 'codes').split('\n');
  const stranger = await showPassword(server.port, shop);
  assert.equal((await stranger.submit({ code: old[0] })).status, 422);
  assert.equal((await stranger.submit({ code: fresh[0] })).status, 303);

  await user.get(PAGE);
  const off = await user.submit({ current_password: password }, { action: `${PAGE}/off` });
  assert.equal(off.headers.location, '/portal/account?done=off');
  assert.match(readText((await user.follow()).text), /Two-factor authentication is off/);
  const next = new PageClient(server.port);
  await next.get('/portal/sign-in');
  assert.equal((await next.submit({ email, password })).headers.location, '/portal');
});

test('rejects codes if the server key is missing, and says what to do', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret, codes } = await enable(shop, clock.now);
  damage(server.folder, 'UPDATE account SET totp_secret = randomblob(length(totp_secret))');
  clock.now += STEP_MS;
  const user = await showPassword(server.port, shop);
  const answer = await user.submit({ code: showCode(secret, clock.now) });
  assert.equal(answer.status, 503);
  assert.match(readText(answer.text), /server\.key .* is missing or does not match .*Restore/);
  assert.equal(user.cookies.has('__Host-session'), false);
  await user.get('/portal/sign-in/code');
  assert.equal((await user.submit({ code: codes[0] })).headers.location, '/portal');
  assert.match(readText((await user.get(PAGE)).text), /server\.key .*turn .* off and on/);
  assert.deepEqual(server.reports, []);
});
