/** The overview: totals, low stock, stock movements and API requests. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { routes } from '../../../../src/features/portal/routes.ts';
import { makeClock } from '../../../support/clock.ts';
import { startServer } from '../../../support/server.ts';
import { assertRequiresSignIn, assertPage } from '../page-rules.ts';
import { openShop, readText, type Shop } from '../page-client.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

test('shows the totals of the catalogue in the locale', async (t) => {
  const { shop } = await start(t);
  await create(shop, { sku: 'A', price: 1234.5, stock: 1000 });
  await create(shop, { sku: 'B', price: 0.01, stock: 3 });
  const page = await shop.user.get('/portal');
  assertPage(page);
  const text = readText(page.text);
  assert.match(text, /Products 2 Units in stock 1,003 Value in stock €1,234,500\.03/);
  assert.match(text, /Low or sold out 1 /);
});

test("lists low stock by the shop's threshold, the lowest first", async (t) => {
  const { shop } = await start(t);
  for (const [sku, stock] of [['TWO', 2], ['NONE', 0], ['SIX', 6]] as const) {
    await create(shop, { sku, stock, name: `Name <${sku}>` });
  }
  const before = readText((await shop.user.get('/portal')).text);
  assert.match(before, /Name <NONE> 0 NONE Name <TWO> 2 TWO/);
  assert.doesNotMatch(before, /SIX/);
  await shop.user.get('/portal/account/shop');
  await shop.user.submit({ low_stock: '6' });
  assert.match(readText((await shop.user.get('/portal')).text), /Name <SIX> 6 SIX/);
});

test('shows stock movements of 30 days by day, as a chart and as a table', async (t) => {
  const { shop, clock } = await start(t);
  await create(shop, { sku: 'A', stock: 100 });
  clock.now += DAY_MS;
  await adjust(shop, -30);
  await signIn(shop); // the first session has expired
  const { text } = await shop.user.get('/portal');
  assert.match(text, /role="img" aria-label="Stock movements, last 30 days: In 100, Out 30"/);
  assert.match(readText(text), /2 Jan 100 0 3 Jan 0 30/);
  clock.now += 29 * DAY_MS;
  await signIn(shop);
  assert.match(readText((await shop.user.get('/portal')).text), /In: 0 Out: 30/);
});

test('shows the requests of 24 hours by key', async (t) => {
  const { shop, server } = await start(t);
  await shop.send({ path: '/api/v1/products' });
  await shop.send({ path: '/api/v1/products/nothing' });
  const keys = await server.store.listKeys(shop.sellerId, { after: undefined, limit: 1 });
  const hour = Math.floor(server.clock.now / 3_600_000);
  await server.store.noteUsage(keys.map(({ id: keyId, sellerId }) =>
    ({ sellerId, keyId, hour, requests: 41, refusals: 2 })));
  const { text } = await shop.user.get('/portal');
  assert.match(text, /aria-label="API requests, last 24 hours: Succeeded 39, Rejected 2"/);
  assert.match(readText(text), /My first key 41 2/);
});

test('explains how to start with an empty catalogue', async (t) => {
  const { shop } = await start(t);
  const page = await shop.user.get('/portal');
  assertPage(page);
  assert.match(readText(page.text), routes.some(({ path }) => path.endsWith('import'))
    ? /Get started Add your products .* Import a file/
    : /Get started Add your products .* Create a product/);
  assert.match(readText(page.text),
    /API requests, last 24 hours No requests in this period\. View your API keys ?\. Was a key/);
});

test('shows nothing of another shop, and nothing to anonymous users', async (t) => {
  const { shop, server } = await start(t);
  await create(shop, { sku: 'MINE', stock: 0 });
  const other = await openShop(server);
  assert.doesNotMatch((await other.user.get('/portal')).text, /MINE/);
  await assertRequiresSignIn(server, ['/products', '/keys', '/account']);
});

async function start(t: TestContext) {
  const clock = makeClock();
  const started = await startServer(t, { clock, portal: true });
  const server = { ...started, clock };
  return { server, clock, shop: await openShop(server) };
}

async function create(shop: Shop, members: object): Promise<void> {
  const { status, text } = await shop.send({
    method: 'POST', path: '/api/v1/products', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Mug', category: 'Kitchen', price: 1, ...members }),
  });
  assert.equal(status, 201, text);
}

async function signIn({ user, email, password }: Shop): Promise<void> {
  await user.get('/portal/sign-in');
  assert.equal((await user.submit({ email, password })).status, 303);
}

async function adjust(shop: Shop, by: number): Promise<void> {
  const { status, text } = await shop.send({
    method: 'POST', path: '/api/v1/stock', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ changes: [{ sku: 'A', adjust: by }] }),
  });
  assert.equal(status, 200, text);
}
