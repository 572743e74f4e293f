/** Reports: stock over time, top movers, and their CSV files. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Product } from '../../../../src/domain/catalogue/product-fields.ts';
import { stockHistories } from '../../../../src/features/portal/reports/stock-history.ts';
import type { Store } from '../../../../src/store/store.ts';
import { addUp, countTo, DAY_MS } from '../../../store/contract/fixture.ts';
import { openCatalogue, openOther } from '../products/catalogue.ts';
import { addColleague } from '../colleague.ts';
import { PageClient, readText } from '../page-client.ts';
import { assertRequiresSignIn, assertPage } from '../page-rules.ts';

const FIRST = Date.parse('2026-01-02T03:04:05.678Z');
const FIRST_DAY = Math.floor(FIRST / DAY_MS);

/** Three days: a mug and a jar; the mug sells and gets more expensive; the jar is deleted. */
async function start(t: TestContext) {
  const catalogue = await openCatalogue(t);
  const { clock, create, sync, patch, send, user, email, password } = catalogue;
  const mug = await create({ name: 'Mug', sku: 'MUG', price: 2.5, stock: 10 });
  const jar = await create({ name: 'Jar', sku: 'JAR', price: 10, stock: 3 });
  clock.now += DAY_MS;
  await sync([{ sku: 'MUG', adjust: -4 }], { reason: 'sold' });
  await patch(mug, { price: 3 });
  clock.now += DAY_MS;
  await send({ method: 'DELETE', path: `/api/v1/products/${jar.id}` });
  await sync([{ sku: 'MUG', adjust: 1 }]);
  await user.get('/portal/sign-in'); // the first session has expired
  await user.submit({ email, password });
  return { ...catalogue, mug };
}

/** The reports, once the history of the stock has been calculated. */
async function readReports(user: PageClient) {
  for (;;) {
    const page = await user.get('/portal/reports');
    assertPage(page);
    if (!page.text.includes('is being calculated')) return page;
  }
}

