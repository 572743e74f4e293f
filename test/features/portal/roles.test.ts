/** The permissions of each role, on every page and every form, including forged ones. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { includesRole, type Role, ROLES } from '../../../src/domain/access/account.ts';
import { formatKeyId, formatProductId, formatWebhookId } from '../../../src/domain/id.ts';
import { ownerOf } from '../../support/owner.ts';
import type { PageRoute } from '../../../src/features/portal/route.ts';
import { routes } from '../../../src/features/portal/routes.ts';
import { makeClock } from '../../support/clock.ts';
import { startServer } from '../../support/server.ts';
import { makeNewProduct } from '../../store/contract/fixture.ts';
import { makeNewWebhook } from '../../store/contract/webhooks.ts';
import { readTables } from '../../store/sqlite/engine/read-file.ts';
import { addColleague } from './colleague.ts';
import { HEADER } from './imports/setup.ts';
import { openShop, type PageClient, readText } from './page-client.ts';

type OwnRoute = Exclude<PageRoute, { readonly access: 'public' }>;

const OWN = routes.filter((route): route is OwnRoute => route.access !== 'public');
const NEEDS = /Your role does not allow this .* needs the role (?:Owner|Editor)/;
/** Valid fields for all forms, so that only the role decides. */
const FIELDS = {
  name: 'Changed', category: 'Changed', sku: 'CHANGED', price: '9', stock: '9', low_stock: '9',
  quantity: '9', adjust: '9', confirm: 'true', role: 'owner', scopes: 'products:read', overlap: '0',
  url: 'https://changed.example/', types: 'stock', status: 'disabled', position: '0',
  expires: '', once: '12345678-1234-1234-1234-123456789abc',
};

async function prepare(t: TestContext) {
  const server = await startServer(t, { portal: true, clock: makeClock() });
  const { store } = server;
  const shop = await openShop(server);
  const { sellerId } = shop;
  const [key] = await store.listKeys(sellerId, { after: undefined, limit: 1 });
  assert.ok(key);
  const actor = { sellerId, keyId: key.id };
  const product = await store.createProduct(actor, makeNewProduct());
  const { webhook } = await store.createWebhook(actor, makeNewWebhook());
  await shop.user.get('/portal/import');
  const file = new File([`${HEADER}Mug,Kitchen,NEW-1,1,2\n`], 'new.csv');
  await shop.user.submit({ file });
  const job = /\/import\/([^/?]+)/.exec(shop.user.page?.headers.location ?? '')?.[1] ?? '';
  const ids: Readonly<Record<string, string>> = {
    key_id: formatKeyId(actor), webhook_id: formatWebhookId(webhook), position: '1', n: '1',
    account_id: '1', operation: 'listProducts',
  };
  const pathOf = ({ path }: OwnRoute): string => `/portal${path === '/' ? '' : path}`
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name]
      ?? (path.startsWith('/import/') ? job : formatProductId(sellerId, product.id)));
  return { server, shop, pathOf };
}

/** Sends the request of a route, with this form token. */
async function use(user: PageClient, { method, access }: OwnRoute, path: string, csrf: string) {
  if (method === 'GET') return user.get(path);
  const fields = Object.entries({ csrf, ...FIELDS });
  if (access === 'signed-in') return user.post(path, new URLSearchParams(fields));
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  form.append('file', new File([`${HEADER}Mug,Kitchen,NEW-2,1,2\n`], 'late.csv'));
  return user.post(path, form);
}

for (const role of ROLES.filter((one) => one !== 'owner')) {
  test(`denies the role ${role} every page and form of other roles`, async (t) => {
    const { server, shop, pathOf } = await prepare(t);
    const { user } = await addColleague(server, shop, role);
    await shop.user.get('/portal/account');
    const foreign = shop.user.valueOf('csrf') ?? '';
    await user.get('/portal/account');
    const csrf = user.valueOf('csrf') ?? '';
    const before = readTables(server.folder);
    const denied = OWN.filter((route) => !includesRole(role, route.role));
    assert.ok(denied.length > 20);
    for (const route of denied) {
      const path = pathOf(route);
      const answer = await use(user, route, path, csrf);
      assert.equal(answer.status, 403, `${route.method} ${path}`);
      assert.match(readText(answer.text), NEEDS, `${route.method} ${path}`);
      // A forged form gets the same status with any token.
      for (const token of route.method === 'POST' ? ['', foreign] : []) {
        assert.equal((await use(user, route, path, token)).status, 403, path);
      }
    }
    assert.deepEqual(readTables(server.folder), before);
    assert.deepEqual(server.reports, []);
  });
}

