/** One-time passwords: switched on, asked for at the sign-in, each taken once, and switched off. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  NEW_TOTP_LIFE_MS, RECOVERY_CODES, TWO_FACTOR_LIFE_MS, FAILED_TOTP_LIMIT,
} from '../../../../src/features/portal/limits.ts';
import { makeClock } from '../../../support/clock.ts';
import { damage } from '../../../store/sqlite/check/sample-folder.ts';
import { startServer } from '../../../support/server.ts';
import { showCode } from './authenticator.ts';
import { openShop, readText, type Shop, PageClient } from '../page-client.ts';

const PAGE = '/portal/account/second-step';
const STEP_MS = 30_000;

async function prepare(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  return { clock, server, shop: await openShop(server) };
}

function readCopy(visitor: PageClient, name: string): string {
  const copied = new RegExp(`<pre id="copy-${name}"[^>]*>([^<]+)<`).exec(visitor.page?.text ?? '');
  return copied?.[1] ?? assert.fail(`There is no ${name} on the page:\n${visitor.page?.text}`);
}

/** The secret, and the recovery codes. */
async function enable({ visitor, password }: Shop, now: number) {
  await visitor.get(PAGE);
  const secret = readCopy(visitor, 'secret');
  const answer = await visitor.submit({
    code: showCode(secret, now), current_password: password,
  });
  assert.equal(answer.status, 200, answer.text);
  return { secret, codes: readCopy(visitor, 'codes').split('\n') };
}

/** A browser that has shown the password, and is asked for the code. */
async function showPassword(port: number, { email, password }: Shop, to = '/portal/sign-in') {
  const visitor = new PageClient(port);
  await visitor.get(to);
  const answer = await visitor.submit({ email, password });
  assert.deepEqual([answer.status, answer.headers.location], [303, '/portal/sign-in/code']);
  assert.equal(visitor.cookies.has('__Host-session'), false);
  await visitor.follow();
  return visitor;
}

test('is switched on by a code that is right, and then asks for one', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret, codes } = await enable(shop, clock.now);
  assert.match(secret, /^(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}$/);
  assert.equal(new Set(codes).size, RECOVERY_CODES);
  assert.match(readText((await shop.visitor.get('/portal/account')).text), /One-time codes On/);

  clock.now += STEP_MS;
  const visitor = await showPassword(server.port, shop, '/portal/sign-in?to=/activity');
  assert.equal((await visitor.get('/portal')).headers.location, '/portal/sign-in');
  await visitor.get('/portal/sign-in/code');
  const code = showCode(secret, clock.now);
  const answer = await visitor.submit({ code: `${code.slice(0, 3)} ${code.slice(3)} ` });
  assert.deepEqual([answer.status, answer.headers.location], [303, '/portal/activity']);
  assert.equal((await visitor.follow()).status, 200);
  assert.equal(visitor.cookies.has('__Host-second-step'), false);
});

test('shows a link that apps open, with the secret that it shows', async (t) => {
  const { shop: { visitor, email } } = await prepare(t);
  const { text } = await visitor.get(PAGE);
  const [, link = ''] = /href="(otpauth:[^"]+)"/.exec(text) ?? [];
  const uri = new URL(link.replaceAll('&amp;', '&'));
  assert.equal(decodeURIComponent(uri.pathname), `/A shop:${email}`);
  assert.equal(uri.searchParams.get('secret'), readCopy(visitor, 'secret').replaceAll(' ', ''));
  assert.notEqual((await visitor.get(PAGE)).text.match(/otpauth:[^"]+/)?.[0], link);
});

test('stays off until both a right code and the password are there', async (t) => {
  const { clock, server: { store }, shop } = await prepare(t);
  const { visitor, sellerId, password } = shop;
  await visitor.get(PAGE);
  const secret = readCopy(visitor, 'secret');
  const code = showCode(secret, clock.now);
  const wrong = code === '000000' ? '111111' : '000000';
  for (const [fields, fault] of [
    [{ code: wrong, current_password: password }, /not what the app should show/],
    [{ code: '', current_password: password }, /not what the app should show/],
    [{ code, current_password: 'wrong' }, /not your password/],
    [{ code, current_password: '' }, /not your password/],
  ] as const) {
    const answer = await visitor.submit(fields);
    assert.equal(answer.status, 422);
    assert.match(readText(answer.text), fault);
    assert.equal(readCopy(visitor, 'secret'), secret);
    assert.equal(await store.findTotp(sellerId), undefined);
  }
  assert.equal((await visitor.submit({ code, current_password: password })).status, 200);
  assert.ok(await store.findTotp(sellerId));
});

test('takes a new secret only from the session that was shown it, and not for long', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { visitor, password, sellerId } = shop;
  const other = await openShop(server);
  await other.visitor.get(PAGE);
  const foreign = other.visitor.valueOf('secret');
  const secret = readCopy(other.visitor, 'secret');
  await visitor.get(PAGE);
  for (const sealed of [foreign, '', 'x', secret]) {
    const fields = {
      secret: sealed, code: showCode(secret, clock.now), current_password: password,
    };
    assert.equal((await visitor.submit(fields)).headers.location, `${PAGE}?done=late`);
    await visitor.get(PAGE);
  }
  const own = readCopy(visitor, 'secret');
  clock.now += NEW_TOTP_LIFE_MS;
  await visitor.submit({ code: showCode(own, clock.now), current_password: password });
  assert.match(readText((await visitor.follow()).text), /took too long: here is a new secret/);
  assert.equal(await server.store.findTotp(sellerId), undefined);
});

