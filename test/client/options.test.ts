/** Options of the client's methods: none is ignored, and sent ones have the names of the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routes } from '../../src/api/routes.ts';
import { InvalidDataError, SellerClient } from '../../src/client/index.ts';
import { SellerApi } from '../../src/client/seller-client.ts';
import { features } from '../../src/features.ts';
import { createShop } from '../../src/embed/shop.ts';
import { startServer } from '../support/server.ts';
import { MUG } from './answers.ts';

const GROUPS = ['products', 'stock', 'imports', 'webhooks', ''] as const;
const BY_SKU = { sku: 'MUG-1' };

/** Arguments before the options, for each method. */
const ARGUMENTS: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  'products.create': [[MUG]], 'products.get': [['prd_1'], [BY_SKU]],
  'products.getIfChanged': [['prd_1', 1], [BY_SKU, 1]], 'products.put': [['MUG-1', MUG]],
  'products.patch': [['prd_1', {}], [BY_SKU, {}]], 'products.update': [['prd_1', () => ({})]],
  'products.delete': [['prd_1'], [BY_SKU]], 'products.lookup': [[[BY_SKU]]],
  'products.list': [[]], 'products.listPage': [[]],
  'products.export': [[]], 'products.import': [['sku\n']],
  'stock.sync': [[[{ ...BY_SKU, set: 1 }]], ['{}\n']], 'stock.levels': [[]],
  'stock.movements': [[]],
  'imports.list': [[]], 'imports.get': [['imp_1']], 'imports.revert': [[{ import: 'imp_1' }]],
  'webhooks.create': [[{ url: 'https://x' }]], 'webhooks.list': [[]], 'webhooks.get': [['whk_1']],
  'webhooks.patch': [['whk_1', {}]], 'webhooks.delete': [['whk_1']],
  'webhooks.deliveries': [['whk_1']], 'webhooks.delivery': [['whk_1', 1]],
  'webhooks.resend': [['whk_1', 1]], 'webhooks.retry': [['whk_1']], 'webhooks.test': [['whk_1']],
  'webhooks.replay': [['whk_1', 0]], 'webhooks.rotateSecret': [['whk_1', '1h']],
  changes: [[]],
};

/** Values of options that do not take any text; the others are sent. */
const VALUES: Readonly<Record<string, unknown>> = {
  signal: AbortSignal.timeout(60_000), timeoutMs: 1_000, retries: 0, onResponse: () => {},
  onPosition: () => {}, ifMatch: 1, createOnly: true, isGzip: true, live: false, after: 0,
  metadata: { erp_id: '7' }, format: 'csv', type: 'text/csv', map: { name: 'Title' },
  default: 'stock:0',
};
/** Required by the method. */
const REQUIRED: Readonly<Record<string, object>> = {
  'products.export': { format: 'csv' }, changes: { after: 0 },
};

type Loose = (...args: unknown[]) => unknown;

interface Method {
  readonly name: string;
  readonly args: readonly unknown[];
  call(options: unknown): Promise<unknown>;
}

/** Every method of an API, with each of its kinds of arguments. */
function methodsOf(api: SellerApi): readonly Method[] {
  return GROUPS.flatMap((group) => {
    const owner: object = group === '' ? api : api[group];
    const prototype: object = group === '' ? SellerApi.prototype : Object.getPrototypeOf(owner);
    return Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor')
      .flatMap((member) => {
        const name = group === '' ? member : `${group}.${member}`;
        assert.ok(ARGUMENTS[name], `${name} has no arguments in this test`);
        return ARGUMENTS[name].map((args): Method => ({
          name, args,
          async call(options) {
            // The cast: as a program in JavaScript calls it.
            const result = (Reflect.get(owner, member) as Loose).call(owner, ...args, options);
            const list = Object(await result);
            if (Symbol.asyncIterator in list) await list[Symbol.asyncIterator]().next();
          },
        }));
      });
  });
}

/** A client whose requests all fail with a 400, and what it has sent. */
function record() {
  const requests: { method: string; url: URL; body: string; headers: Headers }[] = [];
  const api = new SellerClient({
    baseUrl: 'https://shop.invalid', key: 'spk_x',
    async fetch(url, { method = '', body, headers } = {}) {
      const text = body instanceof ReadableStream ? await new Response(body).text() : `${body}`;
      const sent = { method, url: new URL(String(url)), body: text, headers: new Headers(headers) };
      requests.push(sent);
      return new Response('{}', {
        status: 400, headers: { 'content-type': 'application/problem+json' },
      });
    },
  });
  return { api, requests };
}

/** The names of a method's options, as it lists them. */
async function readNames(method: Method): Promise<readonly string[]> {
  const error = await rejection(method, { noSuchOption: true });
  const [, list = ''] = /The options are: ([\w, ]+)\./.exec(error.message) ?? [];
  assert.ok(list, `${method.name}: ${error.message}`);
  return list.split(', ');
}

async function rejection(method: Method, options: unknown): Promise<InvalidDataError> {
  const outcome = await method.call(options).catch((error: unknown) => error);
  const call = `${method.name}(..., ${JSON.stringify(options)})`;
  assert.ok(outcome instanceof InvalidDataError, `${call}: ${String(outcome)}`);
  assert.equal(outcome.code, 'invalid_data', call);
  assert.equal(outcome.status, 400);
  return outcome;
}

const toSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