for (const role of ROLES) {
  test(`lets the role ${role} use its pages and forms, and offers no others`, async (t) => {
    const { server, shop, pathOf } = await prepare(t);
    const { user } = await addColleague(server, shop, role);
    const allowed = OWN.filter((route) => includesRole(role, route.role));
    assert.deepEqual(await listOffered(user, role, pathOf), []);
    await user.get('/portal/account');
    const csrf = user.valueOf('csrf') ?? '';
    for (const route of allowed) {
      if (route.method === 'GET' || route.path === '/sign-out') continue;
      const answer = await use(user, route, pathOf(route), csrf);
      assert.doesNotMatch(readText(answer.text), NEEDS, route.path);
      assert.notEqual(answer.status, 403, route.path);
    }
    assert.deepEqual(server.reports, []);
  });
}

for (const role of ROLES) {
  test(`offers the role ${role} no other page or form in a shop without products`, async (t) => {
    const server = await startServer(t, { portal: true, clock: makeClock() });
    const { user } = await addColleague(server, await openShop(server), role);
    assert.deepEqual(await listOffered(user, role, ({ path }) =>
      `/portal${path === '/' ? '' : path.replaceAll(/\{\w+\}/g, 'none')}`), []);
    for (const path of ['/reports', '/imports']) {
      const { text } = await user.get(`/portal${path}`);
      assert.equal(/>Import\s+a\s+file</.test(text), role !== 'viewer', path);
    }
  });
}

/** Links and forms on the pages of a role that the role may not use. */
async function listOffered(
  user: PageClient, role: Role, pathOf: (route: OwnRoute) => string,
): Promise<string[]> {
  const forbidden = OWN.filter((route) => !includesRole(role, route.role));
  const offered: string[] = [];
  for (const route of OWN) {
    if (forbidden.includes(route) || route.method !== 'GET' || route.path === '/live') continue;
    const path = pathOf(route);
    const answer = await user.get(path);
    assert.ok(answer.status < 500 && answer.status !== 403, `${answer.status} ${path}`);
    for (const [, link = ''] of answer.text.matchAll(/href="(\/portal[^"?#]*)/g)) {
      if (isOf(forbidden, 'GET', link)) offered.push(`${path}: ${link}`);
    }
    for (const [, link = ''] of answer.text.matchAll(/method="post" action="([^"?#]*)/g)) {
      if (isOf(forbidden, 'POST', link)) offered.push(`${path}: POST ${link}`);
    }
  }
  return offered;
}

/** Whether a link matches only these routes. */
function isOf(some: readonly OwnRoute[], method: string, link: string): boolean {
  const known = OWN.filter((route) => route.method === method);
  const matches = (path: string): boolean =>
    new RegExp(`^/portal${path === '/' ? '' : path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(link);
  const exact = known.filter(({ path }) => !path.includes('{') && matches(path));
  const found = exact.length > 0 ? exact : known.filter(({ path }) => matches(path));
  return found.length > 0 && found.every((route) => some.includes(route));
}

test('applies a new role to the next request, and a removal at once', async (t) => {
  const { server, shop } = await prepare(t);
  const { user, account } = await addColleague(server, shop, 'viewer', 'Ben');
  const newProduct = async () => (await user.get('/portal/products/new')).status;
  assert.equal(await newProduct(), 403);
  await server.store.setRole(account, 'editor', {});
  assert.equal(await newProduct(), 200);
  const page = user.page;
  await server.store.setRole(account, 'viewer', {});
  user.page = page;
  const late = await user.submit({ sku: 'A-1', name: 'Mug', category: 'Kitchen', price: '1' });
  assert.equal(late.status, 403);
  await server.store.removeAccount(account, {});
  assert.equal((await user.get('/portal')).headers.location, '/portal/sign-in');
  const { user: owner } = shop;
  assert.equal((await owner.get('/portal/keys')).status, 200);
  assert.ok(await server.store.findAccount(ownerOf(shop.sellerId)));
});
