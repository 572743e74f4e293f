/** `close` releases everything that a shop holds, so that an idle program exits. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { UnavailableError } from '../../src/client/errors.ts';
import type { ImportProduct } from '../../src/client/product.ts';
import { AppError } from '../../src/domain/error.ts';
import type { ShopOptions } from '../../src/embed/shop-options.ts';
import { createShop, type Shop } from '../../src/embed/shop.ts';
import { makeFolder } from '../support/folder.ts';

const MUG = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12.5, stock: 40 };

/** Two shops with everything that a shop can start, closed while all of it is in use. */
const PROGRAM = `
  import { once } from 'node:events';
  import { readdirSync } from 'node:fs';
  import { get } from 'node:http';
  import { tmpdir } from 'node:os';
  import { createShop } from ${JSON.stringify(import.meta.resolve('../../src/index.ts'))};
  await createShop({ temporary: true }, { trustedProxies: ['nonsense'] }).catch(() => {});
  const shops = await Promise.all([1, 2].map(async () => {
    const shop = await createShop({ temporary: true }, {
      portal: true, webhooks: { allowHttp: true, allowPrivate: true }, onChange() {},
    });
    const { id } = await shop.sellers.create({ name: 'Shop' });
    const { key } = await shop.keys.create(id, { name: 'key' });
    const { port } = await shop.listen({ host: '127.0.0.1', port: 0 });
    await shop.as(id).webhooks.create({ url: 'http://127.0.0.1:' + port + '/' });
    const received = Promise.withResolvers();
    shop.subscribe(id, { after: 0 }, received.resolve);
    await shop.as(id).products.create(${JSON.stringify(MUG)});
    await received.promise;
    const live = { headers: { 'x-api-key': key, accept: 'text/event-stream' } };
    const path = '/api/v1/changes?after=0';
    const { body } = await shop.fetch(new Request('http://shop.test' + path, live));
    await body.getReader().read(); // the rest stays unread
    const [stream] = await once(get({ port, path, ...live }), 'response');
    await once(stream, 'readable');
    shop.as(id).changes({ after: 1, live: true }).next().catch(() => {});
    await shop.fetch(new Request('http://shop.test/portal/sign-in'));
    return { shop, body, stream };
  }));
  await Promise.all(shops.flatMap(({ shop }) => [shop.close(), shop.close()]));
  await shops[0].shop.close();
  // Except for its own output, and requests that end by themselves.
  const resources = process.getActiveResourcesInfo()
    .filter((name) => !/^(?:PipeWrap|TTYWrap|FSReq.*|CloseReq)$/.test(name));
  process.stdout.write(JSON.stringify({ files: readdirSync(tmpdir()), resources }));
`;

/** The output of a program, which must end by itself. */
async function runProgram(t: TestContext, program: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath, ['--input-type=module', '--eval', program],
    { timeout: 180_000, env: { ...process.env, TMPDIR: makeFolder(t) } });
  return JSON.parse(stdout);
}

test('lets a program exit by itself, and removes temporary folders', async (t) => {
  assert.deepEqual(await runProgram(t, PROGRAM), { files: [], resources: [] });
});

test('rejects every call after it is closed', async () => {
  const shop = await createShop({ temporary: true });
  const { id } = await shop.sellers.create({ name: 'Shop' });
  const { id: keyId } = await shop.keys.create(id, { name: 'key' });
  const api = shop.as(id);
  await Promise.all([shop.close(), shop.close()]);
  const uses: ((closed: Shop) => unknown)[] = [
    ({ sellers }) => sellers.create({ name: 'x' }),
    ({ sellers }) => Array.fromAsync(sellers.list()),
    ({ sellers }) => sellers.disable(id),
    ({ sellers }) => sellers.invite(),
    ({ keys }) => keys.create(id, { name: 'x' }),
    ({ keys }) => Array.fromAsync(keys.list(id)),
    ({ keys }) => keys.rotate(keyId),
    ({ keys }) => keys.revoke(keyId),
    ({ listen }) => listen({ host: '127.0.0.1', port: 0 }),
    ({ subscribe }) => subscribe(id, { after: 0 }, () => {}),
    () => api.products.create(MUG),
    () => Array.fromAsync(api.changes({ after: 0 })),
  ];
  for (const use of uses) {
    await assert.rejects(async () => use(shop), (error) => {
      assert.ok(error instanceof AppError, `${String(use)}: ${String(error)}`);
      return error.code === 'unavailable';
    });
  }
  for (const use of [() => api.products.create(MUG), () => shop.as(id).products.get('prd_1')]) {
    await assert.rejects(use, UnavailableError);
  }
  const request = new Request('http://shop.test/api/v1/products');
  assert.equal((await shop.fetch(request)).status, 503);
});

