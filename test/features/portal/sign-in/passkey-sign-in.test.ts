/** Signing in with a passkey, and with a password that is turned off. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { generateTotpSecret } from '../../../../src/domain/access/totp.ts';
import type { AccountId } from '../../../../src/domain/id.ts';
import {
  CHALLENGE_LIFE_MS, FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE,
} from '../../../../src/features/portal/limits.ts';
import { SoftwareAuthenticator } from '../../../support/authenticator.ts';
import { makeClock } from '../../../support/clock.ts';
import { ownerOf } from '../../../support/owner.ts';
import { startServer } from '../../../support/server.ts';
import { openShop, PageClient, readText, type Shop } from '../page-client.ts';
import { addFirst, PasskeyClient } from '../passkey-client.ts';

const PATH = '/portal/sign-in/passkey';
const OPTIONS = `${PATH}/options`;

async function prepare(t: TestContext, authenticator = new SoftwareAuthenticator()) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  const shop = await openShop(server);
  await addFirst(shop, authenticator);
  return { clock, server, store: server.store, shop, authenticator };
}

/** The logged subjects of failed sign-ins, which are logged after the response. */
async function listRejections(
  { store }: Pick<Awaited<ReturnType<typeof prepare>>, 'store'>, { sellerId }: Shop,
): Promise<string[]> {
  for (;;) {
    const query = { type: 'sign_in_refused', before: undefined, limit: 100 } as const;
    const events = await store.listAuditEvents(sellerId, query);
    if (events.length > 0) return events.map(({ subject }) => subject);
    await new Promise((resolve) => { setImmediate(resolve); });
  }
}

test('signs in with a passkey of each algorithm, and opens the requested page', async (t) => {
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    const { server, shop, authenticator } =
      await prepare(t, new SoftwareAuthenticator(algorithm, 1));
    for (let n = 0; n < 2; n += 1) {
      const user = new PasskeyClient(server.port);
      const answer = await user.signIn(shop, authenticator, { to: '?to=/activity' });
      assert.deepEqual([answer.status, answer.headers.location], [303, '/portal/activity']);
      const { text } = await user.follow();
      assert.match(readText(text), /Signed in with a passkey .* Laptop, Unknown browser/);
    }
  }
});

test('counts as both factors: no code is asked for', async (t) => {
  const { server, store, shop, authenticator } = await prepare(t);
  const totp = { secret: generateTotpSecret(), step: 0, recoveryHashes: [] };
  await store.enableTotp(ownerOf(shop.sellerId), totp, {});
  const user = new PasskeyClient(server.port);
  assert.equal((await user.signIn(shop, authenticator)).headers.location, '/portal');
  assert.equal((await user.follow()).status, 200);
});

test('requests any passkey of this host, with a new challenge each time', async (t) => {
  const { server } = await prepare(t);
  const user = new PasskeyClient(server.port);
  await user.get('/portal/sign-in');
  const [one, two] = [await user.fetchOptions(OPTIONS), await user.fetchOptions(OPTIONS)];
  const { challenge, encrypted, ...rest } = one;
  assert.deepEqual(rest, { rpId: 'localhost', allowed: [], lifeMs: CHALLENGE_LIFE_MS });
  assert.notEqual(challenge, two.challenge);
  const { headers } = await user.get(OPTIONS);
  assert.deepEqual([headers['content-type'], headers['cache-control']],
    ['application/json', 'no-store']);
  // A failed attempt leaves this path in the address bar.
  assert.equal((await user.get(PATH)).headers.location, '/portal/sign-in');
});

test('accepts only a response of a passkey of the account to this challenge', async (t) => {
  const { server, store, shop, authenticator } = await prepare(t);
  const other = await openShop(server);
  const { authenticator: foreign } = await addFirst(other);
  const unknown = { ...ownerOf(shop.sellerId), accountId: 99 as AccountId };
  const handle = (text: string) => Buffer.from(text).toString('base64url');
  const nobody = new PasskeyClient(server.port);
  for (const tampering of [
    { ask: { challenge: 'AAAA' } }, { ask: { origin: 'http://127.0.0.1' } },
    { ask: { crossOrigin: true } }, { ask: { rpId: '127.0.0.1' } },
    { ask: { isVerified: false } }, { ask: { isPresent: false } },
    { ask: { type: 'webauthn.create' } },
    { fields: { signature: 'AAAA' } }, { fields: { authenticator_data: '' } },
    { fields: { client_data: '' } }, { fields: { credential_id: '' } },
    { fields: { user_handle: '' } }, { fields: { user_handle: handle('sel_00000000000.1') } },
    { fields: { challenge: 'AAAA' } },
  ]) {
    const user = new PasskeyClient(server.port);
    const answer = await user.signIn(shop, authenticator, tampering);
    assert.equal(answer.status, 422, JSON.stringify(tampering));
    assert.equal(user.cookies.has('__Host-session'), false);
  }
  for (const [account, key] of [
    [shop, foreign], [other, authenticator], [shop, new SoftwareAuthenticator()],
  ] as const) {
    const answer = await nobody.signIn(account, key);
    assert.equal(answer.status, 422);
    assert.match(readText(answer.text), /is not registered here/);
  }
  await nobody.get('/portal/sign-in');
  const fields = nobody.use(await nobody.fetchOptions(OPTIONS), authenticator, unknown);
  assert.match(readText((await nobody.send(PATH, fields)).text), /is not registered here/);
  const subject = `Passkey of ${shop.email} not accepted`;
  assert.deepEqual(await listRejections({ store }, shop), [subject]); // one a minute is logged
});

