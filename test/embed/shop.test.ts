/** The shop: the server as an object in a program. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  type ApiError, InvalidDataError, NotFoundError, PreconditionFailedError, ResyncRequiredError,
  type SellerApi, SellerClient, SkuTakenError, StockRejectedError,
} from '../../src/client/index.ts';
import { hashCode } from '../../src/domain/access/human-code.ts';
import { AppError } from '../../src/domain/error.ts';
import { parseSellerId } from '../../src/domain/id.ts';
import { createShop } from '../../src/embed/shop.ts';
import { openStore as openSharedStore, type ShopOptions } from '../../src/embed/shop-options.ts';
import { openStore } from '../store/sqlite/open.ts';
import { makeDataFolder } from '../support/folder.ts';

const MUG = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12.5, stock: 40 };

async function openShop(t: TestContext, options: ShopOptions = {}) {
  const shop = await createShop({ folder: makeDataFolder(t) }, options);
  t.after(() => shop.close());
  const { id } = await shop.sellers.create({ name: 'My shop' });
  return { shop, id, api: shop.as(id) };
}

/** The expected members of an AppError. */
function appError(code: string, pointers: readonly (string | undefined)[] = []) {
  return (error: unknown) => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, code);
    assert.deepEqual(error.issues.map(({ pointer }) => pointer), pointers);
    return true;
  };
}

test('administers sellers and keys', async (t) => {
  const { shop, id } = await openShop(t);
  const other = await shop.sellers.create({ name: 'Other', currency: 'JPY' });
  assert.deepEqual((await Array.fromAsync(shop.sellers.list())).map((one) => one.currency),
    ['EUR', 'JPY']);
  const { key, id: keyId } = await shop.keys.create(id, { name: 'till', scopes: ['stock:write'] });
  assert.match(key, /^spk_/);
  const renewed = await shop.keys.rotate(keyId, 0);
  assert.deepEqual(renewed.scopes, ['stock:write']);
  assert.ok((await shop.keys.revoke(renewed.id)).revoked_at);
  assert.equal((await Array.fromAsync(shop.keys.list(id))).length, 2);
  assert.ok((await shop.sellers.disable(other.id)).disabled_at);
  await assert.rejects(shop.as(other.id).products.create(MUG), appError('key_unknown'));
  assert.equal((await shop.sellers.enable(other.id)).disabled_at, null);
});

test('gives a key a rate limit of its own, up to that of the shop', async (t) => {
  const { shop, id } = await openShop(t, { rateLimitPerMinute: 60 });
  const { id: keyId, ...key } = await shop.keys.create(id, { name: 'bot', rateLimitPerMinute: 5 });
  assert.equal(key.rate_limit_per_minute, 5);
  assert.equal((await shop.keys.rotate(keyId)).rate_limit_per_minute, 5);
  assert.equal((await shop.keys.create(id, { name: 'x' })).rate_limit_per_minute, null);
  for (const rateLimitPerMinute of [0, 1.5, 61, '5' as never, null as never]) {
    await assert.rejects(shop.keys.create(id, { name: 'x', rateLimitPerMinute }),
      appError('invalid_data', ['/rateLimitPerMinute']));
  }
});

test('invites people to the portal', async (t) => {
  const clock = () => Date.UTC(2026, 0, 2);
  const store = await openStore(t, { folder: makeDataFolder(t), clock });
  const shop = await createShop({ store }, { baseUrl: 'https://host/shop', clock });
  t.after(() => shop.close());
  const { id } = await shop.sellers.create({ name: 'Shop' });
  const owner = await shop.sellers.invite(id);
  assert.equal(owner.url, 'https://host/shop/portal/join?shop=existing');
  assert.equal(owner.expires_at, '2026-01-09T00:00:00.000Z');
  assert.equal((await store.findInvitation(hashCode(owner.code) ?? ''))?.sellerId,
    parseSellerId(id));
  const stranger = await shop.sellers.invite();
  assert.equal(stranger.url, 'https://host/shop/portal/join');
  assert.ok(await store.findInvitation(hashCode(stranger.code) ?? ''));
});