test('rejects an unknown or misspelt option of every method, and sends nothing', async (t) => {
  const { api: client, requests } = record();
  const shop = await createShop({ temporary: true });
  t.after(() => shop.close());
  const seller = await shop.sellers.create({ name: 'Shop' });
  for (const api of [client, shop.as(seller.id)]) {
    for (const method of methodsOf(api)) {
      const names = await readNames(method);
      for (const name of names) {
        const spellings = new Set([toSnakeCase(name), name.toLowerCase(), name.toUpperCase()]);
        for (const spelling of spellings) {
          if (spelling === name) continue;
          const options = { ...REQUIRED[method.name], [spelling]: VALUES[name] ?? 'x' };
          const error = await rejection(method, options);
          assert.deepEqual(error.issues.map(({ parameter, code }) => [parameter, code]),
            [[spelling, 'unknown']]);
          assert.match(error.message, new RegExp(`Write ${name}\\.`));
        }
      }
      for (const options of [null, 7, 'dryRun', []]) {
        assert.match((await rejection(method, options)).message, /options: Must be an object/);
      }
    }
  }
  assert.deepEqual(requests, []);
  const position = await shop.as(seller.id).products.export({ format: 'ndjson' });
  assert.equal(position.position, 0);
});

test('accepts each camelCase option, and sends it by the name of the API', async () => {
  const { api, requests } = record();
  for (const method of methodsOf(api)) {
    for (const name of await readNames(method)) {
      requests.length = 0;
      const value = VALUES[name] ?? 'x';
      await method.call({ ...REQUIRED[method.name], [name]: value }).catch(() => {});
      assert.equal(requests.length, 1, `${method.name} ${name}`);
      if (Object.hasOwn(VALUES, name)) continue;
      const [{ url, body, headers }] = requests as [typeof requests[0]];
      const sent = [
        url.searchParams.get(toSnakeCase(name)), headers.get('idempotency-key')?.slice(1, -1),
        body.startsWith('{') ? JSON.parse(body)[toSnakeCase(name)] : undefined,
      ];
      assert.ok(sent.includes('x'), `${method.name} ${name}: ${url} ${body}`);
    }
  }
});

test('has an option for every parameter of every route', async () => {
  const { api, requests } = record();
  for (const method of methodsOf(api)) {
    const options = Object.fromEntries((await readNames(method)).map((name) =>
      [name, VALUES[name] ?? 'x']));
    for (const isLive of [false, true]) {
      await method.call({ ...options, ...('live' in options && { live: isLive }) }).catch(() => {});
    }
  }
  const missing = [...routes, ...features.flatMap((feature) => feature.routes ?? [])]
    .filter(({ scopes }) => scopes !== undefined)
    .flatMap(({ method, path, query }) => {
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
      const sent = new Set(requests.filter((request) =>
        request.method === method && pattern.test(request.url.pathname)).flatMap((request) => [
        ...request.url.searchParams.keys(),
        ...(request.body.startsWith('{') ? Object.keys(JSON.parse(request.body)) : []),
      ]));
      return Object.keys(query).filter((name) => !sent.has(name))
        .map((name) => `${method} ${path} ${name}`);
    });
  assert.deepEqual(missing.filter((name) => !name.endsWith(' cursor')), [ // of lists
    'GET /api/v1/products metadata.*', // `metadata` sends each pair by its name
    'GET /api/v1/stock format', 'GET /api/v1/stock/movements format', 'GET /api/v1/changes wait',
  ]);
});

test('sends options of a class or a prototype, and rejects a Map of members', async (t) => {
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  const shop = new SellerClient({ baseUrl: `http://127.0.0.1:${server.port}`, key });
  await shop.products.create({ ...MUG, stock: 7 });
  const byGetter = new class { get dryRun() { return true; } }();
  for (const options of [byGetter, Object.create({ dryRun: true }) as { dryRun: boolean }]) {
    await shop.stock.sync([{ sku: MUG.sku, set: 99 }], options);
  }
  assert.equal((await shop.products.get({ sku: MUG.sku })).stock, 7);
  for (const metadata of [new Map([['erp', '1']]), new URLSearchParams('erp=1'), {}, new Date()]) {
    // The cast: as a program in JavaScript calls it.
    await assert.rejects(shop.products.listPage({ metadata } as object), InvalidDataError);
  }
  const patch = new Map([['price', 9]]) as object;
  await assert.rejects(shop.products.patch({ sku: MUG.sku }, patch), InvalidDataError);
});

test('keeps the data of a seller in messages as they are', async (t) => {
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  const shop = new SellerClient({ baseUrl: `http://127.0.0.1:${server.port}`, key });
  const product = { ...MUG, sku: 'red_mug=2' };
  await shop.products.create(product);
  await assert.rejects(shop.products.create(product), /the SKU "red_mug=2"/);
});

test('names options in messages of the server as the client does', async (t) => {
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  const shop = new SellerClient({ baseUrl: `http://127.0.0.1:${server.port}`, key });
  await shop.products.create(MUG);
  const issuesOf = async (call: () => Promise<unknown>) => {
    const error = await call().then(() => undefined, (reason: unknown) => reason);
    assert.ok(error instanceof InvalidDataError, String(error));
    return error.issues.map(({ parameter, pointer }) => parameter ?? pointer);
  };
  assert.deepEqual(await issuesOf(() => shop.products.listPage({ priceMin: -1 })), ['priceMin']);
  assert.deepEqual(await issuesOf(() =>
    shop.stock.sync([], { complete: true, zeroLimit: 101 })), ['/zeroLimit']);
  const text = 'sku,name,category,price,stock\nA,A,A,1\n';
  const report = await shop.products.import(text, { dryRun: true });
  const [row] = await Array.fromAsync(report);
  assert.match(String(row?.errors?.[0]?.detail), /set shortRows=blank/);
  await assert.rejects(shop.stock.sync([{ sku: 'NO', set: 1 }], { complete: true, zeroLimit: 0 }),
    /raise zeroLimit or set force to true/);
});
