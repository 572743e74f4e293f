/** Every page and form of the portal, with ids of another shop and with unknown ids. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { generateApiKey } from '../../../src/domain/access/api-key.ts';
import {
  formatImportId, formatKeyId, formatProductId, formatWebhookId, type ImportId, type KeyId,
  type ProductId, type WebhookId,
} from '../../../src/domain/id.ts';
import type { PageRoute } from '../../../src/features/portal/route.ts';
import { routes } from '../../../src/features/portal/routes.ts';
import { Watch } from '../../fuzz/watch.ts';
import { assertAlike } from '../../support/alike.ts';
import { eventually } from '../../store/contract/fixture.ts';
import { makeInvitation, makeSecretHash } from '../../store/contract/portal-fixture.ts';
import { makeClock } from '../../support/clock.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { FILE_NAME } from '../../store/sqlite/engine/read-file.ts';
import { addColleague } from './colleague.ts';
import { HEADER } from './imports/setup.ts';
import { openShop, type Shop } from './page-client.ts';
import { assertButtons, assertNoPositions } from './page-rules.ts';
import { ownerOf } from '../../support/owner.ts';

/** In all texts of the other shop, and in no request. */
const MARK = 'a-mark-of-the-other';
const LATE = 1_900_000_000_000_000;

/** The ids and texts that a request can contain: of the other shop, or unknown ones. */
interface Names {
  readonly product: string;
  readonly import: string;
  readonly import_id: string;
  readonly key_id: string;
  readonly webhook_id: string;
  /** The position of a change. Each shop has its own positions. */
  readonly position: string;
  readonly session: string;
  readonly passkey_id: string;
  readonly email: string;
  readonly sku: string;
  readonly url: string;
  readonly secret: string;
  readonly api_key: string;
  readonly account_id: string;
  readonly invitation: string;
}

/** Pages that are the same for all shops. */
const SHARED = new Set(['/assets/{digest}/{name}', '/api/{operation}', '/reports/{report}']);
/** Query parameters with ids. Pages ignore parameters that they do not know. */
const QUERIES: readonly (readonly [name: keyof Names, parameter: string])[] = [
  ['sku', 'q'], ['sku', 'sku'], ['product', 'id'], ['product', 'product'], ['key_id', 'key'],
  ['session', 'session'], ['email', 'email'], ['product', 'cursor'], ['webhook_id', 'webhook'],
  ['import', 'import'], ['import_id', 'import'], ['import_id', 'before'], ['session', 'before'],
  ['sku', 'category'], ['url', 'to'],
];

type Fields = Readonly<Record<string, string>>;
type Naming = readonly [name: keyof Names, makeFields: (value: string) => Fields];

const product = { name: 'a', category: 'b', price: '1', stock: '2' };
const wrong = { current_password: 'not the password at all' };

/** Fields with ids, for forms without an id in the path. Each new form needs a line. */
const FORMS: Readonly<Record<string, Naming>> = {
  '/join': ['email', (email) => ({ code: 'x', email, password: 'seven red boats', name: 'a' })],
  '/sign-in': ['email', (email) => ({ email, password: wrong.current_password })],
  '/sign-in/code': ['secret', () => ({ code: '000000' })],
  '/theme': ['url', (back) => ({ theme: 'dark', back })],
  '/start': ['session', (session) => ({ tour: 'hidden', session })],
  '/import/sample': ['import', (id) => ({ id })],
  '/sign-in/passkey': ['email', (email) => ({ email, credential_id: 'AAAA' })],
  '/sign-out': ['session', (session) => ({ session })],
  '/account': ['email', (email) => ({ email, locale: 'de', time_zone: 'UTC' })],
  '/account/shop': ['email', (email) => ({ email, low_stock: '1' })],
  // With the wrong password: after the right one, the page has to say that an e-mail is taken.
  '/account/email': ['email', (email) => ({ email, ...wrong })],
  '/account/password': ['email', (email) => ({ email, new_password: 'seven red boats', ...wrong })],
  '/account/two-factor': ['secret', (secret) => ({ secret, code: '000000', ...wrong })],
  '/account/two-factor/codes': ['email', (email) => ({ email, ...wrong })],
  '/account/two-factor/off': ['email', (email) => ({ email, ...wrong })],
  '/account/passkeys': ['email', (email) => ({ email, name: 'a', attestation: 'AAAA' })],
  '/account/passkeys/new': ['email', (email) => ({ email, ...wrong })],
  '/account/password-sign-in': ['email', (email) => ({ email, is_off: 'yes', ...wrong })],
  '/account/sessions': ['session', (session) => ({ session })],
  '/import': ['sku', (sku) => ({ file: `${HEADER}a,b,${sku},1,2\n` })],
  '/filters': ['sku', (sku) => ({ list: 'products', filter_name: sku, query: `q=${sku}` })],
  '/filters/delete': ['sku', (sku) => ({ list: 'products', filter_name: sku, query: '' })],
  '/account/name': ['sku', (name) => ({ name })],
  '/people/new': ['sku', (name) => ({ name, role: 'none' })],
  '/people/two-factor': ['email', (email) => ({ email, is_required: 'yes', ...wrong })],
  '/keys/find': ['api_key', (key) => ({ key })],
  '/leaked': ['api_key', (key) => ({ key })],
  '/keys/new': ['sku', (name) => ({ name, scopes: 'products:read', expires: 'never' })],
  '/products/selection': ['product', (page) => ({ page, row: '0', action: 'delete' })],
  '/products/grid': ['product', (id) => ({ row: `${id} 1 100`, stock: '5', price: '2' })],
  '/categories/rename': ['sku', (from) => ({ from, to: 'a' })],
  '/products/new': ['sku', (sku) => ({ ...product, sku })],
  '/webhooks/new': ['url', (url) => ({ url, types: 'stock' })],
};

