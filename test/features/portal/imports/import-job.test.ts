/** One import job: its dry run, the import itself, and how it ends. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { describe, test, type TestContext } from 'node:test';
import { CONCURRENT_IMPORTS_PER_SELLER_LIMIT } from '../../../../src/api/limits.ts';
import { IMPORT_BATCH_ROWS } from '../../../../src/transfer/limits.ts';
import { AppError } from '../../../../src/domain/error.ts';
import { PORTAL_KEY_ID } from '../../../../src/domain/id.ts';
import { SKU_LIMIT_CODE_POINTS } from '../../../../src/domain/limits.ts';
import { findSku } from '../../../../src/domain/catalogue/product.ts';
import type { ImportJob } from '../../../../src/features/portal/imports/import-job.ts';
import { columnsOf } from '../../../../src/features/portal/imports/products/product-import.ts';
import { TemporaryFile } from '../../../../src/store/temporary/temporary-file.ts';
import { PREVIEW_ROWS_LIMIT, PREVIEW_ROWS_SHOWN } from '../../../../src/features/portal/limits.ts';
import { countTo, makeNewProduct, readAll } from '../../../store/contract/fixture.ts';
import {
  type Bench, commit, HEADER, makeRows, openBench, readRejected, retry, taskOf, upload, uploadOf,
} from './setup.ts';

const NOTHING = { created: 0, updated: 0, unchanged: 0, failed: 0, skipped: 0 };

/** A seller with three products, MUG-1 to MUG-3. */
async function openShop(t: TestContext): Promise<Bench> {
  const bench = await openBench(t);
  for (const n of [1, 2, 3]) {
    const members = { name: `Mug ${n}`, sku: `MUG-${n}`, price: 10 + n, stock: n };
    await bench.store.createProduct(bench.importer, makeNewProduct(members));
  }
  return bench;
}

async function findProduct({ store, importer }: Bench, text: string) {
  const sku = findSku(text);
  return sku && store.findProduct(importer.sellerId, { sku });
}

describe('the dry run of a file', () => {
  const FILE = `${HEADER}Mug 1,Kitchen,MUG-1,11,1\nMug 2,Kitchen,MUG-2,9.5,2\n`
    + 'New,Kitchen,NEW-1,5,1\nBad,Kitchen,BAD-1,cheap,1\n,,,,\nMug two,Kitchen,MUG-2,9.5,2\n';

  test('reports the outcome of each row, and changes nothing', async (t) => {
    const bench = await openShop(t);
    const job = await upload(bench, FILE);
    assert.equal(job.state.phase, 'ready');
    assert.equal(job.state.problem, undefined);
    assert.deepEqual(taskOf(job).progress.counts, {
      created: 1, updated: 2, unchanged: 1, failed: 1, skipped: 1,
    });
    assert.equal(taskOf(job).progress.processed, 6);
    assert.equal(taskOf(job).progress.readBytes, uploadOf(job).file.sizeBytes);
    const { preview } = taskOf(job);
    assert.equal(preview?.isComplete, true);
    const [difference, ...others] = preview.differences;
    assert.deepEqual(others, []); // MUG-2 counts once, although two rows change it
    assert.equal(difference?.line, 3);
    assert.deepEqual([difference.before.priceMinor, difference.after.priceMinor], [1200, 950]);
    const { rejected } = preview;
    assert.deepEqual(rejected.map(({ line, sku }) => [line, sku]), [[5, 'BAD-1']]);
    assert.match(rejected[0]?.reason ?? '', /^price: Write a plain number/);
    assert.equal((await readAll(bench.store, bench.importer.sellerId)).length, 3);
  });

  test('rejects existing products in create mode', async (t) => {
    const bench = await openShop(t);
    const job = await retry(await upload(bench, FILE), { mode: 'create' });
    const counts = { ...NOTHING, created: 1, failed: 4, skipped: 1 };
    assert.deepEqual(taskOf(job).progress.counts, counts);
    assert.deepEqual(taskOf(job).preview?.differences, []);
    const [taken] = taskOf(job).preview?.rejected ?? [];
    assert.equal(taken?.reason, 'You already have a product with this SKU.');
  });

  test('reads NDJSON too', async (t) => {
    const bench = await openShop(t);
    const job = await upload(bench,
      '{"name":"Mug 1","category":"Kitchen","sku":"MUG-1","price":1,"stock":1}\n{"sku":"A"}\n[]\n');
    assert.equal(columnsOf(taskOf(job)), undefined);
    assert.deepEqual(taskOf(job).progress.counts, { ...NOTHING, updated: 1, failed: 2 });
    assert.deepEqual(taskOf(job).preview?.rejected.map(({ sku }) => sku), ['A', undefined]);
  });

  test('keeps the first rows of each kind', async (t) => {
    const bench = await openBench(t);
    const count = PREVIEW_ROWS_SHOWN + 5;
    await commit(await upload(bench, HEADER + makeRows(count)));
    const long = `Bad,K,${'S'.repeat(1_000)},x,1\n`.repeat(count);
    const job = await upload(bench, HEADER + makeRows(count, 1, '3') + long);
    assert.deepEqual(taskOf(job).progress.counts, { ...NOTHING, updated: count, failed: count });
    const { preview } = taskOf(job);
    assert.equal(preview?.differences.length, PREVIEW_ROWS_SHOWN);
    assert.equal(preview.rejected.length, PREVIEW_ROWS_SHOWN);
    assert.equal(preview.rejected[0]?.sku?.length, SKU_LIMIT_CODE_POINTS);
  });

  test('stops at its row limit, and says so', async (t) => {
    const bench = await openBench(t);
    const blank = ',,,,\n'.repeat(PREVIEW_ROWS_LIMIT + 2 * IMPORT_BATCH_ROWS);
    const job = await upload(bench, `${HEADER}${blank}${makeRows(100_000)}`);
    assert.equal(taskOf(job).preview?.isComplete, false);
    assert.equal(taskOf(job).progress.processed, PREVIEW_ROWS_LIMIT);
    assert.ok(taskOf(job).progress.readBytes < uploadOf(job).file.sizeBytes);
    assert.ok(await job.commit(job.state.revision, job.importer), 'must start the import');
    await job.cancel();
  });

  test('reports why it cannot read the whole file, and blocks the import',
    async (t) => {
      const bench = await openBench(t);
      const job = await upload(bench, `${HEADER}${makeRows(1_500)}"Open,K,O-1,1,1\n`);
      assert.equal(job.state.phase, 'ready');
      assert.match(job.state.problem ?? '', /line 1502 is never closed/);
      assert.equal(taskOf(job).preview, undefined);
      assert.equal(await commit(job), false);
      assert.deepEqual(await readAll(bench.store, bench.importer.sellerId), []);
    });
});

