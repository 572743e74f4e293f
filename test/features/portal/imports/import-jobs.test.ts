/** The import jobs of a server: access, limits and expiry. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { AppError } from '../../../../src/domain/error.ts';
import {
  IMPORT_LIFE_MS, IMPORT_SWEEP_INTERVAL_MS, IMPORTS_KEPT_LIMIT, IMPORTS_KEPT_PER_SELLER_LIMIT,
  UPLOAD_LIMIT_BYTES, CONCURRENT_UPLOADS_PER_SELLER_LIMIT,
} from '../../../../src/features/portal/limits.ts';
import type { Importer } from '../../../../src/features/portal/imports/job-kind.ts';
import type { Store } from '../../../../src/store/store.ts';
import { countTo } from '../../../store/contract/fixture.ts';
import {
  type Bench, commit, HEADER, makeRows, openBench, taskOf, upload, uploadOf,
} from './setup.ts';

const FILE = HEADER + makeRows(1);
const GONE = { code: 'not_found', message: /no longer exists.*upload the file again/ };

async function listIds(
  { jobs, importer }: Bench, { sellerId }: Pick<Importer, 'sellerId'> = importer,
): Promise<string[]> {
  return (await jobs.list(sellerId)).map(({ id }) => id);
}

test('finds a job for its seller only', async (t) => {
  const bench = await openBench(t);
  const other = await bench.makeImporter();
  const job = await upload(bench, FILE);
  const found = await bench.jobs.get(bench.importer.sellerId, job.id);
  assert.deepEqual(found.description, job.description);
  await assert.rejects(bench.jobs.get(other.sellerId, job.id), GONE);
  await assert.rejects(bench.jobs.get(bench.importer.sellerId, 'nothing'), GONE);
  await assert.rejects(bench.jobs.get(bench.importer.sellerId, '\0'.repeat(36)), GONE);
  await assert.rejects(bench.jobs.discard(other.sellerId, job.id), GONE);
  assert.deepEqual(await listIds(bench, other), []);
  const two = await upload(bench, FILE);
  assert.deepEqual(await listIds(bench), [two.id, job.id]);
});

test('deletes a discarded job', async (t) => {
  const bench = await openBench(t);
  const job = await upload(bench, FILE);
  await bench.jobs.discard(bench.importer.sellerId, job.id);
  await assert.rejects(bench.jobs.get(bench.importer.sellerId, job.id), GONE);
  await assert.rejects(Array.fromAsync(uploadOf(job).file.read()));
});

test('deletes the file of a job that has ended', async (t) => {
  const bench = await openBench(t);
  const job = await upload(bench, FILE);
  await commit(job);
  await assert.rejects(Array.fromAsync(uploadOf(job).file.read()));
  assert.deepEqual(readdirSync(bench.folder), []);
});

describe('an upload', () => {
  test('leaves nothing behind if it is interrupted', async (t) => {
    const { jobs, importer } = await openBench(t);
    async function* cutOff() {
      yield Buffer.from(FILE);
      throw new AppError('invalid_data', 'The body was cut off.');
    }
    for (const _ of countTo(CONCURRENT_UPLOADS_PER_SELLER_LIMIT + 1)) {
      await assert.rejects(jobs.receive(importer, 'a.csv', cutOff()), /cut off/);
    }
    assert.deepEqual(await jobs.list(importer.sellerId), []);
  });

  test('is rejected unless it is CSV or NDJSON', async (t) => {
    const { jobs, importer } = await openBench(t);
    await assert.rejects(upload({ jobs, importer }, 'PK\x03\x04'), { code: 'invalid_data' });
    assert.deepEqual(await jobs.list(importer.sellerId), []);
  });

  test('is rejected beyond the limit, without reading the rest', async (t) => {
    const { jobs, importer } = await openBench(t);
    const chunk = Buffer.alloc(16 * 1024 * 1024, 'x\n');
    let given = 0;
    async function* give() {
      for (;; given += chunk.length) yield chunk;
    }
    const rejected = jobs.receive(importer, 'a.csv', give());
    await assert.rejects(rejected, { code: 'body_too_large', message: /larger than 256 MiB/ });
    assert.equal(given, UPLOAD_LIMIT_BYTES);
  });

  test('is rejected over the limit of its seller', async (t) => {
    const { jobs, importer, makeImporter } = await openBench(t);
    const go = Promise.withResolvers<void>();
    async function* stall() {
      await go.promise;
      yield Buffer.from(FILE);
    }
    const slow = countTo(CONCURRENT_UPLOADS_PER_SELLER_LIMIT).map(() =>
      jobs.receive(importer, 'a.csv', stall()));
    await assert.rejects(upload({ jobs, importer }, FILE), {
      code: 'unavailable', message: /You already have 2 uploads running/,
    });
    await upload({ jobs, importer: await makeImporter() }, FILE);
    go.resolve();
    await Promise.all(slow);
    await upload({ jobs, importer }, FILE);
  });
});

describe('jobs are deleted', () => {
  test('at the limit per seller, the least recently used first', async (t) => {
    const bench = await openBench(t);
    const made = [];
    for (const _ of countTo(IMPORTS_KEPT_PER_SELLER_LIMIT)) {
      bench.clock.now += 1;
      made.push(await upload(bench, FILE));
    }
    const [first, second, ...others] = made;
    assert.ok(first && second);
    bench.clock.now += 1;
    await commit(first);
    const last = await upload(bench, FILE);
    assert.deepEqual(await listIds(bench),
      [last, ...others.reverse(), first].map(({ id }) => id));
    await assert.rejects(async () => {
      for (;;) await Array.fromAsync(uploadOf(second).file.read()); // until the file is closed
    });
  });

  test('at the total limit, for any seller', async (t) => {
    const bench = await openBench(t);
    const mine = await upload(bench, FILE);
    let importer = await bench.makeImporter();
    for (const n of countTo(IMPORTS_KEPT_LIMIT)) {
      bench.clock.now += 1;
      if (n % 4 === 0) importer = await bench.makeImporter();
      await upload({ jobs: bench.jobs, importer }, FILE);
    }
    await assert.rejects(bench.jobs.get(bench.importer.sellerId, mine.id), GONE);
    assert.equal((await listIds(bench, importer)).length, 1);
  });

  test('when their files together are too large, the oldest first',
    async (t) => {
      const keep = (store: Store): Store => store;
      const bench = await openBench(t, keep, 2 * FILE.length);
      const made = [];
      for (const _ of countTo(3)) {
        bench.clock.now += 1;
        made.push(await upload({ jobs: bench.jobs, importer: await bench.makeImporter() },
          FILE));
      }
      const kept = await Promise.all(made.map(({ key }) => listIds(bench, key)));
      assert.deepEqual(kept, [[], ...made.slice(1).map(({ id }) => [id])]);
    });

  test('after a day without activity, without any request', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const bench = await openBench(t);
    const job = await upload(bench, FILE);
    bench.clock.now += IMPORT_LIFE_MS;
    assert.equal((await bench.jobs.get(bench.importer.sellerId, job.id)).id, job.id);
    bench.clock.now += 1;
    t.mock.timers.tick(IMPORT_SWEEP_INTERVAL_MS);
    await assert.rejects(async () => {
      for (;;) await Array.fromAsync(uploadOf(job).file.read()); // until the file is closed
    });
    await assert.rejects(bench.jobs.get(bench.importer.sellerId, job.id), GONE);
  });

  test('when the server shuts down, which then accepts no new ones', async (t) => {
    const bench = await openBench(t);
    const job = await upload(bench, HEADER + makeRows(50_000));
    assert.ok(await job.commit(job.state.revision, job.importer));
    await bench.jobs.close();
    const { phase, problem } = job.state;
    assert.deepEqual([phase, problem], ['failed', 'The server stopped.']);
    assert.ok(taskOf(job).progress.counts.created < 50_000);
    await assert.rejects(upload(bench, FILE), { code: 'unavailable', message: /shutting down/ });
    assert.deepEqual(bench.reports, []);
  });
});