async function prepare(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, {
    portal: true, clock, webhooks: { allowPrivate: true, allowHttp: true },
  });
  const other = await openShop(server, { name: MARK, email: 'theirs@shop.example' });
  const theirs = await fill(server, other);
  clock.now += 60_000; // ids of later sessions are others
  const shop = await openShop(server);
  const { sellerId } = shop;
  const absent: Names = {
    product: formatProductId(sellerId, LATE as ProductId),
    key_id: formatKeyId({ sellerId, keyId: LATE as KeyId }),
    webhook_id: formatWebhookId({ sellerId, id: LATE as WebhookId }),
    import: `${theirs.import.slice(0, -1)}${theirs.import.endsWith('0') ? '1' : '0'}`,
    import_id: formatImportId(sellerId, LATE as ImportId),
    position: '9999999', passkey_id: String(LATE), session: String(LATE),
    email: 'nobody@shop.example',
    sku: 'nobody-1', secret: 'x',
    url: 'http://127.0.0.1:9/nobodys', api_key: generateApiKey(),
    account_id: '7777777', invitation: '0'.repeat(64),
  };
  const watch = new Watch(server.folder);
  t.after(() => watch.close());
  return { server, shop, other, theirs, absent, watch };
}

/** Creates one object of every kind in a shop. */
async function fill(server: TestServer, shop: Shop): Promise<Names> {
  const { store } = server;
  const { send, user, sellerId, key: secretKey } = shop;
  const headers = { 'content-type': 'application/json' };
  const url = 'http://127.0.0.1:9/theirs-1';
  const post = (path: string, body: unknown) =>
    send({ method: 'POST', path: `/api/v1${path}`, headers, body: JSON.stringify(body) });
  const made = await post('/products', {
    name: MARK, category: MARK, sku: 'theirs-1', price: 1, stock: 2,
  });
  const synced = await post('/stock', { changes: [{ sku: 'theirs-1', set: 3 }] });
  const { id } = (await post('/webhooks', { url, description: MARK })).json();
  await post(`/webhooks/${id}/test`, undefined);
  const body = '{"status":"disabled"}';
  await send({ method: 'PATCH', path: `/api/v1/webhooks/${id}`, headers, body });
  await user.get('/portal/import');
  const file = new File([`${HEADER}${MARK},b,theirs-2,1,2\n`], `${MARK}.csv`);
  const { headers: { location = '' } } = await user.submit({ file });
  await user.get('/portal/account/two-factor');
  const secret = user.valueOf('secret') ?? '';
  assert.notEqual(secret, '');
  const [key] = await store.listKeys(sellerId, { after: undefined, limit: 1 });
  const [session] = await store.listSessions(ownerOf(sellerId), 1);
  skipAccounts(server.folder);
  const { account } = await addColleague(server, shop, 'viewer', MARK);
  const invitation = makeSecretHash();
  await store.createInvitation(invitation, makeInvitation({ sellerId, expiresAt: LATE }));
  await store.addPasskey(ownerOf(sellerId), {
    name: MARK, rpId: 'localhost', signCount: 0, transports: [], credentialId: 'AAAA',
    publicKey: 'AAAA',
  }, {});
  const [passkey] = await store.listPasskeys(ownerOf(sellerId));
  return {
    product: made.json().id, webhook_id: id, import: location.split('/').at(-1) ?? '', secret,
    key_id: formatKeyId({ sellerId, keyId: key?.id ?? assert.fail() }), sku: 'theirs-1', url,
    api_key: secretKey, account_id: String(account.accountId), invitation,
    import_id: synced.json().import,
    position: '8888888', passkey_id: String(passkey?.id), session: String(session?.id),
    email: 'theirs@shop.example',
  };
}

