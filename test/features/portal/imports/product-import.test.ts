/** One import of the portal: what is said before it is made, what is made, and how it ends. */
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
import type { ProductImport } from '../../../../src/features/portal/imports/product-import.ts';
import { TemporaryFile } from '../../../../src/features/portal/imports/temporary-file.ts';
import { PREVIEW_ROWS_LIMIT, PREVIEW_ROWS_SHOWN } from '../../../../src/features/portal/limits.ts';
import { countTo, makeNewProduct, readAll } from '../../../store/contract/fixture.ts';
import {
  type Bench, commit, HEADER, makeRows, openBench, readRefused, retry, upload,
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

describe('the preview of a file', () => {
  const FILE = `${HEADER}Mug 1,Kitchen,MUG-1,11,1\nMug 2,Kitchen,MUG-2,9.5,2\n`
    + 'New,Kitchen,NEW-1,5,1\nBad,Kitchen,BAD-1,cheap,1\n,,,,\nMug 2,Kitchen,MUG-2,9,2\n';

  test('says what would become of its rows, and changes nothing', async (t) => {
    const bench = await openShop(t);
    const one = await upload(bench, FILE);
    assert.equal(one.phase, 'ready');
    assert.equal(one.problem, undefined);
    assert.deepEqual(one.progress.counts, {
      created: 1, updated: 2, unchanged: 1, failed: 1, skipped: 1,
    });
    assert.equal(one.progress.rows, 6);
    assert.equal(one.progress.readBytes, one.progress.sizeBytes);
    assert.equal(one.preview?.isWhole, true);
    const [difference, ...others] = one.preview.differences;
    assert.deepEqual(others, []); // the second time it is changed from what the file made of it
    assert.equal(difference?.line, 3);
    assert.deepEqual([difference.before.priceMinor, difference.after.priceMinor], [1200, 950]);
    assert.deepEqual(one.preview.refused.map(({ line, sku }) => [line, sku]), [[5, 'BAD-1']]);
    assert.match(one.preview.refused[0]?.reason ?? '', /^price: Write a plain number/);
    assert.equal((await readAll(bench.store, bench.importer.sellerId)).length, 3);
  });

  test('in the mode that only creates refuses what is there', async (t) => {
    const bench = await openShop(t);
    const one = await retry(await upload(bench, FILE), { mode: 'create' });
    assert.deepEqual(one.progress.counts, { ...NOTHING, created: 1, failed: 4, skipped: 1 });
    assert.deepEqual(one.preview?.differences, []);
    const [taken] = one.preview?.refused ?? [];
    assert.equal(taken?.reason, 'You already have a product with this SKU.');
  });

  test('of lines of JSON is the same', async (t) => {
    const bench = await openShop(t);
    const one = await upload(bench,
      '{"name":"Mug 1","category":"Kitchen","sku":"MUG-1","price":1,"stock":1}\n{"sku":"A"}\n[]\n');
    assert.equal(one.columns, undefined);
    assert.deepEqual(one.progress.counts, { ...NOTHING, updated: 1, failed: 2 });
    assert.deepEqual(one.preview?.refused.map(({ sku }) => sku), ['A', undefined]);
  });

  test('shows the first of each kind', async (t) => {
    const bench = await openBench(t);
    const count = PREVIEW_ROWS_SHOWN + 5;
    await commit(await upload(bench, HEADER + makeRows(count)));
    const long = `Bad,K,${'S'.repeat(1_000)},x,1\n`.repeat(count);
    const one = await upload(bench, HEADER + makeRows(count, 1, '3') + long);
    assert.deepEqual(one.progress.counts, { ...NOTHING, updated: count, failed: count });
    assert.equal(one.preview?.differences.length, PREVIEW_ROWS_SHOWN);
    assert.equal(one.preview.refused.length, PREVIEW_ROWS_SHOWN);
    assert.equal(one.preview.refused[0]?.sku?.length, SKU_LIMIT_CODE_POINTS);
  });

  test('of a very long file ends before it, and says so', async (t) => {
    const bench = await openBench(t);
    const blank = ',,,,\n'.repeat(PREVIEW_ROWS_LIMIT + 2 * IMPORT_BATCH_ROWS);
    const one = await upload(bench, `${HEADER}${blank}${makeRows(100_000)}`);
    assert.equal(one.preview?.isWhole, false);
    assert.equal(one.progress.rows, PREVIEW_ROWS_LIMIT);
    assert.ok(one.progress.readBytes < one.progress.sizeBytes);
    assert.ok(one.commit(one.revision), 'cannot be imported');
    one.cancel();
  });

  test('of a file that cannot be read to its end says why, and it cannot be imported',
    async (t) => {
      const bench = await openBench(t);
      const one = await upload(bench, `${HEADER}${makeRows(1_500)}"Open,K,O-1,1,1\n`);
      assert.equal(one.phase, 'ready');
      assert.match(one.problem ?? '', /line 1502 is never closed/);
      assert.equal(one.preview, undefined);
      assert.equal(await commit(one), false);
      assert.deepEqual(await readAll(bench.store, bench.importer.sellerId), []);
    });
});

describe('the columns of a file', () => {
  const FILE = 'Titel,Warengruppe,Code,Preis,Menge,Farbe\nMug,Kitchen,M-1,5,1,blue\nCup,,M-2,5,,\n';
  const MAP = new Map([
    ['name', 'Titel'], ['category', 'Warengruppe'], ['sku', 'Code'], ['price', 'Preis'],
  ] as const);

  test('that are missing are named, and nothing is tried', async (t) => {
    const one = await upload(await openBench(t), FILE);
    assert.equal(one.phase, 'ready');
    assert.deepEqual(one.columns?.missing, ['name', 'category', 'sku', 'price', 'stock']);
    assert.deepEqual([one.preview, one.problem, one.progress.rows], [undefined, undefined, 0]);
    assert.equal(await commit(one), false);
  });

  test('are read as the seller says, with defaults for what is blank', async (t) => {
    const bench = await openBench(t);
    const one = await upload(bench, FILE);
    await retry(one, { map: MAP });
    assert.deepEqual(one.columns?.missing, ['stock']);
    const defaults = new Map([['stock', '3'], ['category', 'Misc']] as const);
    await retry(one, { map: new Map([...MAP, ['stock', 'Menge']]), defaults });
    assert.deepEqual(one.columns?.places, {
      name: [0], category: [1], sku: [2], price: [3], stock: [4], currency: [],
    });
    assert.deepEqual(one.progress.counts, { ...NOTHING, created: 2 });
    assert.ok(await commit(one));
    const cup = await findProduct(bench, 'M-2');
    assert.deepEqual([cup?.category, cup?.stock], ['Misc', 3]);
  });
});

describe('an import', () => {
  test('writes what was tried, in the name of the portal', async (t) => {
    const bench = await openShop(t);
    const one = await upload(bench, HEADER + makeRows(2_500) + 'Mug 1,Kitchen,MUG-1,1,1\n');
    assert.ok(await commit(one));
    assert.equal(one.phase, 'done');
    assert.deepEqual(one.progress.counts, { ...NOTHING, created: 2_500, updated: 1 });
    assert.equal(one.progress.readBytes, one.progress.sizeBytes);
    assert.equal((await readAll(bench.store, bench.importer.sellerId)).length, 2_503);
    const { changes } = await bench.store.listChanges(bench.importer.sellerId, {
      after: 3, limit: 1,
    });
    assert.equal(changes[0]?.keyId, PORTAL_KEY_ID);
    assert.equal(one.refused.file, undefined);
    assert.ok(one.refused.isComplete);
  });

  test('is made once, and not after its settings have changed', async (t) => {
    const bench = await openBench(t);
    const one = await upload(bench, HEADER + makeRows(1));
    const seen = one.revision;
    await retry(one, { mode: 'create' });
    assert.equal(one.commit(seen), false);
    assert.equal(await commit(one), true);
    assert.equal(await commit(one), false);
    await retry(one, { mode: 'upsert' });
    assert.deepEqual([one.phase, one.settings.mode], ['done', 'create']);
  });

  test('keeps the rows that were refused, to be mended and imported', async (t) => {
    const bench = await openBench(t);
    const rows = countTo(3_000).map((n) => `"Mug; ${n}";K;S-${n};${n % 2 ? 'x' : 1};1\n`);
    const one = await upload(bench, `\uFEFFname;category;sku;price;stock\n${rows.join('')}`);
    await commit(one);
    assert.deepEqual(one.progress.counts, { ...NOTHING, created: 1_500, failed: 1_500 });
    const text = await readRefused(one);
    const [header, first, ...rest] = text.split('\r\n');
    assert.equal(header, '\uFEFFname;category;sku;price;stock;"error"');
    assert.match(first ?? '', /^"Mug; 1";K;S-1;x;1;"price: Write a plain number[^"]*"$/);
    assert.equal(rest.length, 1_500);
    const mended = await upload(bench, text.replaceAll(';x;', ';2;'));
    await commit(mended);
    assert.deepEqual(mended.progress.counts, { ...NOTHING, created: 1_500 });
  });

  test('goes on without the file of refused rows, where the disk is full',
    { skip: !existsSync('/dev/full') }, async (t) => {
      const bench = await openBench(t);
      const one = await upload(bench, HEADER + makeRows(5, 1, 'x') + makeRows(5));
      t.mock.method(TemporaryFile, 'create', async () =>
        new TemporaryFile(await open('/dev/full', 'r+')));
      await commit(one);
      assert.equal(one.phase, 'done');
      assert.deepEqual(one.progress.counts, { ...NOTHING, created: 5, failed: 5 });
      assert.deepEqual([one.refused.isComplete, one.refused.file], [false, undefined]);
    });

  test('that is cancelled leaves what was written, and says how much', async (t) => {
    const { bench, one, written } = await beginHeld(t, 3 * IMPORT_BATCH_ROWS);
    assert.equal(one.phase, 'importing');
    one.cancel();
    written.resolve();
    await one.settle(60_000);
    assert.equal(one.phase, 'cancelled');
    assert.deepEqual(one.progress.counts, { ...NOTHING, created: IMPORT_BATCH_ROWS });
    assert.equal((await readAll(bench.store, bench.importer.sellerId)).length, IMPORT_BATCH_ROWS);
  });

  test('waits for no longer than it is told to', async (t) => {
    const { one, written } = await beginHeld(t, 1);
    await one.settle(1);
    assert.equal(one.phase, 'importing');
    written.resolve();
    await one.settle(60_000);
    assert.equal(one.phase, 'done');
  });

  test('that the store ends says why, and what was written', async (t) => {
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
    const one = await upload(bench, HEADER + makeRows(IMPORT_BATCH_ROWS + 1));
    await commit(one);
    assert.equal(one.phase, 'broken');
    assert.match(one.problem ?? '', /^The disk is full\. \(urn:uuid:.*\)$/);
    assert.deepEqual(one.progress.counts, { ...NOTHING, created: IMPORT_BATCH_ROWS });
    assert.equal(bench.reports.length, 1);
  });
});

test('imports beyond the limit are refused, and can be made when there is room', async (t) => {
  const bench = await openBench(t);
  const one = await upload(bench, HEADER + makeRows(1));
  const ends = countTo(CONCURRENT_IMPORTS_PER_SELLER_LIMIT).map(() =>
    bench.slots.acquire(bench.importer.sellerId));
  assert.throws(() => one.commit(one.revision), { code: 'unavailable' });
  assert.equal(one.phase, 'ready');
  const other = await upload(bench, HEADER + makeRows(1));
  assert.match(other.problem ?? '', /You already have 4 imports running/);
  for (const end of ends) end();
  assert.ok(await commit(one));
  await retry(other, {});
  assert.equal(other.problem, undefined);
  assert.deepEqual(other.progress.counts, { ...NOTHING, unchanged: 1 });
  const acquire = () => bench.slots.acquire(bench.importer.sellerId);
  countTo(CONCURRENT_IMPORTS_PER_SELLER_LIMIT).forEach(acquire);
});

/** An import of so many rows, the first unit of which is not written until a test says so. */
async function beginHeld(t: TestContext, rows: number) {
  const written = Promise.withResolvers<void>();
  const bench = await openBench(t, (store) => {
    const { importProducts } = store;
    store.importProducts = async (...args) => {
      await written.promise;
      return importProducts.apply(store, args);
    };
    return store;
  });
  const one: ProductImport = await upload(bench, HEADER + makeRows(rows));
  assert.ok(one.commit(one.revision));
  return { bench, one, written };
}
