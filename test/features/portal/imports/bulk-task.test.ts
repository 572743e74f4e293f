/** Bulk edits as jobs: batches, cancellation, and concurrent changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/domain/error.ts';
import type { ProductId } from '../../../../src/domain/id.ts';
import {
  type BulkTask, restartBulk,
} from '../../../../src/features/portal/imports/bulk/bulk-task.ts';
import type { ImportJob } from '../../../../src/features/portal/imports/import-job.ts';
import { noteCounts, withoutProgress } from '../../../../src/features/portal/imports/job-kinds.ts';
import { BULK_BATCH_PRODUCTS } from '../../../../src/features/portal/limits.ts';
import type { Store } from '../../../../src/store/store.ts';
import { makeNewProduct, readAll } from '../../../store/contract/fixture.ts';
import { revert } from '../../../store/contract/revert-fixture.ts';
import { type Bench, canStart, commit, openBench, restart } from './setup.ts';

type BulkOrder = Pick<BulkTask, 'selection' | 'change'>;
const EVERYTHING: BulkOrder = { selection: { filter: {} }, change: { mode: 'delete' } };
const COUNT = 3 * BULK_BATCH_PRODUCTS + 1;
const ALL = { before: undefined, limit: 9 };

async function createProducts({ store, importer }: Bench): Promise<void> {
  const products = Array.from({ length: COUNT }, () => makeNewProduct());
  await store.importProducts(importer, products, 'create');
}

interface Listing {
  readonly bench: Bench;
  readonly job: ImportJob;
}

/** A job whose dry run has ended. */
async function start({ jobs, importer }: Bench, order: BulkOrder): Promise<ImportJob> {
  const job = await jobs.start(importer, restartBulk({ ...order, suggestions: [] }));
  await job.waitUntilIdle(60_000);
  return job;
}

function taskOf({ state: { task } }: ImportJob): BulkTask {
  return task.kind === 'bulk' ? task : assert.fail();
}

test('writes batches under one record, and keeps written batches when cancelled', async (t) => {
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  let batches = 0;
  const bench = await openBench(t, (store): Store => ({
    ...store,
    editProducts: async (...args) => {
      batches += 1;
      if (batches === 3) {
        reached.resolve();
        await held.promise;
      }
      return store.editProducts(...args);
    },
  }));
  await createProducts(bench);
  const { store, importer } = bench;
  const job = await start(bench, EVERYTHING);
  assert.equal(taskOf(job).total, COUNT);
  assert.ok(await job.commit(job.state.revision, job.importer));
  await reached.promise;
  assert.equal(taskOf(job).progress.processed, 2 * BULK_BATCH_PRODUCTS);
  const cancelled = job.cancel();
  held.resolve();
  await cancelled;
  await job.waitUntilIdle(60_000);
  assert.equal(job.state.phase, 'cancelled');
  assert.equal((await readAll(store, importer.sellerId)).length, 1);
  const [record, ...others] = await store.listImports(importer.sellerId, ALL);
  assert.deepEqual([record?.counts['deleted'], record?.finishedAt, others.length],
    [3 * BULK_BATCH_PRODUCTS, undefined, 0]);

  const again = await start(bench, EVERYTHING);
  assert.ok(await commit(again));
  assert.deepEqual([again.state.phase, taskOf(again).progress.counts.deleted], ['done', 1]);
  assert.ok(record);
  const { statuses } = await revert(store, importer, { importId: record.id });
  assert.equal(statuses.length, 3 * BULK_BATCH_PRODUCTS);
  assert.equal((await readAll(store, importer.sellerId)).length, 3 * BULK_BATCH_PRODUCTS);
});

test('leaves a product alone that changes during the deletion', async (t) => {
  const bench = await openBench(t, (store): Store => ({
    ...store,
    editProducts: async (write, edits, reason) => {
      const [first] = edits;
      assert.ok(first);
      await store.patchProduct(bench.importer, { id: first.id }, { stock: 77 }, {});
      return store.editProducts(write, edits, reason);
    },
  }));
  const { store, importer } = bench;
  for (const sku of ['A', 'B']) await store.createProduct(importer, makeNewProduct({ sku }));
  const job = await start(bench, EVERYTHING);
  assert.ok(await commit(job));
  assert.deepEqual(taskOf(job).progress.counts,
    { updated: 0, deleted: 1, unchanged: 0, conflicts: 1 });
  assert.deepEqual((await readAll(store, importer.sellerId)).map(({ sku }) => sku), ['A']);
});