test('answers a form that is sent twice with codes that are good', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { visitor, password } = shop;
  await visitor.get(PAGE);
  const page = visitor.page;
  const fields = {
    code: showCode(readCopy(visitor, 'secret'), clock.now), current_password: password,
  };
  await visitor.submit(fields);
  visitor.page = page;
  assert.equal((await visitor.submit(fields)).status, 200);
  const [code = ''] = readCopy(visitor, 'codes').split('\n');
  const again = await showPassword(server.port, shop);
  assert.equal((await again.submit({ code })).headers.location, '/portal');
});

test('is not replaced by another secret while it is on', async (t) => {
  const { clock, server: { store }, shop } = await prepare(t);
  const { visitor, password, sellerId } = shop;
  await visitor.get(PAGE);
  const page = visitor.page;
  const { secret } = await enable(shop, clock.now);
  visitor.page = page;
  const code = showCode(readCopy(visitor, 'secret'), clock.now);
  const answer = await visitor.submit({ code, current_password: password });
  assert.equal(answer.headers.location, `${PAGE}?done=already`);
  assert.equal((await store.findTotp(sellerId))?.secret, secret.replaceAll(' ', ''));
});

test('takes no code twice, not even the one that switched it on', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret } = await enable(shop, clock.now);
  const first = await showPassword(server.port, shop);
  assert.equal((await first.submit({ code: showCode(secret, clock.now) })).status, 422);
  clock.now += STEP_MS;
  const code = showCode(secret, clock.now);
  const visitors = [];
  for (let n = 0; n < 3; n += 1) visitors.push(await showPassword(server.port, shop));
  const answers = await Promise.all(visitors.map((visitor) => visitor.submit({ code })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 422, 422]);
});

test('takes the codes of a clock that is a step off, and not of two', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret } = await enable(shop, clock.now);
  clock.now += 10 * STEP_MS;
  for (const [offset, status] of [[-2, 422], [2, 422], [-1, 303], [1, 303]] as const) {
    const visitor = await showPassword(server.port, shop);
    const code = showCode(secret, clock.now + offset * STEP_MS);
    assert.equal((await visitor.submit({ code })).status, status, String(offset));
  }
});

test('lets nobody guess: codes are slowed, and the first step alone opens nothing', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret } = await enable(shop, clock.now);
  clock.now += STEP_MS;
  const code = showCode(secret, clock.now);
  const wrong = code === '000000' ? '111111' : '000000';
  const visitor = await showPassword(server.port, shop);
  for (let n = 0; n < FAILED_TOTP_LIMIT; n += 1) {
    const answer = await visitor.submit({ code: wrong });
    assert.equal(answer.status, 422);
    assert.match(readText(answer.text), /not right, or not any more/);
  }
  const slowed = await visitor.submit({ code });
  assert.equal(slowed.status, 429);
  assert.equal(slowed.headers['retry-after'], '8640');
  assert.equal(visitor.cookies.has('__Host-session'), false);
  // From another browser it is the same account; that of the owner has a count of its own.
  const other = await showPassword(server.port, shop);
  assert.equal((await other.submit({ code })).status, 429);
  await shop.visitor.get('/portal');
  await shop.visitor.submit({}, { action: '/portal/sign-out' });
  await shop.visitor.follow();
  await shop.visitor.submit({ email: shop.email, password: shop.password });
  await shop.visitor.follow();
  assert.equal((await shop.visitor.submit({ code })).status, 303);
});

