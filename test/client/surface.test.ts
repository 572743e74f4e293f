/** The client as a whole: a method for each route, its types, and other runtimes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { routes } from '../../src/api/routes.ts';
import { type Change, SellerClient } from '../../src/client/index.ts';
import { SellerApi } from '../../src/client/seller-client.ts';
import { features } from '../../src/features.ts';
import { startServer } from '../support/server.ts';
import { MUG } from './answers.ts';

const ROOT = join(import.meta.dirname, '../..');
const EACH_ROUTE = [...routes, ...features.flatMap((feature) => feature.routes ?? [])];
/** An import or export of more than types. */
const STATEMENT = /^(?:import|export) (?!type )(?:[^{}']*(?:\{[^{}]*\})? from )?'([^']+)';/gm;

/** Calls every method, and returns the requests. */
async function recordRequests(): Promise<readonly string[]> {
  const requests: string[] = [];
  const api = new SellerApi({
    async send({ method, path }) {
      requests.push(`${method} ${path}`);
      throw new Error('Recorded.');
    },
  });
  const bySku = { sku: 'A' };
  const calls: readonly (() => Promise<unknown>)[] = [
    () => api.products.create(MUG), () => api.products.put('A', MUG),
    ...['prd_1', bySku].flatMap((target) => [
      () => api.products.get(target), () => api.products.getIfChanged(target, 1),
      () => api.products.patch(target, {}), () => api.products.update(target, () => ({})),
      () => api.products.delete(target),
    ]),
    () => api.products.list().next(), () => api.products.listPage(),
    () => api.products.lookup([bySku]),
    () => api.products.export({ format: 'csv' }), () => api.products.import('sku\n'),
    () => api.stock.sync([]), () => api.stock.sync('{}\n'), () => api.stock.levels().next(),
    () => api.stock.movements().next(),
    () => api.imports.list().next(), () => api.imports.get('i'),
    () => api.imports.revert({ import: 'i' }),
    () => api.changes({ after: 0 }).next(), () => api.changes({ after: 0, live: true }).next(),
    () => api.webhooks.create({ url: 'https://x' }), () => api.webhooks.list().next(),
    () => api.webhooks.get('w'), () => api.webhooks.patch('w', {}), () => api.webhooks.delete('w'),
    () => api.webhooks.deliveries('w').next(), () => api.webhooks.delivery('w', 1),
    () => api.webhooks.resend('w', 1), () => api.webhooks.retry('w'), () => api.webhooks.test('w'),
    () => api.webhooks.replay('w', 0), () => api.webhooks.rotateSecret('w'),
  ];
  for (const call of calls) await assert.rejects(call, /Recorded/);
  return requests;
}

test('has a method for every route that needs a key, and requests no other path', async () => {
  const requests = await recordRequests();
  const closed = EACH_ROUTE.filter(({ scopes }) => scopes !== undefined);
  const patterns = closed.map(({ method, path }) => ({
    name: `${method} ${path}`,
    pattern: new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));
  assert.deepEqual(patterns.filter(({ pattern }) =>
    !requests.some((request) => pattern.test(request))).map(({ name }) => name), []);
  assert.deepEqual(requests.filter((request) =>
    !patterns.some(({ pattern }) => pattern.test(request))), []);
});

test('omits only the routes without a key', () => {
  const open = EACH_ROUTE.filter(({ scopes }) => scopes === undefined).map(({ path }) => path);
  assert.deepEqual(open, ['/healthz', '/readyz', '/api/v1/openapi.json']);
});

test('narrows a change by its type, and accepts undefined for every option', async (t) => {
  const describe = (change: Change): number => {
    switch (change.type) {
      case 'stock': return change.data.delta;
      case 'created': case 'updated': case 'deleted': return change.data.price;
      default: return change satisfies never;
    }
  };
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const shop = new SellerClient({ baseUrl, key, timeoutMs: undefined, retries: undefined });
  const nothing = { signal: undefined, timeoutMs: undefined, idempotencyKey: undefined };
  const { id } = await shop.products.create(MUG, nothing);
  await shop.products.patch(id, { price: undefined, stock: 2 }, { ...nothing, ifMatch: undefined });
  await shop.stock.sync([{ id, sku: undefined, set: 3 }], { ...nothing, source: undefined });
  const report = await shop.products.import([{ sku: 'MUG-1', stock: undefined, price: 5 }], {
    ...nothing, mode: undefined, map: undefined, report: undefined,
  });
  assert.equal((await report.summary()).updated, 1);
  const found = await Array.fromAsync(shop.products.list({ q: undefined, limit: undefined }));
  assert.deepEqual(found.map(({ stock }) => stock), [3]);
  const changes = await Array.fromAsync(shop.changes({ after: 0, types: undefined }));
  assert.deepEqual(changes.map(describe), [12.5, -38, 1, 5]);
});

test('updates a product despite concurrent changes', async (t) => {
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  const shop = new SellerClient({ baseUrl: `http://127.0.0.1:${server.port}`, key });
  const { id } = await shop.products.create({ ...MUG, stock: 0 });
  await Promise.all(Array.from({ length: 5 }, () =>
    shop.products.update(id, ({ stock }) => ({ stock: stock + 1 }))));
  const product = await shop.products.get(id);
  assert.equal(product.stock, 5);
  assert.deepEqual(await shop.products.update({ sku: 'MUG-1' }, () => undefined), product);
  let calls = 0;
  await assert.rejects(shop.products.update(id, (read) => {
    calls += 1;
    throw new RangeError(`Too few: ${read.stock}`);
  }), /Too few: 5/);
  assert.equal(calls, 1);
});

test('waits for the patch of an async update', async (t) => {
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  const shop = new SellerClient({ baseUrl: `http://127.0.0.1:${server.port}`, key });
  const { id } = await shop.products.create(MUG);
  const { stock } = await shop.products.update(id, async (product) => {
    await setImmediate();
    return { stock: product.stock + 2 };
  });
  assert.equal(stock, MUG.stock + 2);
  await assert.rejects(shop.products.update(id, async () => {
    throw new RangeError('No such price');
  }), /No such price/);
});

test('gives up an update that always conflicts', async () => {
  const requests: string[] = [];
  const shop = new SellerClient({
    baseUrl: 'https://shop.invalid', key: 'spk_x',
    async fetch(_, { method, headers } = {}) {
      requests.push(`${method} ${new Headers(headers).get('if-match')}`);
      if (method === 'GET') return Response.json({ id: 'prd_1', position: requests.length });
      return new Response('{"type":"urn:problem-type:seller-product-api:precondition-failed"}', {
        status: 412, headers: { 'content-type': 'application/problem+json' },
      });
    },
  });
  const update = shop.products.update('prd_1', () => ({ stock: 1 }));
  await assert.rejects(update, { name: 'PreconditionFailedError' });
  assert.equal(requests.length, 20);
  assert.deepEqual(requests.slice(2, 4), ['GET null', 'PATCH "3"']);
});

test('loads no module of Node', () => {
  const loaded = new Set(['src/client/index.ts']);
  const foreign: string[] = [];
  for (const path of loaded) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    for (const [, from = ''] of text.matchAll(STATEMENT)) {
      if (from.startsWith('.')) loaded.add(normalize(join(path, '..', from)));
      else foreign.push(`${path}: ${from}`);
    }
    // In examples, programs on Node read their environment.
    const code = text.replaceAll(/^ +\*.*$/gm, '');
    assert.doesNotMatch(code, /\b(?:Buffer|process)\.\w/, path);
  }
  assert.ok(loaded.size > 10);
  assert.deepEqual(foreign, []);
});

test('works if fetch sends the whole body before it reads the response', async (t) => {
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  const shop = new SellerClient({
    baseUrl: `http://127.0.0.1:${server.port}`, key,
    async fetch(url, init) {
      const body = init?.body instanceof ReadableStream
        ? await new Response(init.body).arrayBuffer() : init?.body ?? null;
      const { duplex: _, ...rest } = { duplex: undefined, ...init };
      return fetch(url, { ...rest, body });
    },
  });
  const rows = async function* () {
    for (let n = 0; n < 3_000; n += 1) yield { ...MUG, sku: `S-${n}` };
  };
  assert.equal((await (await shop.products.import(rows())).summary()).created, 3_000);
  const changes = async function* () { yield { sku: 'S-1', set: 1 }; };
  const report = await shop.stock.sync(changes());
  assert.equal((await report.summary()).applied, 1);
});