/** More than one batch and one chunk. */
const ROWS = 3_000;

function* makeRows(): Generator<object> {
  for (let n = 0; n < ROWS; n += 1) yield { ...MUG, sku: `MUG-${n}` };
}

async function openShop(t: TestContext, options: ShopOptions = {}) {
  const shop = await createShop({ temporary: true }, options);
  t.after(() => shop.close({ deadlineMs: 0 }));
  const { id } = await shop.sellers.create({ name: 'Shop' });
  return { shop, id, api: shop.as(id) };
}

const isUnavailable = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof AppError, String(error));
  assert.equal(error.code, 'unavailable');
  assert.match(error.message, pattern);
  return true;
};
const isCut = isUnavailable(/The shop was closed before this call was complete\./);
const isClosed = isUnavailable(/The shop is closed\.$/);

test('finishes the calls in flight, with complete reports', async (t) => {
  const { shop, api } = await openShop(t);
  await (await api.products.import(makeRows() as Iterable<ImportProduct>)).summary();
  const [{ id: importId } = assert.fail()] = await Array.fromAsync(api.imports.list());
  const dryRun = await api.imports.revert({ import: importId }, { dryRun: true });
  const exported = await api.products.export({ format: 'ndjson' });
  const rows = makeRows();
  const slow = async function* (): AsyncGenerator<ImportProduct> {
    for (const row of rows) {
      yield { ...row as ImportProduct, price: 1 };
      await setImmediate();
    }
  };
  const imported = await api.products.import(slow(), { report: 'all' });
  const changes = Array.from({ length: ROWS }, (_, n) => ({ sku: `MUG-${n}`, adjust: 1 }));
  const synced = await api.stock.sync(new Set(changes));
  const created = api.products.create({ ...MUG, sku: 'LAST' });
  const list = api.products.list({ limit: 1 });
  await list.next();
  const live = Array.fromAsync(api.changes({ after: 0, live: true }));
  const closing = shop.close({ deadlineMs: 86_400_000 });
  await assert.rejects(live, isClosed);
  await assert.rejects(api.products.create({ ...MUG, sku: 'LATE' }), isClosed);
  await assert.rejects(list.next(), isClosed); // another request
  assert.equal((await created).sku, 'LAST');
  const [lines, text] = await Promise.all([Array.fromAsync(imported), Array.fromAsync(exported)]);
  assert.equal(lines.length, ROWS);
  assert.equal(Buffer.concat(text).toString().split('\n').length, ROWS + 1);
  assert.equal((await imported.summary()).updated, ROWS);
  assert.equal((await synced.summary()).applied, ROWS);
  const { deleted, conflicts } = await dryRun.summary();
  assert.equal(deleted + conflicts, ROWS);
  await closing;
});

/** Never ends. */
const stalled = async function* (): AsyncGenerator<ImportProduct> {
  yield { ...MUG, sku: 'FIRST' };
  await new Promise(() => {});
};

test('cuts the calls that are in flight at the deadline', async (t) => {
  const { shop, api } = await openShop(t);
  await (await api.products.import(makeRows() as Iterable<ImportProduct>)).summary();
  const abandoned = await api.products.import(makeRows() as Iterable<ImportProduct>);
  const unread = await api.products.export({ format: 'csv' });
  const begun = (await api.products.export({ format: 'ndjson' }))[Symbol.asyncIterator]();
  await begun.next();
  const waiting = api.products.import(stalled());
  waiting.catch(() => {});
  const aborting = new AbortController();
  const aborted = api.products.import(stalled(), { signal: aborting.signal });
  aborting.abort(new Error('enough'));
  await assert.rejects(aborted, /enough/);
  await shop.close({ deadlineMs: 1 });
  await assert.rejects(waiting, isCut);
  await assert.rejects(abandoned.summary(), isCut);
  await assert.rejects(Array.fromAsync(unread), isCut);
  await assert.rejects(Array.fromAsync({ [Symbol.asyncIterator]: () => begun }), isCut);
});

test('the earliest deadline of several calls counts, also within what it waits for', async (t) => {
  const { shop, id, api } = await openShop(t, {
    authenticate: async () => { // waits for itself
      await shop.close({ deadlineMs: 60_000 });
      return undefined;
    },
  });
  await api.products.create(MUG);
  const called = Promise.withResolvers<void>();
  shop.subscribe(id, { after: 0 }, async () => {
    called.resolve();
    await shop.close();
  });
  const report = await api.products.import(makeRows() as Iterable<ImportProduct>);
  await called.promise;
  const request = assert.rejects(shop.fetch(new Request('http://shop.test/api/v1/products')));
  const late = shop.close({ deadlineMs: 86_400_000 });
  await shop.close({ deadlineMs: 1 });
  await Promise.all([late, shop.close(), assert.rejects(report.summary(), isCut)]);
  await request;
});