test('takes each recovery code once, also where too many codes were wrong', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { codes: [one = '', other = ''] } = await enable(shop, clock.now);
  const visitor = await showPassword(server.port, shop);
  for (let n = 0; n < FAILED_TOTP_LIMIT; n += 1) await visitor.submit({ code: 'wrong' });
  assert.equal((await visitor.submit({ code: '000000' })).status, 429);
  await visitor.get('/portal/sign-in/code');
  assert.equal((await visitor.submit({ code: 'AAAA-AAAA-AAAA-AAAA' })).status, 422);
  const typed = ` ${one.toLowerCase().replaceAll('-', ' ')} `;
  assert.equal((await visitor.submit({ code: typed })).headers.location, '/portal');
  assert.match(readText((await visitor.get(PAGE)).text), /You have 9 recovery codes left/);
  const again = await showPassword(server.port, shop);
  assert.equal((await again.submit({ code: one })).status, 422);
  assert.equal((await again.submit({ code: other })).status, 303);
});

test('asks for the password again where the code takes too long', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret } = await enable(shop, clock.now);
  const visitor = await showPassword(server.port, shop);
  clock.now += TWO_FACTOR_LIFE_MS;
  await visitor.submit({ code: showCode(secret, clock.now) });
  assert.equal(visitor.page?.headers.location, '/portal/sign-in?late');
  assert.match(readText((await visitor.follow()).text), /took too long\. Sign in again/);
  assert.equal((await visitor.get('/portal/sign-in/code')).status, 303);
});

test('takes the first step only from its browser, and of an account as it was', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { codes } = await enable(shop, clock.now);
  const [visitor, thief] = [await showPassword(server.port, shop), new PageClient(server.port)];
  await thief.get('/portal/sign-in');
  const pending = visitor.cookies.get('__Host-second-step') ?? '';
  thief.cookies.set('__Host-second-step', pending);
  assert.equal((await thief.get('/portal/sign-in/code')).status, 303);
  assert.equal((await visitor.get('/portal/sign-in/code')).status, 200);

  await shop.visitor.get('/portal/account/password');
  await shop.visitor.submit({
    current_password: shop.password, new_password: 'eight purple boats',
  });
  const answer = await visitor.submit({ code: codes[0] });
  assert.equal(answer.headers.location, '/portal/sign-in?late');
});

test('is switched off, and its codes made anew, by the password alone', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { visitor, password, email } = shop;
  const { codes: old } = await enable(shop, clock.now);
  for (const action of [`${PAGE}/codes`, `${PAGE}/off`]) {
    await visitor.get(PAGE);
    const answer = await visitor.submit({ current_password: 'wrong' }, { action });
    assert.equal(answer.status, 422);
    assert.match(readText(answer.text), /not your password/);
  }
  assert.match(readText((await visitor.get(PAGE)).text), /You have 10 recovery codes left/);
  await visitor.submit({ current_password: password }, { action: `${PAGE}/codes` });
  const fresh = readCopy(visitor, 'codes').split('\n');
  const stranger = await showPassword(server.port, shop);
  assert.equal((await stranger.submit({ code: old[0] })).status, 422);
  assert.equal((await stranger.submit({ code: fresh[0] })).status, 303);

  await visitor.get(PAGE);
  const off = await visitor.submit({ current_password: password }, { action: `${PAGE}/off` });
  assert.equal(off.headers.location, '/portal/account?done=off');
  assert.match(readText((await visitor.follow()).text), /takes your password alone now/);
  const next = new PageClient(server.port);
  await next.get('/portal/sign-in');
  assert.equal((await next.submit({ email, password })).headers.location, '/portal');
});

test('lets nobody in by a code without the key of the server, and says what to do', async (t) => {
  const { clock, server, shop } = await prepare(t);
  const { secret, codes } = await enable(shop, clock.now);
  damage(server.folder, 'UPDATE account SET totp_secret = randomblob(length(totp_secret))');
  clock.now += STEP_MS;
  const visitor = await showPassword(server.port, shop);
  const answer = await visitor.submit({ code: showCode(secret, clock.now) });
  assert.equal(answer.status, 503);
  assert.match(readText(answer.text), /server\.key .* is missing, or is another one\. Put back/);
  assert.equal(visitor.cookies.has('__Host-session'), false);
  await visitor.get('/portal/sign-in/code');
  assert.equal((await visitor.submit({ code: codes[0] })).headers.location, '/portal');
  assert.match(readText((await visitor.get(PAGE)).text), /server\.key .*switch .* off and on/);
  assert.deepEqual(server.reports, []);
});
