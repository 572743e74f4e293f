/** The account's passkeys: added, named, removed, and confirming changes. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { PASSKEYS_PER_ACCOUNT_LIMIT } from '../../../../src/domain/limits.ts';
import { CHALLENGE_LIFE_MS } from '../../../../src/features/portal/limits.ts';
import { SoftwareAuthenticator } from '../../../support/authenticator.ts';
import { makeClock } from '../../../support/clock.ts';
import { ownerOf } from '../../../support/owner.ts';
import { startServer } from '../../../support/server.ts';
import { openShop, readText, type Shop } from '../page-client.ts';
import { addFirst, PAGE, PasskeyClient, shareSession } from '../passkey-client.ts';

/** It asks for the password, or for a passkey. */
const CONFIRMED_PAGE = '/portal/account/two-factor';

async function prepare(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock });
  return { clock, server, store: server.store, shop: await openShop(server) };
}

type Store = Awaited<ReturnType<typeof prepare>>['store'];

async function listNames(store: Store, { sellerId }: Shop): Promise<string[]> {
  return (await store.listPasskeys(ownerOf(sellerId))).map(({ name }) => name);
}

async function listTypes(store: Store, { sellerId }: Shop): Promise<string[]> {
  const events = await store.listAuditEvents(sellerId, {
    type: undefined, before: undefined, limit: 100,
  });
  return events.map(({ type }) => type);
}

test('adds a passkey after the password, and lists, renames and removes it', async (t) => {
  const { store, shop } = await prepare(t);
  const user = shareSession(shop);
  assert.match(readText((await user.get(PAGE)).text), /You have no passkey yet\./);
  assert.doesNotMatch((await user.get(CONFIRMED_PAGE)).text, /data-passkey="get"/);
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    const authenticator = new SoftwareAuthenticator(algorithm, 7);
    const answer = await user.add(shop, authenticator, `My ${algorithm} <key>`);
    assert.deepEqual([answer.status, answer.headers.location], [303, `${PAGE}?done=added`]);
  }
  const names = ['My ES256 <key>', 'My EdDSA <key>', 'My RS256 <key>'];
  assert.deepEqual(await listNames(store, shop), names);
  const [first] = await store.listPasskeys(ownerOf(shop.sellerId));
  assert.deepEqual([first?.rpId, first?.signCount, first?.transports],
    ['localhost', 7, ['hybrid', 'internal']]);
  const text = readText((await user.follow()).text);
  assert.match(text, /Passkey added\..*My ES256 <key> .* Never/);
  assert.match((await user.get(CONFIRMED_PAGE)).text, /data-passkey="get"/);

  const [one, two] = await store.listPasskeys(ownerOf(shop.sellerId));
  await user.get(`${PAGE}/${two?.id}`);
  assert.equal((await user.submit({ name: ' ' })).status, 422);
  assert.equal((await user.submit({ name: 'Phone' })).headers.location, `${PAGE}?done=renamed`);
  await user.get(`${PAGE}/${one?.id}/remove`);
  assert.equal((await user.submit({ current_password: 'a guess' })).status, 422);
  const removed = await user.submit({ current_password: shop.password });
  assert.equal(removed.headers.location, `${PAGE}?done=removed`);
  assert.deepEqual(await listNames(store, shop), ['Phone', 'My RS256 <key>']);
  const types = await listTypes(store, shop);
  assert.deepEqual(types.slice(0, 4),
    ['passkey_removed', 'passkey_added', 'passkey_added', 'passkey_added']);
});

test('requests a new passkey only after the password, with the options of WebAuthn', async (t) => {
  const { shop } = await prepare(t);
  const { user, authenticator } = await addFirst(shop);
  await user.get(`${PAGE}/new`);
  const rejected = await user.submit({ current_password: 'a guess' });
  assert.equal(rejected.status, 422);
  assert.doesNotMatch(rejected.text, /data-create/);
  await user.submit({ current_password: shop.password });
  const { challenge, encrypted, user: named, ...options } = user.readCreation();
  assert.equal(Buffer.from(challenge, 'base64url').length, 32);
  assert.doesNotMatch(encrypted, new RegExp(challenge));
  assert.deepEqual(options, {
    rpId: 'localhost', rpName: 'A shop', algorithms: [-7, -8, -257],
    excluded: [{
      id: authenticator.credentialId.toString('base64url'), transports: ['hybrid', 'internal'],
    }],
  });
  assert.deepEqual({ ...named as object, id: undefined },
    { id: undefined, name: shop.email, displayName: shop.email });
});