test('has the methods of the client for the catalogue of a seller', async (t) => {
  const { api } = await openShop(t);
  const mug = await api.products.create(MUG);
  assert.deepEqual(await api.products.get(mug.id), mug);
  assert.equal((await api.products.patch({ sku: 'MUG-1' }, { price: 13 })).price, 13);
  assert.equal((await api.products.put('CUP-1', { ...MUG, sku: 'CUP-1' })).sku, 'CUP-1');
  const skus = (await Array.fromAsync(api.products.list({ q: 'mug' }))).map(({ sku }) => sku);
  assert.deepEqual(skus, ['MUG-1', 'CUP-1']);
  const { applied } = await api.stock.sync([{ sku: 'MUG-1', adjust: -2 }], { source: 'till' });
  assert.equal(applied, 1);
  const report = await api.products.import(gzipSync('sku,price\nMUG-1,x\n'), { isGzip: true });
  assert.deepEqual((await Array.fromAsync(report)).map(({ line }) => line), [2]);
  const file = await api.products.export({ format: 'csv', fields: ['sku', 'stock'] });
  assert.equal(await text(file), 'sku,stock\r\nMUG-1,38\r\nCUP-1,40\r\n');
  await api.products.delete({ sku: 'CUP-1' });
  const changes = await Array.fromAsync(api.changes({ after: 0 }));
  assert.deepEqual(changes.map(({ type }) => type),
    ['created', 'updated', 'created', 'stock', 'deleted']);
});

test('follows changes until the caller stops, or the shop closes', async (t) => {
  const { shop, api } = await openShop(t);
  await api.products.create(MUG);
  for await (const { position } of api.changes({ after: 0, live: true })) {
    if (position === 3) break;
    await api.stock.sync([{ sku: 'MUG-1', adjust: 1 }]);
  }
  const stop = new AbortController();
  const aborted = Array.fromAsync(api.changes({ after: 3, live: true, signal: stop.signal }));
  setImmediate(() => stop.abort(new Error('enough')));
  await assert.rejects(aborted, /enough/);
  const closed = Array.fromAsync(api.changes({ after: 3, live: true }));
  setImmediate(() => void shop.close());
  await assert.rejects(closed, appError('unavailable'));
});

test('throws AppErrors with the issues that the API returns in problems', async (t) => {
  const { shop, id, api } = await openShop(t);
  await assert.rejects(api.products.create({ ...MUG, price: 1.999, stock: -1 }),
    appError('invalid_data', ['/price', '/stock']));
  await api.products.create(MUG);
  await assert.rejects(api.products.create(MUG), appError('sku_taken'));
  await assert.rejects(api.products.get('prd_1'), appError('not_found'));
  await assert.rejects(api.products.patch({ sku: 'MUG-1' }, { stock: 1 }, { ifMatch: 9 }),
    appError('precondition_failed'));
  // The casts: a JavaScript program may pass anything.
  for (const [wrong, pointer] of [[undefined, ''], ['Mug', ''], [{ name: 7 }, '/name']] as const) {
    await assert.rejects(shop.sellers.create(wrong as never), appError('invalid_data', [pointer]));
  }
  await assert.rejects(shop.keys.create(id, { name: 'x', scopes: 'all' as never }),
    appError('invalid_data', ['/scopes']));
  await assert.rejects(shop.keys.create('sel_x', { name: 'x' }), appError('not_found'));
  await assert.rejects(api.products.create(undefined as never),
    appError('invalid_data', [undefined]));
  await assert.rejects(createShop({} as never), appError('invalid_data', ['']));
});

test('closes what it has opened if an option is invalid', async (t) => {
  const folder = makeDataFolder(t);
  for (const options of [{ contact: 'nobody' }, { trustedProxies: ['x'] }]) {
    await assert.rejects(createShop({ folder }, { webhooks: true, ...options }),
      appError('invalid_data'));
  }
  const shop = await createShop({ folder }, { contact: 'api@shop.example' }); // no lock remains
  t.after(() => shop.close());
  const document = await shop.fetch(new Request('http://host/api/v1/openapi.json'));
  assert.match(await document.text(), /"contact":\{"email":"api@shop\.example"\}/);
});

test('responds to Request objects without a socket', async (t) => {
  const { shop, id } = await openShop(t, { baseUrl: 'http://host/shop' });
  const { key } = await shop.keys.create(id, { name: 'test' });
  const products = 'http://host/shop/api/v1/products';
  const created = await shop.fetch(new Request(products, {
    method: 'POST', body: JSON.stringify(MUG),
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
  }));
  assert.equal(created.status, 201);
  assert.match(await created.text(), /"sku":"MUG-1"/);
  assert.match(created.headers.get('location') ?? '', /^\/shop\/api\/v1\/products\/prd_/);
  const rejected = await shop.fetch(new Request(products));
  assert.equal(rejected.status, 401);
  const headers = { 'x-api-key': key, 'if-none-match': created.headers.get('etag') ?? '' };
  assert.equal((await shop.fetch(new Request(products, { headers }))).status, 304);
  const head = await shop.fetch(new Request(products, {
    method: 'HEAD', headers: { 'x-api-key': key },
  }));
  assert.deepEqual([head.status, await head.text()], [200, '']);
  const client = new SellerClient({
    baseUrl: 'http://host/shop', key, fetch: (input, init) => shop.fetch(new Request(input, init)),
  });
  const report = await client.products.import(async function* () {
    for (let n = 0; n < 3_000; n += 1) yield { ...MUG, sku: `S-${n}` };
  }());
  assert.equal((await report.summary()).created, 3_000);
});

