/** The contract of a store: the portal's import jobs, where several nodes share them. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import type { ImportJobKey, ImportJobStore } from '../../../src/store/nodes/import-job-store.ts';
import { makeClock } from '../../support/clock.ts';
import { makeSeller, type PrepareStore } from './fixture.ts';

/** The jobs of a store, and keys of a job of one seller and of another; or skips the test. */
async function prepareJobs(t: TestContext, prepare: PrepareStore) {
  const store = await prepare(t)(makeClock());
  const { importJobs } = store;
  if (!importJobs) return t.skip('each process keeps its own jobs');
  const [own, other] = await Promise.all([makeSeller(store), makeSeller(store)]);
  const id = randomUUID();
  return { jobs: importJobs, key: { sellerId: own.id, id }, other: { sellerId: other.id, id } };
}

function add(jobs: ImportJobStore, key: ImportJobKey, sizeBytes = 0): Promise<boolean> {
  return jobs.createJob(key).then(() =>
    jobs.replaceJob({ ...key, version: 0, content: { n: 1 }, isRunning: true, sizeBytes }));
}

export function testImportJobs(prepare: PrepareStore): void {
  testJobs(prepare);
  testFiles(prepare);
}

function testJobs(prepare: PrepareStore): void {
  test('shows an import job to its seller only', async (t) => {
    const prepared = await prepareJobs(t, prepare);
    if (!prepared) return;
    const { jobs, key, other } = prepared;
    await jobs.createJob(key);
    assert.equal(await jobs.findJob(key), undefined);
    const job = { ...key, version: 0, content: { n: 1 }, isRunning: true, sizeBytes: 0 };
    assert.equal(await jobs.replaceJob(job), true);
    const { idleMs, ...stored } = await jobs.findJob(key) ?? {};
    assert.deepEqual(stored, { ...key, version: 1, content: { n: 1 } });
    assert.ok(idleMs !== undefined && idleMs >= 0);
    assert.deepEqual((await jobs.listJobs(key.sellerId)).map(({ id }) => id), [key.id]);
    assert.equal(await jobs.findJob(other), undefined);
    assert.deepEqual(await jobs.listJobs(other.sellerId), []);
  });

  test('changes an import job for its seller only, and one version once', async (t) => {
    const prepared = await prepareJobs(t, prepare);
    if (!prepared) return;
    const { jobs, key, other } = prepared;
    await add(jobs, key);
    const next = { version: 1, content: { n: 2 }, isRunning: true, sizeBytes: 0 };
    assert.equal(await jobs.replaceJob({ ...other, ...next }), false);
    assert.equal(await jobs.noteProgress({ ...other, ...next }), undefined);
    await jobs.cancelJob(other);
    assert.deepEqual(await jobs.noteProgress({ ...key, ...next }), { isCancelled: false });
    await jobs.cancelJob(key);
    assert.deepEqual(await jobs.noteProgress({ ...key, ...next }), { isCancelled: true });
    assert.equal(await jobs.replaceJob({ ...key, ...next }), true);
    assert.equal(await jobs.replaceJob({ ...key, ...next }), false);
    assert.equal(await jobs.noteProgress({ ...key, ...next }), undefined);
    await jobs.deleteJob(other);
    assert.equal((await jobs.findJob(key))?.version, 2);
    await jobs.deleteJob(key);
    assert.equal(await jobs.findJob(key), undefined);
  });
}

function testFiles(prepare: PrepareStore): void {
  test('keeps the files of an import job for its seller, until they are deleted', async (t) => {
    const prepared = await prepareJobs(t, prepare);
    if (!prepared) return;
    const { jobs, key, other } = prepared;
    await add(jobs, key);
    const file = await jobs.createFile(key, 'upload');
    await file.append(Buffer.from('sku,'));
    await file.append(Buffer.from('stock'));
    const read = async (job: ImportJobKey): Promise<string> =>
      Buffer.concat(await Array.fromAsync(jobs.openFile(job, 'upload', 9).read())).toString();
    assert.equal(await read(key), 'sku,stock');
    await assert.rejects(read(other), { code: 'not_found' });
    const foreign = await jobs.createFile(other, 'upload');
    await assert.rejects(foreign.append(Buffer.from('sku')), { code: 'not_found' });
    await foreign.close();
    assert.equal(await read(key), 'sku,stock');
    await file.close();
    await assert.rejects(read(key), { code: 'not_found' });
  });

  test('lists jobs that are idle, or whose files take too much space', async (t) => {
    const prepared = await prepareJobs(t, prepare);
    if (!prepared) return;
    const { jobs, key } = prepared;
    await add(jobs, key, 100);
    const list = (lifeMs: number, limitBytes: number) =>
      jobs.listDisposableJobs({ lifeMs, limitBytes });
    const done = { version: 1, content: {}, isRunning: false, sizeBytes: 100 };
    assert.equal(await jobs.replaceJob({ ...key, ...done }), true);
    assert.deepEqual(await list(60_000, 100), []);
    assert.deepEqual(await list(60_000, 99), [key]);
    assert.deepEqual(await list(-60_000, 100), [key]);
  });
}