test('rejects a response that is late, repeated, forged or not verified', async (t) => {
  const { clock, server, store, shop } = await prepare(t);
  const user = shareSession(shop);
  const authenticator = new SoftwareAuthenticator();
  const { encrypted: other, challenge } =
    await user.fetchOptions('/portal/sign-in/passkey/options');
  for (const tampering of [
    { ask: { challenge: 'AAAA' } }, { ask: { origin: 'http://localhost:1' } },
    { ask: { crossOrigin: true } }, { ask: { rpId: 'example.com' } },
    { ask: { isVerified: false } }, { ask: { isPresent: false } },
    { ask: { type: 'webauthn.get' } },
    { ask: { challenge }, fields: { challenge: other } }, // a challenge for signing in
    { fields: { challenge: '' } }, { fields: { attestation: '' } },
    { fields: { attestation: 'oA' } }, { fields: { client_data: 'e30' } },
  ]) {
    const answer = await user.add(shop, authenticator, 'x', tampering);
    assert.equal(answer.status, 422, JSON.stringify(tampering));
    assert.match(readText(answer.text), /Nothing was added\./);
  }
  await user.get(`${PAGE}/new`);
  await user.submit({ current_password: shop.password });
  const options = user.readCreation();
  const created = authenticator.create({ challenge: options.challenge, origin: user.origin });
  const fields = {
    name: 'x', challenge: options.encrypted,
    client_data: created.clientDataJson.toString('base64url'),
    attestation: created.attestationObject.toString('base64url'),
  };
  clock.now += CHALLENGE_LIFE_MS;
  assert.match(readText((await user.send(PAGE, fields)).text), /request expired/);
  clock.now -= CHALLENGE_LIFE_MS;
  const stranger = shareSession(await openShop(server));
  await stranger.get(`${PAGE}/new`);
  assert.equal((await stranger.post(PAGE, new URLSearchParams([
    ...stranger.formOf(`${PAGE}/new`).map(([name, value]) => [name, value]),
    ...Object.entries(fields),
  ]))).status, 422);
  assert.deepEqual(await listNames(store, shop), []);

  await user.get(`${PAGE}/new`);
  await user.submit({ current_password: shop.password });
  assert.equal((await user.send(PAGE, fields)).status, 303);
  await user.get(`${PAGE}/new`);
  await user.submit({ current_password: shop.password });
  assert.match(readText((await user.send(PAGE, fields)).text), /request expired/);
  assert.match(readText((await user.add(shop, authenticator)).text), /was added before/);
  assert.deepEqual(await listNames(store, shop), ['x']);
});

test('names a passkey after the browser if the name is invalid', async (t) => {
  const { store, shop } = await prepare(t);
  const user = shareSession(shop);
  assert.equal((await user.add(shop, new SoftwareAuthenticator(), 'x'.repeat(61))).status, 303);
  assert.deepEqual(await listNames(store, shop), ['Unknown browser']);
});

test('limits the number of passkeys', async (t) => {
  const { store, shop } = await prepare(t);
  const user = shareSession(shop);
  for (let n = 0; n < PASSKEYS_PER_ACCOUNT_LIMIT; n += 1) {
    await store.addPasskey(ownerOf(shop.sellerId), {
      name: 'x', rpId: 'localhost', signCount: 0, transports: [],
      credentialId: Buffer.from([n]).toString('base64url'), publicKey: 'AA',
    }, {});
  }
  await user.get(`${PAGE}/new`);
  const answer = await user.submit({ current_password: shop.password });
  assert.equal(answer.status, 409);
  assert.match(readText(answer.text), /maximum of 20 passkeys/);
});

test('offers no passkeys at an IP address, and links to localhost', async (t) => {
  const { server, shop } = await prepare(t);
  await addFirst(shop);
  const { text } = await shop.user.get(PAGE);
  assert.match(text, new RegExp(`open it as <code>http://localhost:${server.port}${PAGE}</code>`));
  assert.match(readText(text), /Laptop Only at localhost/);
  assert.doesNotMatch(text, /Add a passkey/);
  for (const path of ['/new', '/options']) {
    assert.equal((await shop.user.get(`${PAGE}${path}`)).status, 404);
  }
  assert.equal((await shop.user.get('/portal/sign-in/passkey/options')).status, 404);
});

test('confirms a change with a passkey instead of the password', async (t) => {
  const { server, store, shop } = await prepare(t);
  const { user, authenticator } = await addFirst(shop, new SoftwareAuthenticator('ES256', 1));
  const account = ownerOf(shop.sellerId);
  const path = '/portal/account/email';
  assert.match((await user.get(path)).text, /Use a passkey instead/);
  const stranger = await addFirst(await openShop(server));
  const options = () => user.fetchOptions(`${PAGE}/options`);
  const email = 'new@shop.example';
  for (const wrong of [
    user.use(await options(), stranger.authenticator, account),
    user.use(await options(), authenticator, account, { ask: { isVerified: false } }),
    user.use(await user.fetchOptions('/portal/sign-in/passkey/options'), authenticator, account),
    user.use(await stranger.user.fetchOptions(`${PAGE}/options`), authenticator, account),
    { ...user.use(await options(), authenticator, account), user_handle: 'AAAA' },
  ]) {
    await user.get(path);
    const answer = await user.send(path, { email, ...wrong });
    assert.equal(answer.status, 422);
    assert.match(answer.text, /id="field-current_password-fault"|href="#field-current_password"/);
  }
  const right = user.use(await options(), authenticator, account);
  await user.get(path);
  assert.equal((await user.send(path, { email, ...right })).status, 303);
  assert.equal((await store.findAccount(account))?.email, email);
  await user.get(path);
  assert.equal((await user.send(path, { email: 'other@shop.example', ...right })).status, 422);
  const [passkey] = await store.listPasskeys(account);
  assert.equal(passkey?.signCount, authenticator.signCount - 1);
  authenticator.signCount = 1;
  await user.get(path);
  const again = user.use(await options(), authenticator, account);
  const copied = await user.send(path, { email, ...again });
  assert.match(readText(copied.text), /may have been copied/);
});

