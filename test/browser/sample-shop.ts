/**
 * A shop with some history: products, a month of sales, keys and their requests, an import with a
 * finished preview, and a webhook.
 */
import assert from 'node:assert/strict';
import { formatKeyId } from '../../src/domain/id.ts';
import { LOCAL } from '../features/webhooks/routes.ts';
import { openShop, type Shop } from '../features/portal/page-client.ts';
import { type Clock, makeClock } from '../support/clock.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { answerWith, OK, startReceiver } from '../features/webhooks/receiver.ts';
import type { Lifetime } from './browser.ts';

export interface SampleShop {
  readonly server: TestServer;
  readonly shop: Shop;
  readonly clock: Clock;
  /** Ids in the paths of its pages. */
  readonly ids: {
    readonly product: string; readonly key: string; readonly import: string;
    readonly webhook: string; readonly record: string;
  };
}

const HOUR_MS = 60 * 60 * 1000;
const DAYS = 34;

const PRODUCTS = [
  ['Stoneware mug, speckled blue, 350 ml', 'Kitchen', 'MUG-350-BLUE', 14.9, 160],
  ['Stoneware mug, chalk white, 350 ml', 'Kitchen', 'MUG-350-WHITE', 14.9, 90],
  ['Espresso cup without a handle', 'Kitchen', 'CUP-080', 9.5, 240],
  ['Serving bowl, large, salad green', 'Kitchen', 'BOWL-L-GREEN', 48, 22],
  ['Bread crock with an oak lid', 'Kitchen', 'CROCK-OAK', 129, 6],
  ['Linen tea towel, set of two', 'Textiles', 'TOWEL-2', 19.5, 75],
  ['Linen apron with pockets', 'Textiles', 'APRON-LINEN', 54.9, 18],
  ['Wool throw, herringbone, 130 × 190 cm', 'Textiles', 'THROW-HB', 169, 9],
  ['Beeswax candle, tall', 'Living', 'CANDLE-T', 12, 64],
  ['Candle holder, brass', 'Living', 'HOLDER-BRASS', 38, 31],
  ['Hand-blown vase', 'Living', 'VASE-01', 89, 12],
  ['Gift card', 'Other', 'GIFT-50', 50, 1_000],
] as const;

/** Units sold on a busy day, by product. */
const SALES = [4, 3, 7, 1, 1, 2, 1, 1, 2, 1, 1, 5];

/** Starts a server with such a shop. Its clock stops at the last event. */
export async function openSampleShop(t: Lifetime): Promise<SampleShop> {
  const clock = makeClock(Date.parse('2026-02-02T08:15:00Z'));
  const server = await startServer(t, { clock, portal: true, webhooks: LOCAL });
  const shop = await openShop(server, {
    name: 'Nordlicht Ceramics', email: 'anna@nordlicht.example',
  });
  for (const [name, category, sku, price, stock] of PRODUCTS) {
    await call(shop, '/products', { name, category, sku, price, stock });
  }
  for (let day = 0; day < DAYS; day += 1) await trade(shop, clock, day);
  const key = await noteRequests({ server, shop, clock });
  const product = (await list(shop, '?sku=MUG-350-BLUE')).products[0].id;
  const record = (await shop.send({ path: '/api/v1/imports?limit=1' })).json().imports[0].id;
  const ids = {
    product, key, import: await importFile(shop), webhook: await hook(t, shop), record,
  };
  return { server, shop, clock, ids };
}

/** Sends a POST request to the API, which must succeed. */
async function call(shop: Shop, path: string, body: unknown) {
  const answer = await shop.send({
    method: 'POST', path: `/api/v1${path}`, body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
  assert.match(String(answer.status), /^20/, answer.text);
  return answer.json();
}

async function list(shop: Shop, query: string) {
  return (await shop.send({ path: `/api/v1/products${query}` })).json();
}

/** Sells some units of most products, and sometimes restocks those that run low. */
async function trade(shop: Shop, clock: Clock, day: number): Promise<void> {
  clock.now += 24 * HOUR_MS;
  const { products } = await list(shop, '');
  const changes = products.flatMap((product: { sku: string; stock: number }, place: number) => {
    const { sku, stock } = product;
    const isMade = day % 9 === 8 && stock < 60 && place % 4 !== 3;
    if (isMade) return [{ sku, adjust: 24 + 8 * place, reason: 'a new batch' }];
    const sold = Math.min(stock, ((day + place) % 3) * (SALES[place] ?? 0));
    return sold === 0 ? [] : [{ sku, adjust: -sold, reason: 'sold' }];
  });
  await call(shop, '/stock', { changes, source: 'cash desk' });
}

/** Records a day of requests by two keys; returns the id of one. */
async function noteRequests(
  { server, shop, clock }: Pick<SampleShop, 'server' | 'shop' | 'clock'>,
): Promise<string> {
  const { store } = server;
  const { user, sellerId } = shop;
  await signIn(shop);
  await user.get('/portal/keys/new');
  await user.submit({
    name: 'Cash desk', scopes: ['products:read', 'stock:write'], allow: '192.0.2.0/24',
  });
  const [first, second] = await store.listKeys(sellerId, { after: undefined, limit: 2 });
  assert.ok(first && second);
  const now = Math.floor(clock.now / HOUR_MS);
  const usage = Array.from({ length: 20 }, (_, hour) => [
    { keyId: first.id, requests: 15 + 9 * ((hour * 5) % 7), refusals: hour % 6 === 0 ? 14 : 0 },
    { keyId: second.id, requests: hour % 4 === 0 ? 30 : 4, refusals: 0 },
  ].map((counted) => ({ sellerId, hour: now - hour, ...counted }))).flat();
  await store.noteUsage(usage);
  return formatKeyId({ sellerId, keyId: first.id });
}

/** Returns the id of an import whose preview is finished. */
async function importFile({ user }: Shop): Promise<string> {
  await user.get('/portal/import');
  const rows = [
    'name,category,sku,price,stock', 'Bread crock with an oak lid,Kitchen,CROCK-OAK,135,6',
    'Butter dish,Kitchen,BUTTER-1,32.5,24', 'Salt pig,Kitchen,SALT-1,free,10',
  ];
  const file = new File([rows.join('\n')], 'spring-catalogue.csv', { type: 'text/csv' });
  const answer = await user.submit({ file });
  assert.equal(answer.status, 303, answer.text);
  return String(answer.headers.location).split('/').at(-1) ?? '';
}

/** Returns the id of a webhook with one failed delivery. */
async function hook(t: Lifetime, shop: Shop): Promise<string> {
  const receiver = await startReceiver(t);
  const { id } = await call(shop, '/webhooks', {
    url: receiver.url, description: 'Stock on the web page', types: ['stock', 'deleted'],
  });
  for (const answer of [OK, answerWith(503), OK]) {
    receiver.answer = answer;
    await call(shop, `/webhooks/${id}/test`, {});
  }
  await call(shop, '/stock', { changes: [{ sku: 'GIFT-50', adjust: -1, reason: 'sold' }] });
  await receiver.until((received) => received.length > 3);
  return id;
}

/** Signs in again: the session has expired in the meantime. */
async function signIn({ user, email, password }: Shop): Promise<void> {
  await user.get('/portal/sign-in');
  await user.submit({ email, password });
}
