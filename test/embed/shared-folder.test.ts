/** A process opens a data folder once: its shops share a store, also after hot reload. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { createShop, openStore, type Shop } from '../../src/index.ts';
import { VERSION } from '../../src/runtime/version.ts';
import { makeDataFolder, makeFolder } from '../support/folder.ts';

const MUG = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12.5, stock: 40 };

/** Closes the shops even if the test fails. */
async function open(t: TestContext, ...args: Parameters<typeof createShop>): Promise<Shop> {
  const shop = await createShop(...args);
  t.after(() => shop.close({ deadlineMs: 0 }));
  return shop;
}

async function listSellers({ sellers }: Shop): Promise<readonly string[]> {
  return (await Array.fromAsync(sellers.list())).map(({ name }) => name);
}

test('shares the store of a folder, by any path, until its last user closes it', async (t) => {
  const folder = makeDataFolder(t);
  const link = join(makeFolder(t), 'link');
  const first = await open(t, { folder });
  symlinkSync(folder, link);
  const second = await open(t, { folder: link }, { baseUrl: 'https://shop.example/path' });
  const store = await openStore({ folder: relative('', folder) });
  const third = await open(t, { store });
  await first.sellers.create({ name: 'My shop' });
  await Promise.all([first.close(), first.close()]);
  await assert.rejects(first.sellers.create({ name: 'Late' }), { code: 'unavailable' });
  await second.close();
  assert.deepEqual(await listSellers(third), ['My shop']);
  await third.close();
  await assert.rejects(createShop({ folder }, { clock: () => 0 }), { code: 'unavailable' });
  await Promise.all([store.close(), store.close()]);
  // Another clock: it is another store.
  const last = await open(t, { folder }, { clock: () => 1_700_000_000_000 });
  assert.deepEqual(await listSellers(last), ['My shop']);
});

test('names the option that differs, and the remedy', async (t) => {
  const folder = makeDataFolder(t);
  const clock = () => 1_700_000_000_000;
  const shop = await open(t, { folder }, { clock });
  await open(t, { folder }, { clock });
  for (const other of [{}, { clock: () => 1_700_000_000_000 }]) {
    for (const call of [() => createShop({ folder }, other), () => openStore({ folder }, other)]) {
      await assert.rejects(call(), {
        code: 'unavailable',
        message: `This process has ${folder} open with another \`clock\`. Pass the same function, `
          + 'or first close the shops and stores that use it.',
      });
    }
  }
  await shop.sellers.create({ name: 'My shop' });
});

test('names both versions of the package, if another one has the folder open', async (t) => {
  const folder = makeDataFolder(t);
  await open(t, { folder });
  // The cast: the key is of this package.
  const folders = (globalThis as Record<symbol, unknown>)[
    Symbol.for('seller-product-api.open-folders')] as Map<string, { version: string }>;
  for (const entry of folders.values()) entry.version = '9.9.9';
  t.after(() => { for (const entry of folders.values()) entry.version = VERSION; });
  await assert.rejects(createShop({ folder }), {
    code: 'unavailable',
    message: `This process has ${folder} open by version 9.9.9 of seller-product-api, and this is `
      + `version ${VERSION}. Close the shops and stores that use it, or restart the process.`,
  });
});

test('creates a folder once for concurrent calls, of which all have it open', async (t) => {
  const folder = join(makeFolder(t), 'new', 'shop-data');
  const shops = await Promise.all(Array.from({ length: 5 }, () => open(t, { folder })));
  await shops[0]?.sellers.create({ name: 'My shop' });
  for (const [index, shop] of shops.entries()) {
    assert.deepEqual(await listSellers(shop), ['My shop']);
    await shops[index]?.close();
  }
});

test('opens a folder after an attempt that failed', async (t) => {
  const folder = makeDataFolder(t);
  writeFileSync(join(folder, 'catalogue.db'), 'not a database');
  const attempts = await Promise.allSettled([createShop({ folder }), createShop({ folder })]);
  for (const attempt of attempts) {
    assert.equal(attempt.status, 'rejected');
    assert.equal(attempt.reason.code, 'unavailable');
    assert.match(attempt.reason.message, /is not a database of this server/);
  }
  rmSync(join(folder, 'catalogue.db'));
  const shop = await open(t, { folder });
  assert.deepEqual(await listSellers(shop), []);
});

test('waits for a store that closes, and then opens another', async (t) => {
  const folder = makeDataFolder(t);
  for (let count = 1; count <= 5; count += 1) {
    const shop = await createShop({ folder });
    await shop.sellers.create({ name: `Shop ${count}` });
    const closing = shop.close();
    const others = await Promise.all([open(t, { folder }), open(t, { folder })]);
    for (const other of others) {
      assert.equal((await listSellers(other)).length, count);
      await other.close();
    }
    await closing;
  }
});

