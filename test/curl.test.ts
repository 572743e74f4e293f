/**
 * Runs every block of the guides that calls `curl`, in a shell, against a shop. Those of operation,
 * `src/cli/serve`, have tests of their own (`deployment.test.ts`, `cli/serve/runbook.test.ts`).
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { createShop, type Shop } from '../src/embed/shop.ts';
import { makeFolder } from './support/folder.ts';
import { makeTables } from './transfer/workbook/make-workbook.ts';

const ROOT = join(import.meta.dirname, '..');
const BLOCK = /^```sh\n(.*?)^```/gms;
const HEADER = 'sku,name,category,price,stock\n';
/** Before the times in the examples, so that the catalogue already has products then. */
const LONG_AGO = Date.parse('2026-10-15T00:00:00Z');
/** Enough changes for `at=1200`. */
const ROWS = Array.from({ length: 1_250 }, (_, n) => `OLD-${n},Mug,Kitchen,12,${n % 2}\n`);

/** A failed request fails the block. A stream that does not end is read for a moment. */
const SHELL = `set -eu
curl() {
  if [ "$1" = -N ]; then command curl --silent --fail --max-time 1 "$@" || [ $? = 28 ]
  else command curl --silent --show-error --fail-with-body --max-time 30 "$@"; fi
}
`;

const GUIDES = globSync(['README.md', 'src/**/*.md'], { cwd: ROOT, exclude: ['src/cli/serve/**'] });

const blocks = GUIDES.sort().flatMap((path) =>
  [...readFileSync(join(ROOT, path), 'utf8').matchAll(BLOCK)]
    .map(([, script = '']) => ({ path, script })))
  .filter(({ script }) => /^\s*curl\b|\$\(curl\b/m.test(script));

test('every curl command of the guides works as it is printed', {
  skip: spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed',
}, async (t) => {
  assert.ok(blocks.length >= 10, String(blocks.length));
  for (const [index, block] of blocks.entries()) await runBlock(t, index, block);
});

async function runBlock(
  t: TestContext, index: number, { path, script }: typeof blocks[number],
): Promise<void> {
  const folder = makeFolder(t);
  const data = join(folder, 'data');
  let now: number | undefined = LONG_AGO;
  const shop = await createShop({ folder: data }, {
    webhooks: { allowPrivate: true, allowHttp: true }, clock: () => now ?? Date.now(),
  });
  t.after(() => shop.close());
  const { port } = await shop.listen({ host: '127.0.0.1', port: 0 });
  const isFirst = path === 'README.md'; // it creates its own seller
  const seeded = isFirst ? undefined : await seed(shop);
  now = undefined;
  writeFileSync(join(folder, 'shop.csv'), `${HEADER}MUG-1,Mug,Kitchen,12,41\n`);
  writeFileSync(join(folder, 'stock.csv'), 'sku,stock\nMUG-1,39\n');
  writeFileSync(join(folder, 'shop.xlsx'), makeTables({
    Notes: [['Hello']], Prices: [['sku', 'price'], ['MUG-1', 13]],
  }));
  const url = `http://127.0.0.1:${port}`;
  const text = script.replaceAll(/http:\/\/127\.0\.0\.1:8080|https:\/\/shop\.example/g, url)
    .replaceAll(/\bimp_\w+/g, String(seeded?.importId))
    .replaceAll('node src/', `${process.execPath} ${ROOT}/src/`);
  const env = {
    PATH: process.env['PATH'], URL: url, KEY: seeded?.key, SELLER_API_DATA: data, HOME: folder,
  };
  const { stdout } = await promisify(execFile)('bash', ['-c', SHELL + text], {
    cwd: folder, env, maxBuffer: 50_000_000,
  }).catch((error) => assert.fail(
    `${path}, block ${index}:\n${script}${error.stdout.slice(-1_000)}${error.stderr}`));
  if (isFirst) assert.match(stdout, /"sku":"MUG-1"/);
}

/** A seller with the products of the examples, and a key. */
async function seed(shop: Shop) {
  const { id } = await shop.sellers.create({ name: 'Shop' });
  const { key } = await shop.keys.create(id, { name: 'curl' });
  const { products } = shop.as(id);
  await products.create({ name: 'Mug', category: 'Kitchen', sku: 'MUG-1', price: 12, stock: 40 });
  await products.create({ name: 'Cup', category: 'Kitchen', sku: 'CUP-1', price: 8, stock: 0 });
  const report = await products.import(HEADER + ROWS.join(''));
  const { import: importId } = await report.summary();
  return { key, importId };
}
