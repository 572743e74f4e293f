/** The first steps of a new shop: completed by its data, hidden by a cookie. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { TOUR_LIFE_MS } from '../../../../src/features/portal/limits.ts';
import { makeClock } from '../../../support/clock.ts';
import { makeProduct, startServer } from '../../../support/server.ts';
import { answerWith, OK, startReceiver } from '../../webhooks/receiver.ts';
import { LOCAL } from '../../webhooks/routes.ts';
import { openShop, readText, type Shop } from '../page-client.ts';
import { assertRequiresSignIn, assertPage } from '../page-rules.ts';

const TOUR_SCRIPT = new URL(
  '../../../../src/features/portal/assets/tour.js', import.meta.url,
);

async function start(t: TestContext) {
  const clock = makeClock();
  const server = await startServer(t, { portal: true, clock, webhooks: LOCAL });
  return { server, clock, shop: await openShop(server) };
}

async function readDone({ user }: Shop): Promise<string[]> {
  const answer = await user.get('/portal/start/progress');
  assert.equal(answer.headers['cache-control'], 'no-store');
  return answer.json().done;
}

function call({ send }: Shop, path: string, body: object) {
  const headers = { 'content-type': 'application/json' };
  return send({ method: 'POST', path: `/api/v1${path}`, headers, body: JSON.stringify(body) });
}

test('completes each step from the data', async (t) => {
  const { shop, server } = await start(t);
  const { user, sellerId } = shop;
  assert.deepEqual(await readDone(shop), ['key']); // created with the shop
  const page = await user.get('/portal');
  assertPage(page);
  assert.match(readText(page.text), /Get started Add your products .* Use the sample catalogue/);
  assert.match(page.text, /<li data-step="key" class="done">/);
  await user.get('/portal/products/new');
  await user.submit({ name: 'Mug', category: 'Bar', sku: 'M', price: '1', stock: '1' });
  assert.deepEqual(await readDone(shop), ['products', 'key']);
  await shop.send({ path: '/api/v1/products' });
  const isUsed = async () => (await server.store.listKeys(
    sellerId, { after: undefined, limit: 1 }))[0]?.lastUsedAt !== undefined;
  while (!await isUsed()) await new Promise((resolve) => { setImmediate(resolve); });
  assert.deepEqual(await readDone(shop), ['products', 'key', 'request']);
  const receiver = await startReceiver(t);
  receiver.answer = OK;
  const { id } = (await call(shop, '/webhooks', { url: receiver.url })).json();
  const next = await user.get('/portal/start');
  assertPage(next);
  assert.match(readText(next.text), /3 of 4 steps are done/);
  assert.match(next.text, new RegExp(`class="button primary"\\s+href="/portal/webhooks/${id}"`));
  await call(shop, `/webhooks/${id}/test`, {});
  assert.deepEqual(await readDone(shop), ['products', 'key', 'request', 'webhook']);
  assert.doesNotMatch(readText((await user.get('/portal')).text), /Get started/);
  assertPage(await user.get('/portal/start'));
});

test('keeps steps complete if the key ends or the webhook fails, and shows the call', async (t) => {
  const { shop, server } = await start(t);
  const { user, sellerId } = shop;
  await shop.send({ path: '/api/v1/products' });
  const readKey = async () => (await server.store.listKeys(
    sellerId, { after: undefined, limit: 1 }))[0];
  while ((await readKey())?.lastUsedAt === undefined) await nextTurn();
  const { notes } = (await user.get('/portal/start/progress')).json();
  assert.match(notes.request, /^Latest call: .*, with the key \S.*, from 127\.0\.0\.1\.$/);
  assert.ok(readText((await user.get('/portal/start')).text).includes(notes.request));
  const receiver = await startReceiver(t);
  const { id } = (await call(shop, '/webhooks', { url: receiver.url })).json();
  await call(shop, `/webhooks/${id}/test`, {});
  receiver.answer = answerWith(500);
  await call(shop, `/webhooks/${id}/test`, {});
  const key = await readKey();
  await server.store.revokeKey({ sellerId, keyId: key?.id ?? assert.fail() }, { address: '' });
  assert.deepEqual(await readDone(shop), ['key', 'request', 'webhook']);
});

test('does not extend a session by polling for progress', async (t) => {
  const { shop: { user }, clock } = await start(t);
  await user.get('/portal/start');
  for (let hours = 0; hours < 12; hours += 1) {
    assert.equal((await user.get('/portal/start/progress')).status, 200, `${hours}`);
    clock.now += 60 * 60_000;
  }
  assert.equal((await user.get('/portal/start/progress')).status, 303);
});

/** The members of an element that `tour.js` uses. */
class FakeElement {
  readonly dataset: Readonly<Record<string, string>>;
  readonly inner: FakeElement | undefined;
  textContent = '';
  isHidden = true;
  isDone = false;
  readonly classList = {
    add: (): void => { this.isDone = true; }, contains: (): boolean => this.isDone,
  };