test('rejects other deadlines, and stays open', async (t) => {
  const { shop, api } = await openShop(t);
  const listener = await shop.listen({ host: '127.0.0.1', port: 0 });
  const wrong = [{ deadlineMs: -1 }, { deadlineMs: 1.5 }, { deadlineMs: 86_400_001 },
    { deadlineMs: '1' }, { deadline_ms: 1 }, { deadline: 1 }, 'SIGTERM', null];
  for (const options of wrong) {
    // The casts: a program in JavaScript may pass anything.
    await assert.rejects(shop.close(options as never), { code: 'invalid_data' });
    await assert.rejects(listener.stop(options as never), { code: 'invalid_data' });
  }
  await api.products.create(MUG);
});

/** A shop with all that can keep it from closing: clients and functions that do nothing more. */
const STALLED_PROGRAM = `
  import { once } from 'node:events';
  import { readdirSync } from 'node:fs';
  import { createServer, get, request } from 'node:http';
  import { connect } from 'node:net';
  import { tmpdir } from 'node:os';
  import { createShop } from ${JSON.stringify(import.meta.resolve('../../src/index.ts'))};
  const asked = Promise.withResolvers();
  const shop = await createShop({ temporary: true }, {
    portal: true, webhooks: { allowHttp: true, allowPrivate: true },
    authenticate({ headers }) {
      if (!headers.stall) return undefined;
      asked.resolve();
      return new Promise(() => {});
    },
  });
  const { id } = await shop.sellers.create({ name: 'Shop' });
  const { key } = await shop.keys.create(id, { name: 'key' });
  const api = shop.as(id);
  const row = ${JSON.stringify(MUG)};
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ ...row, sku: 'MUG-' + n }));
  await (await api.products.import(rows)).summary();
  const { port } = await shop.listen({ host: '127.0.0.1', port: 0 });
  const own = createServer(shop.handle).listen(0, '127.0.0.1');
  await once(own, 'listening');
  const headers = { 'x-api-key': key };
  const path = '/api/v1/products?format=csv';
  const send = (target) => new Promise((resolve) => {
    const outgoing = request({ port: target, headers, path: '/api/v1/products/import',
      method: 'POST' }).on('error', resolve);
    outgoing.setHeader('content-type', 'application/x-ndjson');
    outgoing.write(JSON.stringify(row) + '\\n'); // and no more
  });
  const responses = [];
  const cut = [port, own.address().port].flatMap((target) => [
    send(target),
    new Promise((resolve) => { // reads no more than its socket buffers
      get({ port: target, path, headers: { ...headers, accept: 'text/csv' } }, (response) =>
        responses.push(response.on('error', resolve).once('readable', () => {})))
        .on('error', resolve);
    }),
    new Promise((resolve) => {
      get({ port: target, path: '/api/v1/products', headers: { stall: 'yes' } })
        .on('error', resolve);
    }),
  ]);
  const half = connect(port, '127.0.0.1').on('error', () => {}); // half a request
  half.write('GET / HTTP/1.1\\r\\n');
  await asked.promise;
  const { body } = await shop.fetch(new Request('http://shop.test' + path,
    { headers: { ...headers, accept: 'text/csv' } }));
  const reader = body.getReader();
  await reader.read();
  const called = Promise.withResolvers();
  const subscription = shop.subscribe(id, { after: 0 }, () => {
    called.resolve();
    return new Promise(() => {});
  });
  await called.promise;
  await api.products.import(rows);
  (await api.products.export({ format: 'csv' }))[Symbol.asyncIterator]().next();
  (await api.changes({ after: 0, live: true })).next().catch(() => {});
  await shop.close({ deadlineMs: 100 });
  for (const response of responses) response.resume(); // so that Node sees the reset
  const errors = await Promise.all([...cut,
    (async () => { for (;;) if ((await reader.read()).done) return 'complete'; })()
      .catch((error) => error)]);
  own.close();
  half.destroy();
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
  const resources = process.getActiveResourcesInfo()
    .filter((name) => !/^(?:PipeWrap|TTYWrap|FSReq.*|CloseReq)$/.test(name));
  process.stdout.write(JSON.stringify({
    errors: errors.map((error) => error instanceof Error), files: readdirSync(tmpdir()), resources,
  }));
`;

test('releases everything at the deadline, whether readers or writers have stalled', async (t) => {
  assert.deepEqual(await runProgram(t, STALLED_PROGRAM),
    { errors: Array.from({ length: 7 }, () => true), files: [], resources: [] });
});