test('lets the program authenticate requests', async (t) => {
  const sessions = new Map<string, string>();
  const { shop, id, api } = await openShop(t, {
    authenticate({ headers }) {
      const seller = sessions.get(headers.cookie ?? '');
      return seller === undefined ? undefined : { seller, scopes: ['products:read'] };
    },
  });
  sessions.set('user=7', id);
  await api.products.create(MUG);
  const products = 'http://host/api/v1/products';
  const cookie = { cookie: 'user=7' };
  const listed = await shop.fetch(new Request(products, { headers: cookie }));
  assert.match(await listed.text(), /^\{"products":\[\{[^}]+\}\]/);
  const written = await shop.fetch(new Request(products, {
    method: 'POST', body: JSON.stringify(MUG),
    headers: { ...cookie, 'content-type': 'application/json' },
  }));
  assert.equal(written.status, 403);
  assert.equal((await shop.fetch(new Request(products))).status, 401);
});

test('returns 500, and reports an error, if authenticate returns an invalid value', async (t) => {
  const reports: string[] = [];
  let returned: unknown;
  const { shop, id } = await openShop(t, {
    // The cast: a JavaScript program may return anything.
    authenticate: () => returned as never,
    report: ({ error }) => void reports.push(String(error)),
  });
  for (const [host, message] of [
    [id, /The caller: Must be an object/],
    [{ seller: 'sel_x' }, /No seller has the id or external id "sel_x"/],
    [{ seller: id, scope: [] }, /scope: Is not a member/],
    [{ seller: id, scopes: ['products'] }, /scopes: Each: Must be one of: products:read/],
    [{ seller: id, actor: '' }, /actor: /],
  ] as const) {
    returned = host;
    const { status } = await shop.fetch(new Request('http://host/api/v1/products'));
    assert.equal(status, 500);
    assert.match(reports.pop() ?? '', message);
  }
});

test('responds with the AppError that authenticate throws', async (t) => {
  const { shop } = await openShop(t, {
    authenticate: () => { throw new AppError('key_unknown', 'Sign in again.'); },
  });
  const response = await shop.fetch(new Request('http://host/api/v1/products'));
  assert.equal(response.status, 401);
  assert.match(await response.text(), /Sign in again\./);
});

test('records the actor of changes without a key, in the feed and the ledger', async (t) => {
  const { shop, id, api } = await openShop(t, {
    authenticate: ({ headers }) => (headers.cookie === undefined ? undefined
      : { seller: id, actor: headers.cookie }),
  });
  const erp = shop.as(id, { actor: 'erp "sync" ü' });
  await erp.products.create(MUG);
  await erp.products.patch({ sku: 'MUG-1' }, { price: 13 });
  await erp.stock.sync([{ sku: 'MUG-1', adjust: -2 }]);
  await (await erp.stock.sync([{ sku: 'MUG-1', adjust: -1 }].values())).summary();
  const file = 'sku,price\nMUG-1,14\n';
  await (await erp.products.import(file)).summary();
  await shop.fetch(new Request('http://host/api/v1/stock', {
    method: 'POST', body: '{"changes":[{"sku":"MUG-1","adjust":1}]}',
    headers: { cookie: 'user 7', 'content-type': 'application/json' },
  }));
  await api.products.delete({ sku: 'MUG-1' });
  const changes = await Array.fromAsync(api.changes({ after: 0 }));
  const actors = [...Array(5).fill('erp "sync" ü'), 'user 7', undefined];
  assert.deepEqual(changes.map(({ actor }) => actor), actors);
  assert.equal(Object.hasOwn(changes.at(-1) ?? {}, 'actor'), false);
  const movements = await Array.fromAsync(api.stock.movements());
  assert.deepEqual(movements.map(({ actor }) => actor),
    [actors[0], actors[2], actors[3], 'user 7', undefined]);
  for (const actor of ['', 'x'.repeat(101), 'a\nb', 7]) {
    assert.throws(() => shop.as(id, { actor: actor as never }),
      appError('invalid_data', ['/actor']));
  }
  assert.ok(shop.as(id, { actor: '🫖'.repeat(100) }));
});

