/** The description of a job, from which its pages are rendered, is plain data of bounded size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restartBulk } from '../../../../src/features/portal/imports/bulk/bulk-task.ts';
import type { ImportJob } from '../../../../src/features/portal/imports/import-job.ts';
import {
  restartRevert, subjectOf,
} from '../../../../src/features/portal/imports/revert/revert-task.ts';
import {
  type Bench, commit, HEADER, makeRows, openBench, readRejected, restart, taskOf, upload,
} from './setup.ts';

/** Leaves room for the columns and examples of a 256 KiB header, and for example rows. */
const SIZE_LIMIT_BYTES = 1024 * 1024;

/** The paths of values that JSON would lose or change; undefined members may be dropped. */
function findLosses(value: unknown, path = ''): string[] {
  switch (typeof value) {
    case 'string': case 'boolean': case 'undefined': return [];
    case 'number': return Number.isFinite(value) ? [] : [path];
    case 'object': break;
    default: return [path];
  }
  if (value === null) return [];
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) return [path];
  return Object.entries(value).flatMap(([name, member]) => findLosses(member, `${path}/${name}`));
}

function assertPlain({ description }: ImportJob): ImportJob['description'] {
  assert.deepEqual(findLosses(description), []);
  const text = JSON.stringify(description);
  assert.ok(text.length <= SIZE_LIMIT_BYTES, `${text.length} bytes`);
  // The cast: this is the serialized description.
  return JSON.parse(text) as ImportJob['description'];
}

async function uploadStock(bench: Bench, text: string): Promise<ImportJob> {
  const job = await upload(bench, text, 'stock.csv');
  const { task } = job.state;
  assert.ok(task.kind === 'stock');
  const settings = { ...task.settings, isComplete: true, zeroLimitPercent: 100 };
  await restart(job, { ...task, settings });
  await job.waitUntilIdle(60_000);
  return job;
}

test('is plain data before, during and after the import of a product file', async (t) => {
  const bench = await openBench(t);
  await commit(await upload(bench, HEADER + makeRows(30)));
  const job = await upload(bench,
    `${HEADER}${makeRows(30, 1, '5')}${makeRows(30, 1, '5')}${makeRows(90, 1, 'x')}`);
  const { phase, task } = assertPlain(job);
  assert.ok(phase === 'ready' && task.kind === 'products');
  assert.equal(task.preview?.differences.length, 20);
  assert.equal(task.progress.duplicates.count, 30);
  assert.equal(task.progress.commonCause?.rows, 90);
  assert.equal(task.file.rejected, undefined);
  assert.ok(await job.commit(job.state.revision, job.importer));
  assert.equal(assertPlain(job).phase, 'importing');
  await job.waitUntilIdle(60_000);
  const { phase: last, task: done } = assertPlain(job);
  assert.ok(last === 'done' && done.kind === 'products');
  assert.equal(done.file.rejected?.sizeBytes, Buffer.byteLength(await readRejected(job)));
  assert.ok(done.progress.importId);
});

test('is plain data for stocktakes and reverts, too', async (t) => {
  const bench = await openBench(t);
  const first = await upload(bench, HEADER + makeRows(30));
  await commit(first);
  const stocktake = await uploadStock(bench, 'sku,stock\nSKU-1,3\nSKU-2,x\nnone,5\n');
  const { task } = assertPlain(stocktake);
  assert.ok(task.kind === 'stock' && task.total.missing === 28);
  await commit(stocktake);
  assert.equal(assertPlain(stocktake).phase, 'done');

  const { store, importer: { sellerId }, jobs } = bench;
  const id = taskOf(first).progress.importId ?? assert.fail();
  const record = await store.findImport(sellerId, id) ?? assert.fail();
  const revert = await jobs.start(bench.importer,
    restartRevert({ subject: subjectOf(record), isForced: false }));
  await revert.waitUntilIdle(60_000);
  const { task: preview } = assertPlain(revert);
  assert.ok(preview.kind === 'revert' && preview.preview?.conflicts.length === 20);
});

test('is plain data for bulk edits', async (t) => {
  const bench = await openBench(t);
  await commit(await upload(bench, HEADER + makeRows(30)));
  const { importer, jobs } = bench;
  const order = {
    selection: { filter: { q: 'Product', stockMax: undefined } },
    change: { mode: 'category', category: 'Bath' },
  } as const;
  const job = await jobs.start(importer, restartBulk({ ...order, suggestions: ['Kitchen'] }));
  await job.waitUntilIdle(60_000);
  const { task } = assertPlain(job);
  assert.ok(task.kind === 'bulk' && task.preview?.products.length === 20 && task.total === 30);
  await commit(job);
  assert.equal(assertPlain(job).phase, 'done');
});

test('is bounded for any file content', async (t) => {
  const bench = await openBench(t);
  const long = 'ä'.repeat(4_000);
  const columns = Array.from({ length: 900 }, (_, n) => `${n} ${'c'.repeat(200)}`).join(',');
  const rows = Array.from({ length: 60 }, (_, n) => `${long},${long},${n}${long},${long},1\n`);
  const job = await upload(bench, `name,category,sku,price,stock,${columns}\n${rows.join('')}`);
  const { task } = assertPlain(job);
  assert.ok(task.kind === 'products');
  assert.equal(task.preview?.rejected.length, 20);
});
