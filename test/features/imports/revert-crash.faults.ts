/** A revert whose server is killed, and its retry. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RevertedProduct, SellerClient } from '../../../src/client/index.ts';
import { startServing } from '../../support/command.ts';
import { assertHealthy } from '../../support/health.ts';
import { serveShop } from '../../cli/shop.ts';

/** Several batches. */
const MANY = 8_000;
const skuOf = (n: number): string => `SKU-${n}`;

test('continues a revert whose server was killed, and keeps the sales since', async (t) => {
  const shop = await serveShop(t);
  const open = (baseUrl: string) => new SellerClient({ baseUrl, key: shop.key, retries: 0 });
  const before = open(shop.serving.url);
  const rows = (stock: number): string => ['name,category,sku,price,stock',
    ...Array.from({ length: MANY }, (_, n) => `Product ${n},Kitchen,${skuOf(n)},1.5,${stock}`), '',
  ].join('\n');
  await (await before.products.import(rows(10))).summary();
  const wrong = await (await before.products.import(rows(99))).summary();
  const selection = { import: wrong.import ?? assert.fail() };
  const idempotencyKey = 'revert-1';

  const reported: RevertedProduct[] = [];
  await assert.rejects(async () => {
    const report = await before.imports.revert(selection, { idempotencyKey });
    for await (const product of report) {
      reported.push(product);
      if (reported.length === 1) await shop.serving.stop('SIGKILL');
    }
  }, { name: 'ConnectionError' });
  assert.ok(reported.length < MANY);
  assertHealthy(shop.data);

  const serving = await startServing(t, ['--data', shop.data, '--rate-limit', '0']);
  const after = open(serving.url);
  const [newest] = await Array.fromAsync(after.imports.list());
  const { id, finished_at: finished } = newest ?? assert.fail();
  assert.equal(finished, null);
  // By now the first product is restored, and the last one is not.
  await after.stock.sync([{ sku: skuOf(0), adjust: -1 }, { sku: skuOf(MANY - 1), adjust: -1 }]);
  const { restored: count = 0 } = (await after.imports.get(id)).counts;
  assert.ok(count >= reported.length && count < MANY, `${count}`);

  const report = await after.imports.revert(selection, { idempotencyKey });
  const products = await Array.fromAsync(report);
  const summary = await report.summary();
  assert.deepEqual(reported, products.slice(0, reported.length).map((product, index) =>
    ({ ...product, changes: reported[index]?.changes })));
  assert.deepEqual(summary, {
    restored: MANY - 1, deleted: 0, recreated: 0, unchanged: 0, conflicts: 1, import: id,
    position: 3 * MANY + 1, advice: summary.advice,
  });
  assert.deepEqual(products.at(-1)?.conflict, 'moved');
  const record = await after.imports.get(id);
  assert.deepEqual([record.counts['restored'], record.counts['conflicts']], [MANY - 1, 1]);
  const levels = await Array.fromAsync(after.stock.levels({ limit: 1_000 }));
  assert.deepEqual(levels.map(({ stock }) => stock),
    [9, ...Array.from({ length: MANY - 2 }, () => 10), 98]);
  assertHealthy(shop.data);
});