test('shows value and units at the end of each day, and the top movers', async (t) => {
  const { user, mug } = await start(t);
  const page = await readReports(user);
  const text = readText(page.text);
  assert.match(text, /4 Jan 7 €21\.00 3 Jan 9 €48\.00 2 Jan 13 €55\.00 1 Jan 0 €0\.00/);
  assert.match(page.text, /aria-label="Value in stock: €0\.00 on 6 Dec, €21\.00 on 4 Jan, /);
  assert.match(page.text, /aria-label="Units in stock: 0 on 6 Dec, 7 on 4 Jan, /);
  assert.ok(page.text.includes(`<a href="${mug.path}">Mug</a>`));
  assert.match(text, / Out .*Mug 4 11 JAR \(deleted\) 3 3 In .*Mug 4 11 JAR \(deleted\) 3 3/);
  assert.match(page.text, /<a href="\/portal\/reports" aria-current="page">Reports<\/a>/);
  for (const days of ['90', '365', '31', 'x']) {
    assertPage(await user.get(`/portal/reports?days=${days}`));
  }
});

test('counts archived products on every day: archiving moves no stock', async (t) => {
  const { user, mug, patch } = await start(t);
  await patch(mug, { archived: true });
  const { text } = await readReports(user);
  assert.match(readText(text), /4 Jan 7 €21\.00 3 Jan 9 €48\.00 2 Jan 13 €55\.00 1 Jan 0 €0\.00/);
  assert.match(readText(text), /Archived products count here/);
  await patch(mug, { archived: null });
  const { text: file } = await user.get('/portal/reports/stock');
  assert.match(file, /2026-01-03,9,48\.00\r\n2026-01-04,7,21\.00\r\n$/);
});

test('serves the values of each chart as CSV', async (t) => {
  const { user, server } = await start(t);
  const read = async (name: string): Promise<string[]> => {
    const file = await user.get(`/portal/reports/${name}`);
    assert.equal(file.status, 200, file.text);
    assert.equal(file.headers['content-type'], 'text/csv; charset=utf-8');
    assert.match(file.headers['content-disposition'] ?? '', /filename="\w+-2026-01-04\.csv"/);
    return file.text.trimEnd().split('\r\n');
  };
  const stock = await read('stock?days=90');
  assert.equal(stock.length, 91);
  assert.deepEqual([stock[0], ...stock.slice(-3)],
    ['day,units,value', '2026-01-02,13,55.00', '2026-01-03,9,48.00', '2026-01-04,7,21.00']);
  const movers = (await read('movers')).map((line) => line.replace(/prd_\w+/, 'ID'));
  assert.deepEqual(movers, ['most,product_id,sku,units_out,units_in',
    'out,ID,MUG,4,11', 'out,ID,JAR,3,3', 'in,ID,MUG,4,11', 'in,ID,JAR,3,3']);
  assert.deepEqual(await read('movements'), ['day,units_in,units_out',
    '2026-01-02,13,0', '2026-01-03,0,4', '2026-01-04,1,3']);
  assert.equal((await read('requests'))[0], 'hour,succeeded,rejected');
  const { text } = await user.get('/portal');
  assert.ok(text.includes('href="/portal/reports/movements"'));
  for (const name of ['nothing', 'constructor']) {
    assert.equal((await user.get(`/portal/reports/${name}`)).status, 404);
  }
  assert.equal((await new PageClient(server.port).get('/portal/reports/stock')).status, 303);
});

test('shows API requests to owners only, as the overview does', async (t) => {
  const { server, ...shop } = await start(t);
  for (const role of ['editor', 'viewer'] as const) {
    const { user } = await addColleague(server, shop, role);
    assert.equal((await user.get('/portal/reports/stock')).status, 200);
    assert.equal((await user.get('/portal/reports/requests')).status, 404);
  }
});

test('shows nothing of another shop, and explains how to start without products', async (t) => {
  const { server } = await start(t);
  const { user } = await openOther(server);
  const page = await user.get('/portal/reports');
  assertPage(page);
  assert.match(readText(page.text), /No stock yet.*Import a file/);
  assert.doesNotMatch((await user.get('/portal/reports/movers')).text, /MUG/);
  await assertRequiresSignIn(server, ['/reports', '/reports/stock']);
});

test('shows the part of the period whose history is kept', async (t) => {
  const { user, server, clock } = await start(t);
  await server.store.pruneHistory(clock.now - DAY_MS / 2);
  const page = await readReports(user);
  assert.match(readText(page.text), /Value 4 Jan 7 €21\.00 Download as CSV/);
});

/** The catalogue at the end of a day. */
async function readDay(store: Store, sellerId: Product['sellerId'], day: number) {
  const position = await store.findPositionAt(sellerId, (day + 1) * DAY_MS - 1);
  const { products } = await store.listProductsAt(
    sellerId, position, { after: undefined, limit: 1_000 },
  );
  const { units, valueMinor } = addUp(products);
  return { day, units, valueMinor };
}

test('adds later changes and longer periods to its cached sums', async (t) => {
  const { server, clock, sellerId, sync, create, patch, mug } = await start(t);
  const { store } = server;
  const histories = stockHistories({ store });
  const assertExact = async (sinceDay: number): Promise<void> => {
    const { position = 0 } = await store.findSeller(sellerId) ?? {};
    const today = Math.floor(clock.now / DAY_MS);
    const days = await histories.read(sellerId, position, sinceDay, today);
    assert.equal(days.length, today - sinceDay + 1);
    for (const one of days) assert.deepEqual(one, await readDay(store, sellerId, one.day));
  };
  await assertExact(FIRST_DAY + 2);
  await create({ sku: 'NEW', price: 7, stock: 5 });
  await sync([{ sku: 'MUG', adjust: 2 }]);
  await assertExact(FIRST_DAY + 2);
  await assertExact(FIRST_DAY - 3);
  clock.now += DAY_MS;
  await patch(mug, { price: 1 });
  await sync([{ sku: 'NEW', adjust: -1 }, { sku: 'MUG', set: 50 }]);
  await assertExact(FIRST_DAY + 1);
  await Promise.all([assertExact(FIRST_DAY - 5), assertExact(FIRST_DAY)]);
});

test('recalculates when changes since the last report were pruned', async (t) => {
  const { server: { store }, clock, sellerId, sync } = await start(t);
  const histories = stockHistories({ store });
  const read = async (reader = histories) => {
    const { position = 0 } = await store.findSeller(sellerId) ?? {};
    const today = Math.floor(clock.now / DAY_MS);
    return (await reader.read(sellerId, position, today - 29, today)).map(({ units }) => units);
  };
  assert.equal((await read()).at(-1), 7n);
  for (const _ of countTo(3)) await sync([{ sku: 'MUG', adjust: -1 }]);
  clock.now += 40 * DAY_MS;
  await sync([{ sku: 'MUG', adjust: -1 }]);
  await store.pruneHistory(clock.now - DAY_MS);
  assert.deepEqual(await read(), [3n]);
  clock.now += 40 * DAY_MS;
  await store.pruneHistory(clock.now - DAY_MS);
  assert.deepEqual(await read(stockHistories({ store })), [3n]);
});

test('reads the changes for the top movers once per position and period', async (t) => {
  const { server, user, sync } = await start(t);
  const { store } = server;
  const read = t.mock.method(store, 'listTopMovers');
  for (const path of ['/reports', '/reports/movers', '/reports', '/reports?days=90']) {
    assert.equal((await user.get(`/portal${path}`)).status, 200);
  }
  assert.equal(read.mock.callCount(), 2);
  await sync([{ sku: 'MUG', adjust: 100 }]);
  assert.match(readText((await user.get('/portal/reports?days=90')).text), /Mug 4 111/);
  read.mock.mockImplementationOnce(async () => { throw new Error('no disk'); });
  assert.equal((await user.get('/portal/reports/movers')).status, 500);
  assert.equal((await user.get('/portal/reports/movers')).status, 200);
});
