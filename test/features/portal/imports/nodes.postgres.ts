/** Import jobs on several nodes that share a database: any node can continue a job. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../../../../src/domain/error.ts';
import { restartBulk } from '../../../../src/features/portal/imports/bulk/bulk-task.ts';
import { isRunning } from '../../../../src/features/portal/imports/job-kind.ts';
import {
  restartRevert, subjectOf,
} from '../../../../src/features/portal/imports/revert/revert-task.ts';
import {
  IMPORT_LIFE_MS, IMPORT_SILENCE_LIMIT_MS, IMPORTS_KEPT_PER_SELLER_LIMIT,
} from '../../../../src/features/portal/limits.ts';
import { IMPORT_BATCH_ROWS } from '../../../../src/transfer/limits.ts';
import { countTo, readAll } from '../../../store/contract/fixture.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { changeJobs, holdSecondBatch, openNodes, Suspension } from './nodes-setup.ts';
import {
  canStart, chunksOf, commit, HEADER, makeRows, readRejected, restart, retry, taskOf, upload,
  uploadOf,
} from './setup.ts';

const GONE = { code: 'not_found', message: /no longer exists/ };
const options = { skip: NO_POSTGRES, concurrency: 4 };

describe('import jobs on nodes that share a database', options, () => {
  const FILE = `${HEADER}${makeRows(3)}Bad,Kitchen,BAD-1,cheap,1\n`;

  test('are previewed, imported and downloaded through another node', async (t) => {
    const { a, b, query } = await openNodes(t);
    const { id, description } = await upload(a, FILE);
    const shown = await b.find(id);
    assert.deepEqual(JSON.stringify(shown.description), JSON.stringify(description));
    assert.deepEqual((await b.jobs.list(b.importer.sellerId)).map((job) => job.id), [id]);
    await retry(shown, { mode: 'create' });
    const changed = await a.find(id);
    assert.equal(taskOf(changed).settings.mode, 'create');
    assert.equal(changed.state.revision, description.revision + 1);
    const started = await b.find(id);
    const starter = { ...b.importer, actorName: 'Ben' };
    assert.ok(await started.commit(started.state.revision, starter));
    await started.waitUntilIdle(60_000);
    const done = await a.find(id);
    assert.deepEqual([done.state.phase, done.importer], ['done', starter]);
    const [record] = await a.store.listImports(starter.sellerId, { before: undefined, limit: 1 });
    assert.equal(record?.actor, 'Ben');
    assert.deepEqual([taskOf(done).progress.counts.created, taskOf(done).progress.counts.failed],
      [3, 1]);
    assert.match(await readRejected(done),
      /^\uFEFF"error",name,.*\r\n"price: Write.*",Bad,Kitchen,BAD-1,cheap,1\r/);
    assert.deepEqual(await query('SELECT DISTINCT file FROM import_job_chunk'),
      [{ file: 'rejected' }]);
  });

  test('continue on another node if they are stocktakes or reverts, too', async (t) => {
    const { a, b } = await openNodes(t);
    const created = await upload(a, HEADER + makeRows(3));
    await commit(created);
    const read = await upload(a, 'sku,stock\nSKU-1,9\nSKU-2,x\n', 'stock.csv');
    const stocktake = await b.find(read.id);
    const { task } = stocktake.state;
    assert.ok(task.kind === 'stock');
    const settings = { ...task.settings, isComplete: true, zeroLimitPercent: 100 };
    await restart(stocktake, { ...task, settings });
    await stocktake.waitUntilIdle(60_000);
    const checked = await a.find(read.id);
    assert.ok(checked.state.task.kind === 'stock');
    assert.deepEqual(checked.state.task.total, { missing: 1, inStock: 3 });
    assert.ok(await commit(checked));
    const { state: { phase, task: counted } } = await b.find(read.id);
    assert.ok(phase === 'done' && counted.kind === 'stock');
    assert.deepEqual([counted.progress.counts.applied, counted.progress.counts.zeroed], [1, 1]);

    const { store, importer } = a;
    const importId = taskOf(created).progress.importId ?? assert.fail();
    const record = await store.findImport(importer.sellerId, importId) ?? assert.fail();
    const started = await a.jobs.start(importer,
      restartRevert({ subject: subjectOf(record), isForced: false }));
    await started.waitUntilIdle(60_000);
    const revert = await b.find(started.id);
    assert.ok(revert.state.task.kind === 'revert');
    assert.equal(revert.state.task.progress.counts.conflict, 2);
    await restart(revert, { ...revert.state.task, isForced: true });
    await revert.waitUntilIdle(60_000);
    assert.ok(await commit(await a.find(started.id)));
    assert.equal((await b.find(started.id)).state.phase, 'done');
    assert.deepEqual(await readAll(b.store, importer.sellerId), []);
  });

  test('continue on another node if they are bulk edits', async (t) => {
    const { a, b } = await openNodes(t);
    await commit(await upload(a, HEADER + makeRows(3)));
    const { importer } = a;
    const change = { mode: 'category', category: undefined } as const;
    const selection = { filter: { stockMax: 7 } };
    const task = restartBulk({ selection, change, suggestions: [] });
    const { id } = await a.jobs.start(importer, task);
    const shown = await b.findWhen(id, ({ state }) => !isRunning(state));
    assert.ok(shown.state.task.kind === 'bulk' && !canStart(shown));
    await restart(shown, { ...shown.state.task, change: { mode: 'category', category: 'Bath' } });
    await shown.waitUntilIdle(60_000);
    assert.ok(await commit(await a.find(id)));
    const { state: { phase, task: done } } = await b.find(id);
    assert.ok(phase === 'done' && done.kind === 'bulk' && done.progress.counts.updated === 3);
    const products = await readAll(b.store, importer.sellerId);
    assert.deepEqual(products.map(({ category }) => category), ['Bath', 'Bath', 'Bath']);
  });

  test('read a file of many chunks', async (t) => {
    const { a, b } = await openNodes(t);
    const text = HEADER + makeRows(1_000).replaceAll('Kitchen', 'K'.repeat(1_000));
    const job = await b.find((await upload(a, text)).id);
    const read = Buffer.concat(await Array.fromAsync(uploadOf(job).file.read()));
    assert.ok(read.equals(Buffer.from(text)));
    assert.equal(taskOf(job).progress.processed, 1_000);
  });

  test('are found by their seller only', async (t) => {
    const { a, b } = await openNodes(t);
    const other = await a.makeImporter();
    const { id } = await upload(a, FILE);
    for (const { jobs } of [a, b]) {
      await assert.rejects(jobs.get(other.sellerId, id), GONE);
      await assert.rejects(jobs.discard(other.sellerId, id), GONE);
      assert.deepEqual(await jobs.list(other.sellerId), []);
    }
    const store = b.store.importJobs ?? assert.fail();
    const key = { sellerId: other.sellerId, id };
    await assert.rejects(Array.fromAsync(store.openFile(key, 'upload', 1).read()), {
      code: 'not_found',
    });
    const content = 'changed';
    assert.equal(await store.noteProgress({ ...key, version: 2, content }), undefined);
    assert.equal(await store.replaceJob({
      ...key, version: 2, content, isRunning: false, sizeBytes: 0,
    }), false);
    await store.cancelJob(key);
    await store.deleteJob(key);
    assert.equal((await a.find(id)).state.phase, 'ready');
  });

  test('are imported once if two nodes start them at the same time', async (t) => {
    const { a, b } = await openNodes(t);
    const { id, state: { revision } } = await upload(a, FILE);
    const both = await Promise.all([a.find(id), b.find(id)]);
    const hasStarted = await Promise.all(both.map((job) => job.commit(revision, job.importer)));
    assert.deepEqual(hasStarted.toSorted(), [false, true]);
    await a.findWhen(id, (job) => job.state.phase === 'done');
    const { sellerId } = a.importer;
    const records = await a.store.listImports(sellerId, { before: undefined, limit: 10 });
    assert.equal(records.length, 1);
    const { position } = await a.store.listProducts(sellerId, { after: undefined, limit: 1 });
    assert.equal(position, 3);
  });

  test('show their progress on other nodes, and can be cancelled there', async (t) => {
    const noticed = Promise.withResolvers<void>();
    const { change, release } = holdSecondBatch((jobs) => ({
      noteProgress: async (job) => {
        const noted = await jobs.noteProgress(job);
        if (noted?.isCancelled) noticed.resolve();
        return noted;
      },
    }));
    const { a, b } = await openNodes(t, change);
    const job = await upload(a, HEADER + makeRows(4 * IMPORT_BATCH_ROWS));
    assert.ok(await job.commit(job.state.revision, job.importer));
    const shown = await b.findWhen(job.id, (found) => taskOf(found).progress.processed > 0);
    assert.equal(shown.state.phase, 'importing');
    assert.equal(taskOf(shown).progress.counts.created, IMPORT_BATCH_ROWS);
    await shown.cancel();
    await noticed.promise;
    release();
    const ended = await b.findWhen(job.id, ({ state }) => !isRunning(state));
    assert.equal(ended.state.phase, 'cancelled');
    assert.equal(taskOf(ended).progress.counts.created, 2 * IMPORT_BATCH_ROWS);
  });

  test('show the same progress on every node', async (t) => {
    const noting = Promise.withResolvers<void>();
    const { change, release } = holdSecondBatch((jobs) => ({
      noteProgress: async (job) => {
        await noting.promise;
        return jobs.noteProgress(job);
      },
    }));
    const { a, b } = await openNodes(t, change);
    const job = await upload(a, HEADER + makeRows(2 * IMPORT_BATCH_ROWS));
    assert.ok(await job.commit(job.state.revision, job.importer));
    while (taskOf(job).progress.processed === 0) await wait(20);
    for (const { find } of [a, b]) {
      const { task } = (await find(job.id)).description;
      assert.ok(task.kind === 'products' && task.progress.processed === 0);
    }
    noting.resolve();
    release();
    const done = await b.findWhen(job.id, ({ state: { phase } }) => phase === 'done');
    assert.equal(taskOf(done).progress.processed, 2 * IMPORT_BATCH_ROWS);
  });

  test('end on the node that runs them if another one discards them', async (t) => {
    const suspension = new Suspension();
    const { a, b, query } = await openNodes(t, suspension.change);
    const job = await upload(a, HEADER + makeRows(3 * IMPORT_BATCH_ROWS));
    suspension.isSuspended = true;
    assert.ok(await job.commit(job.state.revision, job.importer));
    await b.jobs.discard(b.importer.sellerId, job.id);
    await assert.rejects(a.find(job.id), GONE);
    suspension.resume();
    await job.waitUntilIdle(60_000);
    await assert.rejects(b.find(job.id), GONE);
    assert.deepEqual(await query('SELECT 1 FROM import_job_chunk'), []);
    assert.deepEqual(a.reports, []);
  });

  test('are checked again on another node if the checking node stops', async (t) => {
    const suspension = new Suspension();
    const { a, b, age } = await openNodes(t, suspension.change);
    suspension.isSuspended = true;
    const { id } = await a.jobs.receive(a.importer, 'products.csv', chunksOf(FILE));
    await age(IMPORT_SILENCE_LIMIT_MS - 10_000);
    assert.equal((await b.find(id)).state.phase, 'checking');
    await age(10_001);
    const [listed] = await b.jobs.list(b.importer.sellerId);
    await listed?.waitUntilIdle(60_000);
    const ready = await b.find(id);
    assert.equal(ready.state.phase, 'ready');
    assert.deepEqual(taskOf(ready).progress.counts, taskOf(await retry(ready, {})).progress.counts);
    suspension.resume();
    assert.ok(await commit(await b.find(id)));
    assert.equal((await a.find(id)).state.phase, 'done');
  });

  test('fail if the importing node stops, with the counts of what it wrote', async (t) => {
    const suspension = new Suspension();
    const { a, b, age, query } = await openNodes(t, suspension.change);
    const job = await upload(a, HEADER + makeRows(4 * IMPORT_BATCH_ROWS));
    suspension.batches = 2;
    assert.ok(await job.commit(job.state.revision, job.importer));
    await suspension.stopped;
    await age(IMPORT_SILENCE_LIMIT_MS + 1);
    const failed = await b.find(job.id);
    assert.deepEqual([failed.state.phase, failed.state.problem], ['failed', 'The server stopped.']);
    const { progress } = taskOf(failed);
    assert.equal(progress.counts.created, 2 * IMPORT_BATCH_ROWS);
    assert.equal(progress.processed, 2 * IMPORT_BATCH_ROWS);
    assert.deepEqual(await query('SELECT 1 FROM import_job_chunk'), []);
    // The node was only suspended. It ends without changing the job.
    suspension.resume();
    await job.waitUntilIdle(60_000);
    const { description } = await a.find(job.id);
    assert.deepEqual(description, (await b.find(job.id)).description);
    assert.equal(description.phase, 'failed');
  });

  test('record their end once the database is reachable again', async (t) => {
    let failures = 0;
    const { a, b } = await openNodes(t, (store) => changeJobs(store, (jobs) => ({
      replaceJob: async (job) => {
        if (JSON.stringify(job.content).includes('"phase":"done"') && failures === 0) {
          failures += 1;
          throw new AppError('unavailable', 'The database cannot be reached.');
        }
        return jobs.replaceJob(job);
      },
    })));
    const { id } = await upload(a, FILE);
    assert.ok(await commit(await a.find(id)));
    assert.equal(failures, 1);
    assert.equal((await b.find(id)).state.phase, 'done');
  });

  test('do not delay the shutdown of a node that cannot reach the database', async (t) => {
    const { a, b, age } = await openNodes(t, (store) => changeJobs(store, (jobs) => ({
      replaceJob: async (job) => {
        if (!JSON.stringify(job.content).includes('"phase":"failed"')) return jobs.replaceJob(job);
        throw new AppError('unavailable', 'The database cannot be reached.');
      },
    })));
    const { id } = await upload(a, HEADER + makeRows(20 * IMPORT_BATCH_ROWS));
    const job = await a.find(id);
    assert.ok(await job.commit(job.state.revision, job.importer));
    await a.jobs.close();
    assert.equal(a.reports.length, 1);
    assert.equal((await b.find(id)).state.phase, 'importing');
    await age(IMPORT_SILENCE_LIMIT_MS + 1);
    assert.equal((await b.find(id)).state.phase, 'failed');
  });

  test('outlive the node that received them', async (t) => {
    const { a, b } = await openNodes(t);
    const waiting = await upload(a, FILE);
    const running = await upload(a, HEADER + makeRows(20 * IMPORT_BATCH_ROWS));
    assert.ok(await running.commit(running.state.revision, running.importer));
    await a.jobs.close();
    const { state: { phase, problem } } = await b.find(running.id);
    assert.deepEqual([phase, problem], ['failed', 'The server stopped.']);
    assert.ok(await commit(await b.find(waiting.id)));
    assert.equal((await b.find(waiting.id)).state.phase, 'done');
  });

  test('write nothing if they start after their node has stopped', async (t) => {
    const { a, b } = await openNodes(t);
    const job = await upload(a, FILE);
    await a.jobs.close();
    assert.ok(await job.commit(job.state.revision, job.importer));
    await job.waitUntilIdle(60_000);
    const { state: { phase, problem } } = await b.find(job.id);
    assert.deepEqual([phase, problem], ['failed', 'The server stopped.']);
    assert.deepEqual(await readAll(a.store, a.importer.sellerId), []);
  });

  test('are limited in number per seller, across nodes', async (t) => {
    const { a, b } = await openNodes(t);
    const made: string[] = [];
    for (const n of countTo(IMPORTS_KEPT_PER_SELLER_LIMIT + 2)) {
      made.push((await upload(n % 2 === 0 ? a : b, FILE)).id);
    }
    const kept = (await a.jobs.list(a.importer.sellerId)).map(({ id }) => id);
    assert.deepEqual(kept, made.slice(2).reverse());
  });

  test('are deleted after a day, or when the total file size exceeds the limit', async (t) => {
    const { a, query, age, openNode } = await openNodes(t);
    const store = a.store.importJobs ?? assert.fail();
    const aborted = { sellerId: a.importer.sellerId, id: randomUUID() };
    await store.createJob(aborted);
    await (await store.createFile(aborted, 'upload')).append(Buffer.from(FILE));
    const old = await upload(a, FILE);
    await age(IMPORT_LIFE_MS + 1);
    await assert.rejects(a.find(old.id), GONE);
    const small = await openNode(2 * FILE.length);
    const made: string[] = [];
    for (const _ of countTo(3)) {
      made.push((await upload({ jobs: small.jobs, importer: await a.makeImporter() }, FILE)).id);
    }
    const listKept = async () => (await query('SELECT id FROM import_job ORDER BY created_at'))
      .map(({ id }) => id);
    while ((await listKept()).length > 2) await wait(20);
    assert.deepEqual(await listKept(), made.slice(1));
    assert.equal((await query('SELECT DISTINCT job_id FROM import_job_chunk')).length, 2);
  });
});
