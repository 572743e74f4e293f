/** The account: settings, e-mail, password and sessions. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { SESSION_IDLE_MS } from '../../../../src/store/limits.ts';
import { FAILED_SIGN_INS_LIMIT } from '../../../../src/features/portal/limits.ts';
import { makeClock } from '../../../support/clock.ts';
import { startServer } from '../../../support/server.ts';
import { openShop, readText, type Shop, PageClient, waitUntilSeen } from '../page-client.ts';
import { ownerOf } from '../../../support/owner.ts';

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) '
  + 'Chrome/140.0.0.0 Safari/537.36';

async function prepare(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  return { clock, server, shop: await openShop(server) };
}

/** Another browser of the owner. */
async function signIn(port: number, { email, password }: Shop, userAgent = CHROME) {
  const user = new PageClient(port);
  await user.get('/portal/sign-in');
  await user.submit({ email, password }, { headers: { 'user-agent': userAgent } });
  assert.equal(user.page?.headers.location, '/portal');
  return user;
}

function isIn(answer: { readonly status: number }): boolean {
  return answer.status === 200;
}

test('saves the settings and applies them to the pages', async (t) => {
  const { server: { store }, shop: { user, sellerId } } = await prepare(t);
  await user.get('/portal/account');
  assert.deepEqual(
    ['locale', 'time_zone'].map((name) => user.valueOf(name)),
    ['en-GB', 'Europe/Zurich'],
  );
  const answer = await user.submit({ locale: ' de-ch ', time_zone: 'asia/tokyo' });
  assert.equal(answer.headers.location, '/portal/account?done=settings');
  const page = readText((await user.follow()).text);
  assert.match(page, /Settings saved/);
  assert.match(page, /EUR 12.345\.67, .*12:04:05 GMT\+9/);
  const { locale, timeZone } = await store.findAccount(ownerOf(sellerId)) ?? {};
  assert.deepEqual([locale, timeZone], ['de-CH', 'Asia/Tokyo']);
});

test('saves the low-stock threshold of the shop, and shows it', async (t) => {
  const { server: { store }, shop: { user, sellerId } } = await prepare(t);
  await user.get('/portal/account/shop');
  assert.equal(user.valueOf('low_stock'), '5');
  const rejected = await user.submit({ low_stock: '-1' });
  assert.equal(rejected.status, 422);
  assert.match(rejected.text, /<a href="#field-low_stock">/);
  assert.equal((await store.findAccount(ownerOf(sellerId)))?.lowStock, 5);
  const answer = await user.submit({ low_stock: ' 1200 ' });
  assert.equal(answer.headers.location, '/portal/account?done=shop');
  assert.match(readText((await user.follow()).text), /settings saved.*Low-stock threshold 1,200/);
  assert.equal((await store.findAccount(ownerOf(sellerId)))?.lowStock, 1_200);
});

test('shows an error at each invalid setting, keeps the input, and saves nothing', async (t) => {
  const { server: { store }, shop: { user, sellerId } } = await prepare(t);
  const before = await store.findAccount(ownerOf(sellerId));
  await user.get('/portal/account');
  const fields = { locale: 'x"><b>', time_zone: 'Zurich' };
  const answer = await user.submit(fields);
  assert.equal(answer.status, 422);
  assert.equal(answer.text.match(/aria-invalid="true"/g)?.length, 2);
  for (const [name, value] of Object.entries(fields)) {
    assert.equal(user.valueOf(name), value);
    assert.match(answer.text, new RegExp(`<a href="#field-${name}">`));
  }
  assert.deepEqual(await store.findAccount(ownerOf(sellerId)), before);
});

test('offers all time zones on a small page', async (t) => {
  const { shop: { user } } = await prepare(t);
  const { text } = await user.get('/portal/account');
  for (const zone of ['UTC', 'Europe/Zurich', 'Pacific/Auckland']) {
    assert.ok(text.includes(`<option value="${zone}">`), zone);
  }
  assert.ok(Buffer.byteLength(text) < 50 * 1024);
});

test('changes the e-mail with the password; only the new e-mail then signs in', async (t) => {
  const { server, shop } = await prepare(t);
  const { user, email, password } = shop;
  await user.get('/portal/account/email');
  const answer = await user.submit({ email: ' New@Shop.Example', current_password: password });
  assert.equal(answer.headers.location, '/portal/account?done=email');
  assert.match(readText((await user.follow()).text), /E-mail new@ ?shop\.example/);
  await signIn(server.port, { ...shop, email: 'new@shop.example' });
  const old = new PageClient(server.port);
  await old.get('/portal/sign-in');
  assert.equal((await old.submit({ email, password })).status, 422);
});