test('opens a folder that was emptied while it was open as a new one', async (t) => {
  const folder = makeDataFolder(t);
  const lost = await open(t, { folder });
  await lost.sellers.create({ name: 'Lost' });
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  const shop = await open(t, { folder });
  await assert.rejects(lost.sellers.create({ name: 'x' }), { code: 'unavailable' });
  assert.deepEqual(await listSellers(shop), []);
  await shop.sellers.create({ name: 'New' });
  await lost.close();
  assert.deepEqual(await listSellers(await open(t, { folder })), ['New']); // not closed by that
});

test('delivers each message of a webhook once, if several shops on a folder deliver', async (t) => {
  const folder = makeDataFolder(t);
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => { server.once('listening', resolve); });
  // The cast: a server on a port has such an address.
  const { port } = server.address() as AddressInfo;
  const webhooks = { allowHttp: true, allowPrivate: true };
  const shops = [await open(t, { folder }, { webhooks }), await open(t, { folder }, { webhooks })];
  const [shop = assert.fail(), other = assert.fail()] = shops;
  const { id } = await shop.sellers.create({ name: 'My shop' });
  const api = other.as(id);
  const { id: webhook } = await api.webhooks.create({ url: `http://127.0.0.1:${port}/` });
  for (let n = 1; n <= 5; n += 1) {
    await shop.as(id).products.create({ ...MUG, sku: `MUG-${n}` });
    // Closing a shop repeats the message whose delivery is not recorded.
    while ((await Array.fromAsync(api.webhooks.deliveries(webhook))).length < n) {
      await new Promise(setImmediate);
    }
  }
  await shop.close();
  await api.products.create({ ...MUG, sku: 'MUG-6' });
  while (received.length < 6) await new Promise(setImmediate);
  assert.deepEqual([received.length, new Set(received).size], [6, 6]);
});

/**
 * Loads the source again and again, as hot reload does: each `?copy=N` of the entry gets copies of
 * the modules that it imports; after the first ones, only of those that open folders.
 */
const RELOADING = `
  import { readdirSync, readlinkSync } from 'node:fs';
  import { registerHooks } from 'node:module';
  const entry = ${JSON.stringify(import.meta.resolve('../../src/index.ts'))};
  const folder = process.argv[1];
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const [, query, copy] = /([?]copy=([0-9]+))$/.exec(context.parentURL ?? '') ?? [];
      const isCopied = resolved.url.startsWith('file:') && !resolved.url.includes('?')
        && (copy < 3 || /[/]src[/](?:embed[/]|store[/]shared)/.test(resolved.url));
      return query && isCopied ? { ...resolved, url: resolved.url + query } : resolved;
    },
  });
  const links = () => readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync('/proc/self/fd/' + name)];
    } catch {
      return []; // that of this list
    }
  });
  const count = () => ({
    threads: readdirSync('/proc/self/task').length,
    files: links().filter((link) => link.startsWith(folder)).length,
  });
  const classes = new Set();
  let id;
  let before;
  for (let n = 0; n < 50; n += 1) {
    const { createShop, AppError } = await import(entry + '?copy=' + n);
    classes.add(AppError);
    const options = { portal: true, webhooks: true, onChange() {} };
    const shop = await createShop({ folder }, options); // and never closes it
    id ??= (await shop.sellers.create({ name: 'Shop' })).id;
    const { products } = shop.as(id);
    const mug = { ...${JSON.stringify(MUG)}, sku: 'MUG-' + n };
    await products.create(mug);
    const error = await products.create(mug).catch((thrown) => thrown);
    if (!(error instanceof AppError) || error.code !== 'sku_taken') throw error;
    if (error instanceof (class Other extends AppError {})) throw new Error('another class');
    await products.list({ q: 'mug' }).next(); // starts the thread of searches
    if (n === 24) before = count(); // what is opened when it is first needed is open by then
  }
  const after = count();
  console.log(JSON.stringify({
    copies: classes.size, files: after.files - before.files,
    hasFewThreads: after.threads - before.threads < 10, // Node starts its own when it needs them
  }));
  process.exit();
`;

test('needs no more threads and files after 50 reloads', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async (t) => {
  const { stdout } = await promisify(execFile)(
    process.execPath, ['--input-type=module', '--eval', RELOADING, makeDataFolder(t)],
    { timeout: 120_000 });
  assert.deepEqual(JSON.parse(stdout), { copies: 4, files: 0, hasFewThreads: true });
});