  constructor(dataset: Readonly<Record<string, string>>, inner?: FakeElement) {
    this.dataset = dataset;
    this.inner = inner;
  }

  querySelectorAll(): (FakeElement | undefined)[] {
    return [this.inner];
  }

  querySelector(): FakeElement | undefined {
    return this.inner;
  }

  removeAttribute(): void {
    this.isHidden = false;
  }
}

test('polls for 15 minutes, and shows the call in an open page', async () => {
  const note = new FakeElement({});
  const list = new FakeElement({ tour: '/progress' }, new FakeElement({ step: 'request' }, note));
  let [openForMs, requests, isCleared, done] = [0, 0, false, [] as string[]];
  let tick = async (): Promise<void> => {};
  runInNewContext(readFileSync(TOUR_SCRIPT, 'utf8'), {
    HTMLElement: FakeElement,
    document: { hidden: false, querySelectorAll: () => [list], querySelector: () => undefined },
    performance: { now: () => openForMs },
    setInterval: (run: typeof tick) => { tick = run; },
    clearInterval: () => { isCleared = true; },
    fetch: async () => {
      requests += 1;
      return { ok: true, json: async () => ({ done, notes: { request: 'Latest call: now' } }) };
    },
  });
  openForMs = 15 * 60_000;
  await tick();
  assert.deepEqual([requests, isCleared, note.isHidden], [1, false, true]);
  openForMs += 1;
  await tick();
  assert.deepEqual([requests, isCleared], [1, true]);
  openForMs = 0;
  done = ['request'];
  await tick();
  assert.deepEqual([note.isHidden, note.textContent], [false, 'Latest call: now']);
});

test('imports the sample catalogue through a preview', async (t) => {
  const { shop: { user } } = await start(t);
  await user.get('/portal');
  const sample = await user.submit({}, { action: '/portal/import/sample' });
  assert.match(sample.headers.location ?? '', /^\/portal\/import\/[\da-f-]{36}$/);
  const preview = await user.follow();
  assertPage(preview);
  assert.match(readText(preview.text), /Preview of sample-catalogue\.csv .* Will be created 100/);
});

test('can be hidden in a browser, and found again in the menu', async (t) => {
  const { shop: { user } } = await start(t);
  await user.get('/portal');
  await user.submit({ tour: 'hidden' });
  const hidden = await user.follow();
  assertPage(hidden);
  assert.match(readText(hidden.text), /Your catalogue is empty\. Get started/);
  assert.doesNotMatch(hidden.text, /data-tour/);
  assert.match(hidden.text, /<a href="\/portal\/start">Getting started<\/a>/);
  assertPage(await user.get('/portal/start'));
  await user.submit({ tour: 'shown' });
  assert.match((await user.follow()).text, /data-tour/);
});

test('leaves the overview of a shop that is no longer new', async (t) => {
  const { shop, clock, server } = await start(t);
  assert.equal((await call(shop, '/products', makeProduct())).status, 201);
  clock.now += TOUR_LIFE_MS;
  const { user } = shop;
  await user.get('/portal/sign-in');
  await user.submit({ email: shop.email, password: shop.password });
  assert.doesNotMatch((await user.get('/portal')).text, /data-tour/);
  assert.match((await user.get('/portal/start')).text, /data-tour/);
  await assertRequiresSignIn(server, ['/start', '/start/progress']);
});

test('has no webhook step if webhooks are disabled', async (t) => {
  const clock = makeClock();
  const { user } = await openShop(await startServer(t, { portal: true, clock }));
  const page = await user.get('/portal/start');
  assertPage(page);
  assert.match(readText(page.text), /1 of 3 steps are done/);
});