test("serves on a port, and inside the program's own server", async (t) => {
  const { shop, id } = await openShop(t, { baseUrl: 'http://127.0.0.1/shop', portal: true });
  const { key } = await shop.keys.create(id, { name: 'test' });
  const { port } = await shop.listen({ host: '127.0.0.1', port: 0 });
  const health = await fetch(`http://127.0.0.1:${port}/shop/healthz`);
  assert.equal(health.status, 200);
  const server = createServer((request, response) =>
    shop.handle(request, response, () => response.end('mine')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  // The cast: it listens on a port.
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  assert.equal(await (await fetch(`${own}/other`)).text(), 'mine');
  const client = new SellerClient({ baseUrl: `${own}/shop`, key });
  assert.equal((await client.products.create(MUG)).sku, 'MUG-1');
});

test('separates two shops in one process', async (t) => {
  const [one, other] = [await openShop(t), await openShop(t)];
  await one.api.products.create(MUG);
  await other.api.products.create(MUG);
  const { key } = await one.shop.keys.create(one.id, { name: 'test' });
  const answer = await other.shop.fetch(new Request('http://x/api/v1/products', {
    headers: { 'x-api-key': key },
  }));
  assert.equal(answer.status, 401);
});

test('closes once, and rejects calls after that', async (t) => {
  const { shop, api } = await openShop(t);
  await Promise.all([shop.close(), shop.close()]);
  await assert.rejects(api.products.create(MUG), appError('unavailable'));
});

test('shares a store among shops, which stays open until the program closes it', async (t) => {
  const store = await openSharedStore({ folder: makeDataFolder(t) });
  t.after(() => store.close());
  const [first, second] = [await createShop({ store }), await createShop({ store })];
  t.after(() => second.close());
  const { id } = await first.sellers.create({ name: 'My shop' });
  await first.as(id).products.create(MUG);
  await first.close();
  assert.equal((await second.as(id).products.get({ sku: MUG.sku })).stock, 40);
  const tests: [unknown, RegExp][] = [
    [{}, /openStore: Needs { folder } or { database, serverKeyFile }/],
    [{ folder: '' }, /Must be the path of a folder/],
  ];
  for (const [location, message] of tests) {
    // The cast: a wrong shape, as from JavaScript.
    await assert.rejects(openSharedStore(location as { folder: string }), message);
  }
});

test('rejects with the errors of the client', async (t) => {
  const { shop, id, api } = await openShop(t);
  const { key } = await shop.keys.create(id, { name: 'client' });
  const client = new SellerClient({
    baseUrl: 'http://shop.test', key, fetch: (url, init) => shop.fetch(new Request(url, init)),
  });
  await api.products.create(MUG);
  // The casts: as a program in JavaScript calls them.
  for (const [Class, call] of [
    [SkuTakenError, (seller) => seller.products.create(MUG)],
    [InvalidDataError, (seller) =>
      seller.products.create({ ...MUG, price: -1, color: 'red' } as never)],
    [InvalidDataError, (seller) => seller.products.listPage({ limit: 0 })],
    [InvalidDataError, (seller) => seller.products.get(7 as never)],
    [NotFoundError, (seller) => seller.products.get('prd_1')],
    [PreconditionFailedError, (seller) => seller.products.delete({ sku: 'MUG-1' }, { ifMatch: 9 })],
    [StockRejectedError, (seller) =>
      seller.stock.sync([{ sku: 'MUG-1', set: 1 }, { sku: 'NO', set: 1 }], { atomic: true })],
    [ResyncRequiredError, (seller) => seller.changes({ after: 'aaaaa-1' }).next()],
    [InvalidDataError, (seller) => seller.imports.revert({} as never)],
  ] as readonly (readonly [typeof ApiError, (seller: SellerApi) => Promise<unknown>])[]) {
    const [direct, remote] = await Promise.all([api, client].map(async (seller) => {
      const error = await call(seller).then(() => undefined, (reason: unknown) => reason);
      assert.ok(error instanceof Class, `${String(call)}: ${String(error)}`);
      const { name, message, code, status, issues, problem, retryAfterSeconds } = error;
      return { name, message, code, status, issues, problem, retryAfterSeconds };
    }));
    assert.deepEqual(direct, remote);
  }
});