test("does not show, rename or remove another seller's passkeys", async (t) => {
  const { server, store, shop } = await prepare(t);
  await addFirst(shop);
  const other = shareSession(await openShop(server));
  const [passkey] = await store.listPasskeys(ownerOf(shop.sellerId));
  const path = `${PAGE}/${passkey?.id}`;
  for (const foreign of [path, `${path}/remove`, `${PAGE}/x`]) {
    assert.equal((await other.get(foreign)).status, 404, foreign);
  }
  assert.deepEqual(await listNames(store, shop), ['Laptop']);
  const { allowed } = await other.fetchOptions(`${PAGE}/options`) as unknown as
    { readonly allowed: unknown };
  assert.deepEqual(allowed, []);
});

test('turns the password off and on again, with a passkey that works here', async (t) => {
  const { store, shop } = await prepare(t);
  const path = '/portal/account/password-sign-in';
  const user = shareSession(shop);
  const account = ownerOf(shop.sellerId);
  const confirm = async (authenticator: SoftwareAuthenticator): Promise<number> => {
    const options = await user.fetchOptions(`${PAGE}/options`);
    await user.get(path);
    return (await user.send(path, user.use(options, authenticator, account))).status;
  };
  const isOff = async () => (await store.findAccount(ownerOf(shop.sellerId)))?.isPasswordOff;
  const other = new SoftwareAuthenticator();
  assert.equal(await confirm(other), 422); // without a passkey
  const { authenticator } = await addFirst(shop);
  // At an IP address passkeys do not work.
  assert.equal((await shop.user.get(path)).status, 404);
  assert.equal(await confirm(other), 422);
  const page = await user.get(path);
  assert.doesNotMatch(page.text, /type="password"/);
  assert.match(page.text, />Turn off with a passkey</);
  // A passkey that works, not the password, shows that the password is not needed.
  assert.equal((await user.send(path, { current_password: shop.password })).status, 422);
  assert.equal(await isOff(), false);
  assert.equal(await confirm(authenticator), 303);
  assert.equal(await isOff(), true);
  assert.match(readText((await user.follow()).text), /Off: you sign in with passkeys only\./);
  const [passkey] = await store.listPasskeys(ownerOf(shop.sellerId));
  await user.get(`${PAGE}/${passkey?.id}/remove`);
  const rejected = await user.submit({ current_password: shop.password });
  assert.equal(rejected.status, 409);
  await store.addPasskey(ownerOf(shop.sellerId), {
    name: 'Elsewhere', rpId: 'shop.example', signCount: 0, transports: [], credentialId: 'AAAA',
    publicKey: 'AAAA',
  }, {});
  await user.get(`${PAGE}/${passkey?.id}/remove`);
  const last = await user.submit({ current_password: shop.password });
  assert.match(readText(last.text), /your only passkey for this address/);
  // The password that is off neither turns itself on nor adds a passkey that would.
  await user.get(path);
  const own = await user.send(path, { current_password: shop.password });
  assert.match(readText(own.text), /Confirm this with one of your passkeys\./);
  await user.get(`${PAGE}/new`);
  assert.equal((await user.send(`${PAGE}/new`, { current_password: shop.password })).status, 422);
  assert.equal(await isOff(), true);
  assert.equal(await confirm(authenticator), 303);
  assert.equal(await isOff(), false);
  const types = (await listTypes(store, shop)).filter((type) => type.startsWith('password'));
  assert.deepEqual(types, ['password_sign_in_enabled', 'password_sign_in_disabled']);
});

test('says without scripts that passkeys need them', async (t) => {
  const { shop } = await prepare(t);
  const { text } = await shareSession(shop).get(PAGE);
  assert.match(text, /<noscript><p class="notice low">Adding and using passkeys needs JavaScript/);
  const { text: signIn } = await new PasskeyClient(shop.user.port).get('/portal/sign-in');
  assert.match(signIn, /<noscript><p class="hint">Signing in with a passkey needs JavaScript/);
  assert.match(signIn, /name="password"/);
});