describe('the columns of a file', () => {
  const FILE = 'Was,Gruppe,Kennung,Betrag,Vorrat,Farbe\n'
    + 'Mug,Kitchen,M-1,5,1,blue\nCup,,M-2,5,,\n';
  const MAP = [
    ['name', 'Was'], ['category', 'Gruppe'], ['sku', 'Kennung'], ['price', 'Betrag'],
  ] as const;

  test('are named if they are missing, and no row is evaluated', async (t) => {
    const job = await upload(await openBench(t), FILE);
    assert.equal(job.state.phase, 'ready');
    const missing = ['name', 'category', 'sku', 'price', 'stock'];
    assert.deepEqual(columnsOf(taskOf(job))?.missing, missing);
    const { state: { problem } } = job;
    const { preview, progress } = taskOf(job);
    assert.deepEqual([preview, problem, progress.processed], [undefined, undefined, 0]);
    assert.equal(await commit(job), false);
  });

  test('are read as the seller maps them, with defaults for blank cells', async (t) => {
    const bench = await openBench(t);
    const job = await upload(bench, FILE);
    await retry(job, { map: MAP });
    assert.deepEqual(columnsOf(taskOf(job))?.missing, ['stock']);
    const defaults = [['stock', '3'], ['category', 'Misc']] as const;
    await retry(job, { map: [...MAP, ['stock', 'Vorrat']], defaults });
    assert.deepEqual(columnsOf(taskOf(job))?.indexes, {
      name: [0], category: [1], sku: [2], price: [3], stock: [4], currency: [],
      barcode: [], description: [], metadata: [], low_stock: [], archived: [],
    });
    assert.deepEqual(taskOf(job).progress.counts, { ...NOTHING, created: 2 });
    assert.ok(await commit(job));
    const cup = await findProduct(bench, 'M-2');
    assert.deepEqual([cup?.category, cup?.stock], ['Misc', 3]);
  });
});