test('rejects a taken or invalid e-mail, and any change without the password',
  async (t) => {
    const { server, shop: { user, sellerId, email, password } } = await prepare(t);
    const other = await openShop(server);
    await user.get('/portal/account/email');
    for (const [fields, error] of [
      [{ email: other.email, current_password: password }, /Another account already uses/],
      [{ email: 'anna', current_password: password }, /Enter an e-mail address/],
      [{ email: 'new@shop.example', current_password: 'wrong' }, /Incorrect password/],
    ] as const) {
      const answer = await user.submit(fields);
      assert.equal(answer.status, 422);
      assert.match(readText(answer.text), error);
      assert.equal(user.valueOf('email'), fields.email);
      assert.equal((await server.store.findAccount(ownerOf(sellerId)))?.email, email);
    }
  });

test('changes the password, signs out other browsers, and renews its own session', async (t) => {
  const { server, shop } = await prepare(t);
  const { user, email, password } = shop;
  const other = await signIn(server.port, shop);
  const before = user.cookies.get('__Host-session') ?? '';
  await user.get('/portal/account/password');
  const answer = await user.submit({
    current_password: password, new_password: 'eight purple boats',
  });
  assert.equal(answer.headers.location, '/portal/account?done=password');
  assert.ok(isIn(await user.follow()));
  assert.ok(!isIn(await other.get('/portal')));
  const stolen = new PageClient(server.port);
  stolen.cookies.set('__Host-session', before);
  assert.ok(!isIn(await stolen.get('/portal')));
  await other.get('/portal/sign-in');
  assert.equal((await other.submit({ email, password })).status, 422);
  assert.equal((await other.submit({ email, password: 'eight purple boats' })).status, 303);
});

test('rejects a weak new password, and any change without the old one', async (t) => {
  const { server, shop } = await prepare(t);
  const { user, email, password } = shop;
  const other = await signIn(server.port, shop);
  await user.get('/portal/account/password');
  for (const [fields, error] of [
    [{ current_password: password, new_password: 'tiny words' }, /Must have 12 to 256/],
    [{ current_password: password, new_password: 'a shop a shop' }, /easy to guess/],
    [{ current_password: password, new_password: email }, /easy to guess/],
    [{ current_password: 'wrong', new_password: 'eight purple boats' }, /Incorrect password/],
    [{ current_password: '', new_password: 'eight purple boats' }, /Incorrect password/],
  ] as const) {
    const answer = await user.submit(fields);
    assert.equal(answer.status, 422);
    assert.match(readText(answer.text), error);
    for (const secret of Object.values(fields)) {
      assert.ok(secret === '' || secret === email || !answer.text.includes(secret));
    }
  }
  assert.ok(isIn(await other.get('/portal')));
  await signIn(server.port, shop);
});

test('limits password guesses in a browser that was left signed in', async (t) => {
  const { server, shop } = await prepare(t);
  const { user, password } = shop;
  await user.get('/portal/account/email');
  const fields = { email: 'new@shop.example', current_password: 'wrong' };
  for (let n = 0; n < FAILED_SIGN_INS_LIMIT; n += 1) {
    assert.equal((await user.submit(fields)).status, 422);
  }
  const slowed = await user.submit({ ...fields, current_password: password });
  assert.equal(slowed.status, 429);
  assert.equal(slowed.headers['retry-after'], '90');
  for (const [path, own] of [
    ['password', { new_password: 'eight purple boats' }], ['two-factor', { code: '000000' }],
  ] as const) {
    await user.get(`/portal/account/${path}`);
    assert.equal((await user.submit({ ...own, current_password: password })).status, 429, path);
  }
  await signIn(server.port, shop); // sign-in has its own limit
});

test('changes the password when its form is submitted twice', async (t) => {
  const { server, shop } = await prepare(t);
  const { user, password } = shop;
  await user.get('/portal/account/password');
  const fields = { current_password: password, new_password: 'eight purple boats' };
  const answers = await Promise.all([user.submit(fields), user.submit(fields)]);
  assert.deepEqual(answers.map(({ status }) => status), [303, 303]);
  await signIn(server.port, { ...shop, password: fields.new_password });
});

