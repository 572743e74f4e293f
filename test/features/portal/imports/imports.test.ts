/** The imports of a process: whose they are, how many there are, and when they are forgotten. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { AppError } from '../../../../src/domain/error.ts';
import {
  IMPORT_LIFE_MS, IMPORT_SWEEP_INTERVAL_MS, IMPORTS_KEPT_LIMIT, IMPORTS_KEPT_PER_SELLER_LIMIT,
  UPLOAD_LIMIT_BYTES, CONCURRENT_UPLOADS_PER_SELLER_LIMIT,
} from '../../../../src/features/portal/limits.ts';
import type { Store } from '../../../../src/store/store.ts';
import { countTo } from '../../../store/contract/fixture.ts';
import { commit, HEADER, makeRows, openBench, upload } from './setup.ts';

const FILE = HEADER + makeRows(1);
const GONE = { code: 'not_found', message: /no longer exists.*upload the file again/ };

test('an import is there for its seller, and for nobody else', async (t) => {
  const bench = await openBench(t);
  const other = await bench.makeImporter();
  const one = await upload(bench, FILE);
  assert.equal(bench.imports.get(bench.importer.sellerId, one.id), one);
  assert.throws(() => bench.imports.get(other.sellerId, one.id), GONE);
  assert.throws(() => bench.imports.get(other.sellerId, 'nothing'), GONE);
  await assert.rejects(bench.imports.discard(other.sellerId, one.id), GONE);
  assert.deepEqual(bench.imports.list(other.sellerId), []);
  const two = await upload(bench, FILE);
  assert.deepEqual(bench.imports.list(bench.importer.sellerId), [two, one]);
});

test('an import that is discarded is gone', async (t) => {
  const bench = await openBench(t);
  const one = await upload(bench, FILE);
  await bench.imports.discard(bench.importer.sellerId, one.id);
  assert.throws(() => bench.imports.get(bench.importer.sellerId, one.id), GONE);
  await assert.rejects(Array.fromAsync(one.upload.file.read()));
});

test('the file of an import is given back when it has ended', async (t) => {
  const bench = await openBench(t);
  const one = await upload(bench, FILE);
  await commit(one);
  await assert.rejects(Array.fromAsync(one.upload.file.read()));
  assert.deepEqual(readdirSync(bench.folder), []);
});

describe('an upload', () => {
  test('that breaks off leaves nothing', async (t) => {
    const { imports, importer } = await openBench(t);
    async function* breakOff() {
      yield Buffer.from(FILE);
      throw new AppError('invalid_data', 'The body broke off.');
    }
    for (const _ of countTo(CONCURRENT_UPLOADS_PER_SELLER_LIMIT + 1)) {
      await assert.rejects(imports.receive(importer, 'a.csv', breakOff()), /broke off/);
    }
    assert.deepEqual(imports.list(importer.sellerId), []);
  });

  test('that is no table is refused', async (t) => {
    const { imports, importer } = await openBench(t);
    await assert.rejects(upload({ imports, importer }, 'PK\x03\x04'), { code: 'invalid_data' });
    assert.deepEqual(imports.list(importer.sellerId), []);
  });

  test('beyond the limit is refused, and the rest not taken', async (t) => {
    const { imports, importer } = await openBench(t);
    const chunk = Buffer.alloc(16 * 1024 * 1024, 'x\n');
    let given = 0;
    async function* give() {
      for (;; given += chunk.length) yield chunk;
    }
    const refused = imports.receive(importer, 'a.csv', give());
    await assert.rejects(refused, { code: 'body_too_large', message: /larger than 256 MiB/ });
    assert.equal(given, UPLOAD_LIMIT_BYTES);
  });

  test('beside too many others of its seller is refused', async (t) => {
    const { imports, importer, makeImporter } = await openBench(t);
    const go = Promise.withResolvers<void>();
    async function* dawdle() {
      await go.promise;
      yield Buffer.from(FILE);
    }
    const slow = countTo(CONCURRENT_UPLOADS_PER_SELLER_LIMIT).map(() =>
      imports.receive(importer, 'a.csv', dawdle()));
    await assert.rejects(upload({ imports, importer }, FILE), {
      code: 'unavailable', message: /You already have 2 uploads running/,
    });
    await upload({ imports, importer: await makeImporter() }, FILE);
    go.resolve();
    await Promise.all(slow);
    await upload({ imports, importer }, FILE);
  });
});

describe('imports are forgotten', () => {
  test('for the next one of their seller, the one first that nobody went on with', async (t) => {
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
    assert.deepEqual(bench.imports.list(bench.importer.sellerId),
      [last, ...others.reverse(), first]);
    await assert.rejects(async () => {
      for (;;) await Array.fromAsync(second.upload.file.read()); // until it is closed
    });
  });

  test('for the next one of anybody, where there are very many', async (t) => {
    const bench = await openBench(t);
    const mine = await upload(bench, FILE);
    let importer = await bench.makeImporter();
    for (const n of countTo(IMPORTS_KEPT_LIMIT)) {
      bench.clock.now += 1;
      if (n % 4 === 0) importer = await bench.makeImporter();
      await upload({ imports: bench.imports, importer }, FILE);
    }
    assert.throws(() => bench.imports.get(bench.importer.sellerId, mine.id), GONE);
    assert.equal(bench.imports.list(importer.sellerId).length, 1);
  });

  test('where their files take too much room together, the one first that waits longest',
    async (t) => {
      const keep = (store: Store): Store => store;
      const bench = await openBench(t, keep, 2 * FILE.length);
      const made = [];
      for (const _ of countTo(3)) {
        bench.clock.now += 1;
        made.push(await upload({ imports: bench.imports, importer: await bench.makeImporter() },
          FILE));
      }
      const isThere = made.map(({ id, importer }) =>
        bench.imports.list(importer.sellerId).some((one) => one.id === id));
      assert.deepEqual(isThere, [false, true, true]);
    });

  test('when nobody went on with them for a day, asked for or not', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const bench = await openBench(t);
    const one = await upload(bench, FILE);
    bench.clock.now += IMPORT_LIFE_MS;
    assert.equal(bench.imports.get(bench.importer.sellerId, one.id), one);
    bench.clock.now += 1;
    t.mock.timers.tick(IMPORT_SWEEP_INTERVAL_MS);
    await assert.rejects(async () => {
      for (;;) await Array.fromAsync(one.upload.file.read()); // until it is closed
    });
    assert.throws(() => bench.imports.get(bench.importer.sellerId, one.id), GONE);
  });

  test('when the server stops, which takes no more of them', async (t) => {
    const bench = await openBench(t);
    const one = await upload(bench, HEADER + makeRows(50_000));
    assert.ok(one.commit(one.revision));
    await bench.imports.close();
    assert.equal(one.phase, 'cancelled');
    assert.ok(one.progress.counts.created < 50_000);
    await assert.rejects(upload(bench, FILE), { code: 'unavailable', message: /shutting down/ });
    assert.deepEqual(bench.reports, []);
  });
});