describe('an import', () => {
  test('writes the rows of the dry run, as the portal', async (t) => {
    const bench = await openShop(t);
    const job = await upload(bench, HEADER + makeRows(2_500) + 'Mug 1,Kitchen,MUG-1,1,1\n');
    assert.ok(await commit(job));
    assert.equal(job.state.phase, 'done');
    assert.deepEqual(taskOf(job).progress.counts, { ...NOTHING, created: 2_500, updated: 1 });
    assert.equal(taskOf(job).progress.readBytes, uploadOf(job).file.sizeBytes);
    assert.equal((await readAll(bench.store, bench.importer.sellerId)).length, 2_503);
    const { changes } = await bench.store.listChanges(bench.importer.sellerId, {
      after: 3, limit: 1,
    });
    assert.equal(changes[0]?.keyId, PORTAL_KEY_ID);
    assert.equal(uploadOf(job).openRejected(), undefined);
    assert.ok(uploadOf(job).rejected?.isComplete);
  });

  test('starts once, and not after its settings have changed', async (t) => {
    const bench = await openBench(t);
    const job = await upload(bench, HEADER + makeRows(1));
    const seen = job.state.revision;
    await retry(job, { mode: 'create' });
    assert.equal(await job.commit(seen, job.importer), false);
    assert.equal(await commit(job), true);
    assert.equal(await commit(job), false);
    await retry(job, { mode: 'upsert' });
    assert.deepEqual([job.state.phase, taskOf(job).settings.mode], ['done', 'create']);
  });

  test('keeps rejected rows in a file that can be corrected and imported', async (t) => {
    const bench = await openBench(t);
    const rows = countTo(3_000).map((n) => `"Mug; ${n}";K;S-${n};${n % 2 ? 'x' : 1};1\n`);
    const job = await upload(bench, `\uFEFFname;category;sku;price;stock\n${rows.join('')}`);
    await commit(job);
    assert.deepEqual(taskOf(job).progress.counts, { ...NOTHING, created: 1_500, failed: 1_500 });
    const text = await readRejected(job);
    const [header, first, ...rest] = text.split('\r\n');
    assert.equal(header, '\uFEFF"error";name;category;sku;price;stock');
    assert.match(first ?? '', /^"price: Write a plain number[^"]*";"Mug; 1";K;S-1;x;1$/);
    assert.equal(rest.length, 1_500);
    const corrected = await upload(bench, text.replaceAll(';x;', ';2;'));
    await commit(corrected);
    assert.deepEqual(taskOf(corrected).progress.counts, { ...NOTHING, created: 1_500 });
  });

  test('continues without the file of rejected rows if the disk is full',
    { skip: !existsSync('/dev/full') }, async (t) => {
      const bench = await openBench(t);
      const job = await upload(bench, HEADER + makeRows(5, 1, 'x') + makeRows(5));
      t.mock.method(TemporaryFile, 'create', async () =>
        new TemporaryFile(await open('/dev/full', 'r+')));
      await commit(job);
      assert.equal(job.state.phase, 'done');
      assert.deepEqual(taskOf(job).progress.counts, { ...NOTHING, created: 5, failed: 5 });
      const { rejected } = uploadOf(job);
      assert.deepEqual(rejected, { isComplete: false, hasParts: false, sizeBytes: undefined });
    });

  test('keeps and counts the written rows when it is cancelled', async (t) => {
    const { bench, job, written } = await startHeld(t, 3 * IMPORT_BATCH_ROWS);
    assert.equal(job.state.phase, 'importing');
    await job.cancel();
    written.resolve();
    await job.waitUntilIdle(60_000);
    assert.equal(job.state.phase, 'cancelled');
    assert.deepEqual(taskOf(job).progress.counts, { ...NOTHING, created: IMPORT_BATCH_ROWS });
    assert.equal((await readAll(bench.store, bench.importer.sellerId)).length, IMPORT_BATCH_ROWS);
  });

  test('waits no longer than its timeout', async (t) => {
    const { job, written } = await startHeld(t, 1);
    await job.waitUntilIdle(1);
    assert.equal(job.state.phase, 'importing');
    written.resolve();
    await job.waitUntilIdle(60_000);
    assert.equal(job.state.phase, 'done');
  });

  test('reports a store error, and counts the written rows', async (t) => {
    let calls = 0;
    const bench = await openBench(t, (store) => {
      const { importProducts } = store;
      store.importProducts = async (...args) => {
        calls += 1;
        if (calls === 2) throw new AppError('storage_full', 'The disk is full.', { cause: 'disk' });
        return importProducts.apply(store, args);
      };
      return store;
    });
    const job = await upload(bench, HEADER + makeRows(IMPORT_BATCH_ROWS + 1));
    await commit(job);
    assert.equal(job.state.phase, 'failed');
    assert.match(job.state.problem ?? '', /^The disk is full\. \(urn:uuid:.*\)$/);
    assert.deepEqual(taskOf(job).progress.counts, { ...NOTHING, created: IMPORT_BATCH_ROWS });
    assert.equal(bench.reports.length, 1);
  });
});

test('rejects imports beyond the limit, until another one ends', async (t) => {
  const bench = await openBench(t);
  const job = await upload(bench, HEADER + makeRows(1));
  const releases = countTo(CONCURRENT_IMPORTS_PER_SELLER_LIMIT).map(() =>
    bench.limiter.acquire(bench.importer.sellerId));
  await assert.rejects(job.commit(job.state.revision, job.importer), { code: 'unavailable' });
  assert.equal(job.state.phase, 'ready');
  const other = await upload(bench, HEADER + makeRows(1));
  assert.match(other.state.problem ?? '', /You already have 4 imports running/);
  for (const release of releases) release();
  assert.ok(await commit(job));
  await retry(other, {});
  assert.equal(other.state.problem, undefined);
  assert.deepEqual(taskOf(other).progress.counts, { ...NOTHING, unchanged: 1 });
  const acquire = () => bench.limiter.acquire(bench.importer.sellerId);
  countTo(CONCURRENT_IMPORTS_PER_SELLER_LIMIT).forEach(acquire);
});

/** A running import, whose first batch completes when the test resolves `written`. */
async function startHeld(t: TestContext, rows: number) {
  const written = Promise.withResolvers<void>();
  const bench = await openBench(t, (store) => {
    const { importProducts } = store;
    store.importProducts = async (...args) => {
      await written.promise;
      return importProducts.apply(store, args);
    };
    return store;
  });
  const job: ImportJob = await upload(bench, HEADER + makeRows(rows));
  assert.ok(await job.commit(job.state.revision, job.importer));
  return { bench, job, written };
}
