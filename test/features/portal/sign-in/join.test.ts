/** Joining: a code creates a shop, an account, a key and a session; the key is shown once. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { FIRST_CODE_LIFE_MS } from '../../../../src/features/portal/limits.ts';
import { generateCode, hashCode } from '../../../../src/domain/access/human-code.ts';
import { Passwords } from '../../../../src/domain/access/password.ts';
import { REGISTRATIONS_PER_ADDRESS_PER_HOUR } from '../../../../src/features/portal/limits.ts';
import type { PortalOptions } from '../../../../src/features/portal/portal.ts';
import type { Invitation } from '../../../../src/store/account-store.ts';
import { makeClock } from '../../../support/clock.ts';
import { send } from '../../../support/http.ts';
import { startServer } from '../../../support/server.ts';
import { openShop, readText, PageClient } from '../page-client.ts';
import { ownerOf } from '../../../support/owner.ts';

const FIELDS = { name: 'Blue mugs', email: 'anna@shop.example', password: 'seven green boats' };

async function prepare(t: TestContext, options: PortalOptions = {}) {
  const clock = makeClock();
  const server = await startServer(t, { portal: options, clock });
  const invite = async (members: Partial<Invitation> = {}): Promise<string> => {
    const code = generateCode();
    await server.store.createInvitation(hashCode(code) ?? '', {
      sellerId: undefined, role: 'owner', name: undefined, isFirst: false,
      expiresAt: clock.now + FIRST_CODE_LIFE_MS, ...members,
    });
    return code;
  };
  const user = new PageClient(server.port);
  return { clock, server, invite, user };
}

test('creates a shop with a code, shows a key that works, and signs in', async (t) => {
  const { server, invite, user } = await prepare(t);
  const code = (await invite({ isFirst: true })).toLowerCase();
  await user.get('/portal/join', { 'accept-language': 'de-CH,de;q=0.9' });
  const answer = await user.submit(
    { ...FIELDS, code, currency: 'JPY', time_zone: 'Asia/Tokyo' },
    { headers: { 'accept-language': 'de-CH,de;q=0.9' } },
  );
  assert.equal(answer.status, 200, answer.text);
  const [, key = ''] = /<pre id="copy-key"[^>]*>([^<]+)</.exec(answer.text) ?? [];
  const list = await send(server.port, {
    path: '/api/v1/products', headers: { 'x-api-key': key },
  });
  assert.deepEqual([list.status, list.json().products], [200, []]);
  const page = await user.get('/portal');
  assert.equal(page.status, 200);
  assert.match(page.text, /Blue mugs/);
  const { sellerId } = await server.store.findCredentials(FIELDS.email) ?? assert.fail();
  const { currency, locale, timeZone } = await server.store.findAccount(ownerOf(sellerId))
    ?? assert.fail();
  assert.deepEqual([currency.code, locale, timeZone], ['JPY', 'de-CH', 'Asia/Tokyo']);
  await user.submit({}, { action: '/portal/sign-out' });
  await user.follow();
  const { email, password } = FIELDS;
  assert.equal((await user.submit({ email, password })).status, 303);
});

test('rejects a wrong, used or expired code, and creates nothing', async (t) => {
  const { clock, server, invite, user } = await prepare(t);
  const used = await invite();
  await user.get('/portal/join');
  await user.submit({ ...FIELDS, code: used });
  const old = await invite();
  clock.now += FIRST_CODE_LIFE_MS;
  for (const code of ['', 'x', generateCode(), used, old]) {
    const other = new PageClient(server.port);
    await other.get('/portal/join');
    const answer = await other.submit({ ...FIELDS, email: 'bert@shop.example', code });
    assert.equal(answer.status, 422, code);
    assert.match(readText(answer.text), /This code is invalid/);
    assert.equal(other.valueOf('code'), code);
    assert.equal(other.cookies.has('__Host-session'), false);
  }
  assert.equal((await server.store.listSellers({ after: undefined, limit: 10 })).length, 1);
});

test('reports all errors at once, and keeps the code valid', async (t) => {
  const { server, invite, user } = await prepare(t);
  const { email: taken } = await openShop(server);
  const code = await invite();
  await user.get('/portal/join');
  const invalid = await user.submit({ code, name: ' ', email: 'anna', password: 'short' });
  assert.equal(invalid.status, 422);
  assert.equal(invalid.text.match(/aria-invalid="true"/g)?.length, 3);
  assert.deepEqual([user.valueOf('email'), user.valueOf('password')], ['anna', '']);
  const again = await user.submit({ ...FIELDS, email: taken, code });
  assert.match(readText(again.text), /already has an account/);
  assert.equal((await user.submit({ ...FIELDS, code })).status, 200);
});

test('hashes no password for a taken e-mail, and few for one invitation', async (t) => {
  const { server, invite, user } = await prepare(t);
  const { email } = await openShop(server);
  const code = await invite();
  const hash = t.mock.method(Passwords.prototype, 'hash');
  await user.get('/portal/join');
  for (let n = 0; n < REGISTRATIONS_PER_ADDRESS_PER_HOUR; n += 1) {
    assert.equal((await user.submit({ ...FIELDS, email, code })).status, 422);
  }
  assert.equal((await user.submit({ ...FIELDS, code })).status, 429);
  assert.equal(hash.mock.callCount(), 0);
  await user.get('/portal/join');
  assert.equal((await user.submit({ ...FIELDS, code: await invite() })).status, 200);
  assert.equal(hash.mock.callCount(), 1);
});

test('gives an e-mail to one of two people who join with it at the same time', async (t) => {
  const { server, invite } = await prepare(t);
  const answers = await Promise.all([await invite(), await invite()].map(async (code) => {
    const user = new PageClient(server.port);
    await user.get('/portal/join');
    return user.submit({ ...FIELDS, code });
  }));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 422]);
  assert.match(answers.map(({ text }) => text).join(''), /This e-mail/);
});

test('creates an account for an existing seller, without name and currency fields', async (t) => {
  const { server, invite, user } = await prepare(t);
  const { sellerId } = await server.makeSeller({ currency: 'KWD' });
  const code = await invite({ sellerId });
  await user.get('/portal/join?shop=existing');
  assert.equal(user.valueOf('name'), undefined);
  assert.equal(user.valueOf('currency'), undefined);
  const { email, password } = FIELDS;
  assert.equal((await user.submit({ code, email, password })).status, 200);
  assert.equal((await server.store.findAccount(ownerOf(sellerId)))?.email, email);
});

test('asks an invited person for a code, and reports only the code if it is wrong', async (t) => {
  for (const openRegistration of [false, true]) {
    const { server, invite, user } = await prepare(t, { openRegistration });
    const { sellerId } = await server.makeSeller(); // its name is "A shop"
    const { email, password } = FIELDS;
    await user.get('/portal/join?shop=existing');
    for (const wrong of ['', generateCode()]) {
      const answer = await user.submit({ code: wrong, email, password });
      assert.equal(answer.status, 422);
      assert.match(readText(answer.text), /Join your shop .*This code is invalid/);
      assert.doesNotMatch(answer.text, /#field-name|Must not be blank/);
    }
    const code = await invite({ sellerId, role: 'viewer' });
    const guessable = await user.submit({ code, email, password: 'A shop a SHOP' });
    assert.equal(guessable.status, 422);
    assert.match(readText(guessable.text), /Password: /);
    assert.equal((await server.store.listAccounts(sellerId)).length, 0);
  }
});

test('asks for the code first, and then for the fields that it needs', async (t) => {
  const { server, invite, user } = await prepare(t);
  const { sellerId } = await server.makeSeller();
  const signIn = await user.get('/portal/sign-in');
  assert.match(signIn.text, /href="\/portal\/join\?shop=code">Have an invitation code\?/);
  const start = () => user.get('/portal/join?shop=code');
  await start();
  assert.equal(user.valueOf('email'), undefined);
  assert.match(readText((await user.submit({ code: 'x' })).text), /This code is invalid/);

  await start();
  const code = await invite({ sellerId });
  const join = await user.submit({ code });
  assert.deepEqual([join.status, user.valueOf('code'), user.valueOf('name')],
    [200, code, undefined]);
  assert.match(join.text, /<h1>Join your shop<\/h1>/);

  await start();
  const create = await user.submit({ code: await invite() });
  assert.match(create.text, /<h1>Create your shop<\/h1>/);
  assert.equal(user.valueOf('currency'), 'EUR');
  assert.equal((await user.submit(FIELDS)).status, 200);
});

test('asks for name and currency if the code opens a new shop', async (t) => {
  const { server, invite, user } = await prepare(t);
  await server.makeSeller();
  await user.get('/portal/join?shop=existing');
  const { name, email, password } = FIELDS;
  const answer = await user.submit({ code: await invite(), email, password });
  assert.equal(answer.status, 422);
  assert.match(readText(answer.text), /opens a new shop\. Enter its name and its currency/);
  assert.equal((await user.submit({ name, password })).status, 200);
});

test('lets anyone open a shop if registration is open, up to a rate limit', async (t) => {
  const { server, user } = await prepare(t, { openRegistration: true });
  await user.get('/portal/join');
  assert.equal((await user.submit({ ...FIELDS, code: 'x' })).status, 422);
  assert.equal((await user.submit({ ...FIELDS, code: '' })).status, 200);
  const stranger = new PageClient(server.port);
  await stranger.get('/portal/join');
  let rejected = 0;
  for (let n = 0; n < REGISTRATIONS_PER_ADDRESS_PER_HOUR; n += 1) {
    const { status } = await stranger.submit(FIELDS); // the e-mail is taken, which also counts
    if (status === 429) rejected += 1;
    else assert.equal(status, 422);
  }
  assert.equal(rejected, 1);
  assert.equal((await server.store.listSellers({ after: undefined, limit: 10 })).length, 1);
});

test('redirects a signed-in user to the overview', async (t) => {
  const { server } = await prepare(t);
  const { user } = await openShop(server);
  const answer = await user.get('/portal/join');
  assert.deepEqual([answer.status, answer.headers.location], [303, '/portal']);
});