test('changes nothing if the session ends while the password is checked', async (t) => {
  const { server, shop } = await prepare(t);
  const { store } = server;
  const before = await store.findAccount(ownerOf(shop.sellerId));
  const { findCredentials } = store;
  for (const [path, fields] of [
    ['email', { email: 'new@shop.example' }], ['password', { new_password: 'eight purple boats' }],
  ] as const) {
    const late = await signIn(server.port, shop);
    await late.get(`/portal/account/${path}`);
    t.mock.method(store, 'findCredentials', async (email: string) => {
      await store.endSessions(
        ownerOf(shop.sellerId), { allBut: 0 }, { type: 'session_ended', address: '' },
      );
      return findCredentials(email);
    }, { times: 1 });
    const answer = await late.submit({ ...fields, current_password: shop.password });
    assert.equal(answer.status, 403, path);
    assert.match(readText(answer.text), /Your session has ended\. Nothing was changed/);
    assert.deepEqual(await store.findAccount(ownerOf(shop.sellerId)), before);
    await signIn(server.port, shop); // with the unchanged password
  }
});

test('lists the sessions and marks the current browser', async (t) => {
  const { clock, server, shop } = await prepare(t);
  clock.now += 60_000;
  await signIn(server.port, shop);
  const page = readText((await shop.user.get('/portal/account/sessions')).text);
  assert.match(page, new RegExp('Chrome on Linux 127\\.0\\.0\\.1 now now .*Sign out'
    + '.*Unknown browser 127\\.0\\.0\\.1 1 minute ago .* This browser'));
  const account = readText((await shop.user.get('/portal/account')).text);
  assert.match(account, /Sessions 2 browsers/);
});

test('does not list expired sessions', async (t) => {
  const { clock, server, shop: { user, sellerId, ...shop } } = await prepare(t);
  await signIn(server.port, { user, sellerId, ...shop });
  clock.now += SESSION_IDLE_MS - 1;
  await user.get('/portal');
  await waitUntilSeen(server, sellerId, clock.now);
  clock.now += 1;
  const page = readText((await user.get('/portal/account/sessions')).text);
  assert.match(page, /This browser/);
  assert.doesNotMatch(page, /Chrome|all others/);
  assert.match(readText((await user.get('/portal/account')).text), /Sessions 1 browser /);
});

test('signs out one browser, or all others, immediately', async (t) => {
  const { server, shop } = await prepare(t);
  const { user, sellerId } = shop;
  const others = [];
  for (let n = 0; n < 3; n += 1) others.push(await signIn(server.port, shop));
  const [newest] = await server.store.listSessions(ownerOf(sellerId), 1);
  await user.get('/portal/account/sessions');
  await user.submit({ session: String(newest?.id) });
  assert.match(readText((await user.follow()).text), /Browser signed out/);
  const still = await Promise.all(others.map((other) => other.get('/portal')));
  assert.deepEqual(still.map(isIn), [true, true, false]);
  await user.submit({ session: 'others' });
  assert.match(readText((await user.follow()).text), /All other browsers signed out/);
  const left = await Promise.all(others.map((other) => other.get('/portal')));
  assert.deepEqual(left.map(isIn), [false, false, false]);
  assert.equal(user.valueOf('session'), undefined);

  const [own] = await server.store.listSessions(ownerOf(sellerId), 1);
  const csrf = user.valueOf('csrf') ?? '';
  const end = (session: string) =>
    user.post('/portal/account/sessions', new URLSearchParams({ csrf, session }));
  for (const wrong of ['', 'x', '-1', '1e3', '9'.repeat(17)]) {
    assert.equal((await end(wrong)).status, 404, wrong);
  }
  const answer = await end(String(own?.id));
  assert.equal(answer.headers.location, '/portal/sign-in');
  assert.equal(user.cookies.has('__Host-session'), false);
});

test('cannot end the session of another account', async (t) => {
  const { server, shop } = await prepare(t);
  const other = await openShop(server);
  await signIn(server.port, other);
  const [foreign] = await server.store.listSessions(ownerOf(other.sellerId), 1);
  await shop.user.get('/portal/account/sessions');
  const csrf = shop.user.valueOf('csrf') ?? '';
  await shop.user.post('/portal/account/sessions', new URLSearchParams({
    csrf, session: String(foreign?.id),
  }));
  assert.equal((await server.store.listSessions(ownerOf(other.sellerId), 10)).length, 2);
});
