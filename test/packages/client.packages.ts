/** The package of the client alone: `make pack-client`, installed and used as its users do. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { copyClone, make, ROOT, runOffline } from '../package/clone.ts';
import { makeFolder } from '../support/folder.ts';
import { startServer } from '../support/server.ts';

const NAME = 'seller-product-api-client';
/** The promise of its guide, in bytes: minified and compressed. */
const SIZE_LIMIT_BYTES = 15_000;

const PROGRAM = `
  import { NotFoundError, SellerClient } from '${NAME}';
  import { verifyWebhook } from '${NAME}/webhooks';

  const shop = new SellerClient({ baseUrl: process.env.SHOP_URL, key: process.env.KEY });
  const mug = { name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40 };
  await shop.products.create(mug);
  const rows = async function* () { yield { ...mug, price: 13 }; };
  const report = await shop.products.import(rows());
  const { updated } = await report.summary();
  const missing = await shop.products.get('prd_1').catch((error) => error);
  const { price } = await shop.products.update({ sku: 'MUG-1' }, async () => ({ stock: 1 }));
  console.log(updated, missing instanceof NotFoundError, price, typeof verifyWebhook);
  for await (const { type } of shop.changes({ after: 0, live: true })) {
    console.log(type);
    if (type === 'stock') process.exit();
  }`;

test('is small, has no server code, and works on older versions of Node', async (t) => {
  const folder = makeFolder(t);
  const clone = copyClone(join(folder, 'clone'));
  const archive = join(clone, (await make(clone, 'pack-client')).trim());
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{}');
  await runOffline(project, 'npm', ['install', archive]);

  const installed = join(project, 'node_modules', NAME);
  const modules = globSync('**/*.{js,ts}', { cwd: installed });
  assert.deepEqual(modules.filter((path) => !path.endsWith('.d.ts')
    && !/^(?:dist|src)\/(?:client\/|domain\/error|domain\/webhooks\/|runtime\/backoff)/.test(path)),
  []);
  for (const path of modules.filter((name) => name.endsWith('.d.ts'))) {
    assert.doesNotMatch(readFileSync(join(installed, path), 'utf8'), /sourceMappingURL/, path);
  }
  assert.doesNotMatch(readFileSync(join(installed, 'README.md'), 'utf8'),
    /\]\(\.|seller-product-api\/(?:client|webhooks)'/);

  const bundle = spawnSync(join(ROOT, 'node_modules/.bin/esbuild'), [
    join(installed, 'dist/client/index.js'), '--bundle', '--format=esm', '--minify',
  ]).stdout;
  const sizeBytes = gzipSync(bundle, { level: 9 }).length;
  assert.ok(sizeBytes > 5_000 && sizeBytes < SIZE_LIMIT_BYTES, `${sizeBytes} bytes`);

  symlinkSync(join(ROOT, 'node_modules/@types'), join(project, 'node_modules/@types'));
  writeFileSync(join(project, 'program.mts'), PROGRAM.replace('process.env.SHOP_URL', "''")
    .replace('process.env.KEY', 'null'));
  const checked = spawnSync(process.execPath, [
    join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--module', 'nodenext',
    '--target', 'es2022', '--types', 'node', 'program.mts',
  ], { cwd: project, encoding: 'utf8' });
  assert.equal(checked.stdout, '');

  writeFileSync(join(project, 'program.mjs'), PROGRAM);
  const server = await startServer(t);
  for (const node of [process.execPath, 'node']) { // the second one is that of the machine
    const { key } = await server.makeSeller();
    const { stdout } = await promisify(execFile)(node, ['program.mjs'], {
      cwd: project,
      env: { ...process.env, KEY: key, SHOP_URL: `http://127.0.0.1:${server.port}` },
    });
    assert.equal(stdout, '1 true 13 function\ncreated\nupdated\nstock\n');
  }
});