test('deletes no product that changed, or began to match, after the preview', async (t) => {
  const bench = await openBench(t);
  const { store, importer } = bench;
  const ids = new Map<string, ProductId>();
  for (const [sku, category] of [['A', 'Mugs'], ['B', 'Cups'], ['C', 'Cups']] as const) {
    const made = await store.createProduct(importer, makeNewProduct({ sku, category }));
    ids.set(sku, made.id);
  }
  const patch = (sku: string, members: object) =>
    store.patchProduct(importer, { id: ids.get(sku) ?? assert.fail() }, members, {});
  const job = await start(bench, {
    selection: { filter: { category: 'Cups' } }, change: { mode: 'delete' },
  });
  assert.equal(taskOf(job).total, 2);
  await patch('B', { stock: 3 });
  await patch('A', { category: 'Cups' });
  assert.ok(await commit(job));
  const { progress: { counts, processed } } = taskOf(job);
  assert.deepEqual([counts.deleted, counts.conflicts, processed], [1, 2, 3]);
  assert.deepEqual((await readAll(store, importer.sellerId)).map(({ sku }) => sku), ['A', 'B']);
});

test('shows the counts of its record after its node has stopped', async (t) => {
  const bench = await openBench(t);
  await createProducts(bench);
  const { store, importer } = bench;
  const selection = { filter: { category: 'Kitchen' } };
  const job = await start(bench, { selection, change: { mode: 'category', category: 'Bath' } });
  assert.ok(await commit(job));
  const [record] = await store.listImports(importer.sellerId, ALL);
  const task = withoutProgress(taskOf(job));
  noteCounts(task, record?.counts);
  assert.deepEqual([task.progress.processed, task.progress.counts], [COUNT, {
    updated: COUNT, deleted: 0, unchanged: 0, conflicts: 0,
  }]);
});

test('waits for the search, and can repeat the preview after a timeout', async (t) => {
  let busy = 1;
  let code: 'unavailable' | 'storage_full' = 'unavailable';
  const bench = await openBench(t, (store): Store => ({
    ...store,
    exportProducts: async (...args) => {
      busy -= 1;
      if (busy >= 0) throw new AppError(code, 'Later.');
      return store.exportProducts(...args);
    },
  }));
  await bench.store.createProduct(bench.importer, makeNewProduct());
  assert.equal(taskOf(await start(bench, EVERYTHING)).total, 1);
  [busy, code] = [1, 'storage_full'];
  const job = await start(bench, EVERYTHING);
  assert.deepEqual([job.state.problem, canStart(job)], ['Later.', false]);
  await restart(job, taskOf(job));
  await job.waitUntilIdle(60_000);
  assert.deepEqual([job.state.problem, canStart(job)], [undefined, true]);
});

test('fails with its problem, and can be started again', async (t) => {
  let isBroken = true;
  const bench = await openBench(t, (store): Store => ({
    ...store,
    editProducts: async (...args) => {
      if (isBroken) throw new Error('broken');
      return store.editProducts(...args);
    },
  }));
  await bench.store.createProduct(bench.importer, makeNewProduct());
  const job = await start(bench, EVERYTHING);
  assert.ok(await commit(job));
  assert.equal(job.state.phase, 'failed');
  assert.equal(bench.reports.length, 1);
  isBroken = false;
  const again = await start(bench, EVERYTHING);
  assert.ok(await commit(again));
  assert.equal(again.state.phase, 'done');
});

for (const [what, end, expected] of [
  ['is cancelled', ({ job }: Listing) => job.cancel(), ['cancelled', undefined]],
  ['loses its server', ({ bench }: Listing) => bench.jobs.close(),
    ['failed', 'The server stopped.']],
] as const) {
  test(`ends if it ${what} while it lists its products`, async (t) => {
    for (const isBusy of [false, true]) {
      let isListed = false;
      const listing = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<void>();
      const bench = await openBench(t, (store): Store => ({
        ...store,
        exportProducts: async (...args) => {
          if (isListed) {
            listing.resolve();
            await ended.promise;
            if (isBusy) throw new AppError('unavailable', 'Later.');
          }
          return store.exportProducts(...args);
        },
      }));
      await bench.store.createProduct(bench.importer, makeNewProduct());
      const job = await start(bench, EVERYTHING);
      isListed = true;
      assert.ok(await job.commit(job.state.revision, job.importer));
      await listing.promise;
      const ending = end({ bench, job });
      ended.resolve();
      await ending;
      await job.waitUntilIdle(60_000);
      assert.deepEqual([job.state.phase, job.state.problem], expected, `busy: ${isBusy}`);
      assert.equal((await readAll(bench.store, bench.importer.sellerId)).length, 1);
    }
  });
}