/** Account ids count from 1: makes the next one a number that occurs nowhere else on a page. */
function skipAccounts(folder: string): void {
  const db = new DatabaseSync(join(folder, FILE_NAME), { timeout: 5_000 });
  db.exec('UPDATE seller SET last_account_id = 6666665');
  db.close();
}

/** The kind of object that a path parameter identifies. */
function nameOf({ path }: PageRoute): keyof Names | undefined {
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? [];
  if (parameter === undefined) return undefined;
  if (parameter !== 'id') return parameter as keyof Names; // the cast: tested by its use below
  return path.startsWith('/import') ? 'import' : 'product';
}

/** Requests to a route with a given id or text, as its pages send them. */
function listAsks(route: PageRoute, { user }: Shop, csrf: string) {
  const named = nameOf(route);
  const path = (value: string) => `/portal${route.path}`.replace(/\/$/, '')
    .replace(/\{\w+\}/, encodeURIComponent(value)).replace('{n}', '1');
  if (route.method === 'GET') {
    if (named !== undefined) return [[named, (value: string) => user.get(path(value))] as const];
    return QUERIES.map(([name, parameter]) => [name, (value: string) =>
      user.get(`${path('')}?${parameter}=${encodeURIComponent(value)}`)] as const);
  }
  const [name, makeFields] = named === undefined
    ? FORMS[route.path] ?? assert.fail(`No case in FORMS for ${route.path}`)
    : [named, () => ({ ...product, overlap: '24h', position: '0', status: 'disabled', url: '' })];
  return [[name, (value: string) => {
    const fields = { csrf, once: randomUUID(), ...makeFields(value) };
    const form = route.access === 'upload' ? new FormData() : new URLSearchParams();
    for (const [field, text] of Object.entries(fields)) {
      const isFile = field === 'file' && form instanceof FormData;
      if (isFile) form.append(field, new File([text], 'a.csv'));
      else form.append(field, text);
    }
    return user.post(path(value), form);
  }] as const];
}

test('responds identically to ids of another shop and to unknown ids, on every page', async (t) => {
  const { server, shop: own, other, theirs, absent, watch } = await prepare(t);
  let before = watch.digestSeller(other.sellerId);
  let shop = own;
  let [asked, openedAt] = [0, 0];
  // Paths with parameters first, and reads before writes, since other requests create data.
  const inOrder = routes.toSorted((a, b) =>
    b.path.indexOf('{') - a.path.indexOf('{') || a.method.localeCompare(b.method));
  for (const route of inOrder) {
    if (SHARED.has(route.path) || route.path === '/live') continue;
    // Some requests end the session, and each session is rate limited.
    if (asked > openedAt + 100 || (await shop.user.get('/portal')).status !== 200) {
      [shop, openedAt] = [await openShop(server, { name: 'Own shop' }), asked];
      await shop.user.get('/portal');
    }
    const csrf = shop.user.valueOf('csrf') ?? '';
    for (const [name, ask] of listAsks(route, shop, csrf)) {
      const cookies = new Map(shop.user.cookies);
      const foreign = await ask(theirs[name]);
      shop.user.cookies.clear();
      for (const [cookie, value] of cookies) shop.user.cookies.set(cookie, value);
      const unknown = await ask(absent[name]);
      const context = `${route.method} ${route.path} naming the ${name}`;
      if (route.path !== '/sign-out') {
        assertAlike(foreign, unknown, [theirs[name], absent[name]], context);
      }
      const isNamed = route.path.includes('{');
      assert.ok(!isNamed || foreign.status === 404, `${context}: ${foreign.text}`);
      assert.ok(!foreign.text.includes(MARK), `${context} shows data of another shop`);
      asked += 1;
    }
    if (route.path === '/sign-in' && route.method === 'POST') {
      // The shop's audit log records the attempt, after the response.
      await eventually(() => assert.notEqual(watch.digestSeller(other.sellerId), before));
      before = watch.digestSeller(other.sellerId);
    }
    const isSame = watch.digestSeller(other.sellerId) === before;
    assert.ok(isSame, `${route.method} ${route.path} changed data`);
  }
  assert.ok(asked > routes.length, String(asked));
});

test('shows a shop what it hides from others', async (t) => {
  const { other: { user }, theirs, absent } = await prepare(t);
  for (const route of routes) {
    const name = nameOf(route);
    if (name === undefined || route.method !== 'GET' || SHARED.has(route.path)) continue;
    const path = (names: Names) => `/portal${route.path}`
      .replace(/\{\w+\}/, names[name]).replace('{n}', '1');
    const { status, text } = await user.get(path(theirs));
    // The import has no rejected rows yet.
    assert.ok(status === 200 || route.path.endsWith('/rejected'), `${route.path}: ${status}`);
    assertButtons(text);
    assertNoPositions(text);
    assert.equal((await user.get(path(absent))).status, 404, route.path);
  }
});
