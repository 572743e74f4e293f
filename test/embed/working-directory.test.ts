/** A program that changes its working directory keeps its catalogue: paths are resolved once. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { makeDataFolder, makeFolder } from '../support/folder.ts';

/** Opens `data` with a seller in one folder, and uses it from another that has a `data`, too. */
const PROGRAM = `
  import { existsSync } from 'node:fs';
  import { createShop } from ${JSON.stringify(import.meta.resolve('../../src/index.ts'))};
  const open = async (options) => {
    const shop = await createShop({ folder: 'data' }, options);
    const page = await shop.sellers.list().next();
    return { shop, id: page.value?.id ?? (await shop.sellers.create({ name: 'Shop' })).id };
  };
  const product = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 1 };
  const first = await open({});
  await first.shop.as(first.id).products.create({ ...product, stock: 0 });
  await first.shop.close();
  process.chdir('other');
  const other = await open({});
  await other.shop.as(other.id).products.create({ ...product, stock: 999 });
  await other.shop.close();
  process.chdir('..');
  const { shop, id } = await open({
    portal: { uploadFolder: 'uploads' }, webhooks: { allowHttp: true, allowPrivate: true },
  });
  const { key } = await shop.keys.create(id, { name: 'key' });
  const socket = await shop.listen({ socketPath: 'socket' });
  process.chdir('other');
  const api = shop.as(id);
  await api.webhooks.create({ url: 'http://127.0.0.1:9/' });
  const found = await Array.fromAsync(api.products.list({ q: 'mug', sort: '-stock' }));
  const exported = await shop.fetch(new Request('http://shop.test/api/v1/products', {
    headers: { 'x-api-key': key, accept: 'application/x-ndjson' },
  }));
  const rows = (await exported.text()).trim().split('\\n').map(JSON.parse);
  await api.products.create({ ...product, sku: 'MUG-2', stock: 1 });
  await shop.close();
  console.log(JSON.stringify({
    found: found.map(({ stock }) => stock), exported: rows.map(({ stock }) => stock),
    isSocketLeft: existsSync('../socket'),
  }));
`;

test('answers searches and exports from the catalogue that it opened', async (t) => {
  const folder = makeFolder(t);
  mkdirSync(join(folder, 'other'));
  for (const name of ['data', 'other/data']) {
    cpSync(makeDataFolder(t), join(folder, name), { recursive: true });
  }
  const { stdout } = await promisify(execFile)(
    process.execPath, ['--input-type=module', '--eval', PROGRAM],
    { timeout: 60_000, cwd: folder });
  assert.deepEqual(JSON.parse(stdout), { found: [0], exported: [0], isSocketLeft: false });
  assert.deepEqual(readdirSync(join(folder, 'other/data')),
    ['catalogue.db', 'high-water.json', 'server.key']); // and no search.db
  assert.ok(readdirSync(join(folder, 'data')).includes('search.db'));
  assert.deepEqual(readdirSync(join(folder, 'other')), ['data']);
});