test('accepts a challenge once, before it expires, and from its browser only', async (t) => {
  const { clock, server, shop, authenticator } = await prepare(t);
  const account = ownerOf(shop.sellerId);
  const late = /request expired/;
  const user = new PasskeyClient(server.port);
  await user.get('/portal/sign-in');
  const fields = user.use(await user.fetchOptions(OPTIONS), authenticator, account);
  const visit = user.cookies.get('__Host-visit') ?? '';

  const thief = new PasskeyClient(server.port);
  await thief.get('/portal/sign-in');
  assert.match(readText((await thief.send(PATH, fields)).text), late);
  assert.equal((await user.send(PATH, fields)).status, 303);
  const again = new PasskeyClient(server.port);
  again.cookies.set('__Host-visit', visit);
  await again.get('/portal/sign-in');
  assert.match(readText((await again.send(PATH, fields)).text), late);
  clock.now += CHALLENGE_LIFE_MS - 1;
  assert.match(readText((await again.send(PATH, fields)).text), late);

  const expired = again.use(await again.fetchOptions(OPTIONS), authenticator, account);
  clock.now += CHALLENGE_LIFE_MS;
  assert.match(readText((await again.send(PATH, expired)).text), late);
  assert.equal(again.cookies.has('__Host-session'), false);
});

test('rejects a signature counter that does not increase, and logs it', async (t) => {
  const { server, store, shop, authenticator } =
    await prepare(t, new SoftwareAuthenticator('ES256', 5));
  const user = new PasskeyClient(server.port);
  assert.equal((await user.signIn(shop, authenticator)).status, 303);
  authenticator.signCount = 6; // as a cloned authenticator would send
  const copy = new PasskeyClient(server.port);
  const answer = await copy.signIn(shop, authenticator);
  assert.equal(answer.status, 422);
  assert.match(readText(answer.text), /may have been copied/);
  assert.equal(copy.cookies.has('__Host-session'), false);
  const [subject = ''] = await listRejections({ store }, shop);
  assert.match(subject, /Signature counter of passkey Laptop/);
});

test('limits failed attempts per address, but not per account', async (t) => {
  const { server, shop, authenticator } = await prepare(t);
  const stranger = new PasskeyClient(server.port);
  await stranger.get('/portal/sign-in');
  const wrong = { credential_id: 'AAAA', user_handle: '', challenge: '' };
  for (let n = 0; n < FAILED_SIGN_INS_PER_ADDRESS_PER_MINUTE; n += 1) {
    assert.equal((await stranger.send(PATH, wrong)).status, 422);
    await stranger.get('/portal/sign-in');
  }
  assert.equal((await stranger.send(PATH, wrong)).status, 429);
  const owner = new PasskeyClient(server.port);
  for (const [name, value] of shop.user.cookies) {
    if (name === '__Host-device') owner.cookies.set(name, value);
  }
  assert.equal((await owner.signIn(shop, authenticator)).status, 303);
});

test('rejects a passkey of a disabled shop', async (t) => {
  const { server, store, shop, authenticator } = await prepare(t);
  await store.setSellerDisabled(shop.sellerId, true);
  const user = new PasskeyClient(server.port);
  assert.equal((await user.signIn(shop, authenticator)).status, 422);
});

test('returns to the draft of a form whose session has ended', async (t) => {
  const { server, store, shop, authenticator } = await prepare(t);
  const user = new PasskeyClient(server.port);
  await user.signIn(shop, authenticator);
  await user.get('/portal/products/new');
  await store.endSessions(
    ownerOf(shop.sellerId), { allBut: 0 }, { type: 'session_ended', address: '' },
  );
  assert.equal((await user.submit({ name: 'Mug of the draft' })).status, 403);
  const fields = user.use(
    await user.fetchOptions(OPTIONS), authenticator, ownerOf(shop.sellerId),
  );
  const answer = await user.send(PATH, fields);
  assert.equal(answer.status, 200);
  assert.match(answer.text, /value="Mug of the draft"/);
});

test('treats a password that is turned off like a wrong one', async (t) => {
  const { server, store, shop, authenticator } = await prepare(t);
  await store.setPasswordOff(ownerOf(shop.sellerId), true, {});
  const sign = async (password: string) => {
    const user = new PageClient(server.port);
    await user.get('/portal/sign-in');
    const { status, text } = await user.submit({ email: shop.email, password });
    assert.equal(user.cookies.has('__Host-session'), false);
    return { status, text: readText(text) };
  };
  const [right, wrong] = [await sign(shop.password), await sign('a guess')];
  assert.deepEqual(right, wrong);
  assert.match(right.text, /Incorrect e-mail or password\./);
  // Passkeys do not work at an IP address, so the page names one where they do.
  assert.match(right.text, new RegExp(
    `open it as http://localhost:${server.port}/portal/sign-in instead`));
  const subject = `Password (turned off) for ${shop.email}`;
  assert.deepEqual(await listRejections({ store }, shop), [subject]);
  const user = new PasskeyClient(server.port);
  assert.equal((await user.signIn(shop, authenticator)).status, 303);
});
