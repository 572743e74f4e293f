/** `backup` beside a server under load: the copy is complete and valid. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeRandom } from '../../domain/random.ts';
import { program, run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { send } from '../../support/http.ts';
import { makeProduct } from '../../support/server.ts';
import { createKey, createSeller } from '../setup.ts';

const KILLS = 20;

test('copies what a server has acknowledged, while it keeps writing', async (t) => {
  const load = await startLoad(t);
  await load.reach(300);
  const answered = new Map(load.answered);
  const file = join(makeFolder(t), 'copy.db');
  const { status, out, notes } = await run(['backup', file, '--data', load.folder, '--json']);
  assert.equal(status, 0, notes);
  await load.reach(load.answered.size + 20);
  await load.stop();
  assert.match(notes, /^100 %, .* MiB\/s\nChecking the copy\.\nThe backup does not contain server/);
  const { seconds, ...report } = JSON.parse(out);
  assert.equal(typeof seconds, 'number');
  const { positions, products } = readCatalogue(file);
  assert.deepEqual(report, {
    file, sellers: 2, products: products.size,
    changes: positions.reduce((sum, position) => sum + position, 0),
    version: report.version, bytes: statSync(file).size,
  });
  for (const sku of answered.keys()) assert.ok(products.has(sku), sku);
  // The copy has exactly the acknowledged products of each seller up to one position.
  assert.ok(positions.every((position) => position > 0));
  positions.forEach((last, seller) => {
    const skus = [...load.answered].filter(([sku, position]) =>
      sku.startsWith(`S${seller}-`) && position <= last).map(([sku]) => sku);
    assert.equal(skus.length, last, 'every position is acknowledged in the end');
    assert.deepEqual([...products.keys()].filter((sku) => sku.startsWith(`S${seller}-`)).sort(),
      skus.sort());
  });
  const bytes = readFileSync(file, 'latin1');
  for (const key of load.keys) assert.equal(bytes.includes(key), false, 'it contains no plain key');
});

test('leaves no file or a complete one wherever it is killed, beside a server', async (t) => {
  const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1e9);
  t.diagnostic(`seed ${seed}; CRASH_SEED=${seed} repeats its kills`);
  const random = makeRandom(seed);
  const load = await startLoad(t);
  await load.reach(300);
  const folder = makeFolder(t);
  const file = join(folder, 'copy.db');
  let [whole, none] = [0, 0];
  let longestMs = 50; // adapts to the speed of the machine, to kill in the middle of the work
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const { size } = load.answered;
    const child = startBackup(t, file, load.folder);
    // Starting takes most of the time: the relevant part begins with the first file.
    while (readdirSync(folder).length === 0 && child.exitCode === null) await wait(1);
    await wait(random.below(Math.ceil(longestMs)));
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    const names = readdirSync(folder);
    for (const name of names) {
      assert.match(name, /^copy\.db(?:\.[\da-f-]+\.part(?:-journal|-wal|-shm|\.lock)?)?$/);
    }
    if (names.includes('copy.db')) {
      readCatalogue(file);
      whole += 1;
      longestMs /= 2;
      const again = await run(['backup', file, '--data', load.folder]);
      assert.deepEqual([again.status, again.out], [1, '']);
      assert.match(again.notes, /copy\.db already exists/);
      for (const name of names) rmSync(join(folder, name));
    } else {
      none += 1;
      longestMs *= 2;
    }
    await load.reach(size + 1);
  }
  const { status, notes } = await run(['backup', file, '--data', load.folder]);
  assert.equal(status, 0, notes);
  assert.deepEqual(readdirSync(folder), ['copy.db'], 'the files of killed backups are removed');
  await load.stop();
  readCatalogue(join(load.folder, 'catalogue.db'));
  t.diagnostic(`${KILLS} kills: ${none} left no file, ${whole} a complete one`);
});

test('lets only one of two backups create the same file', async (t) => {
  const folder = join(makeFolder(t), 'data');
  await createSeller(folder);
  const target = makeFolder(t);
  const file = join(target, 'copy.db');
  const both = await Promise.all([1, 2].map(() => run(['backup', file, '--data', folder])));
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [0, 1]);
  assert.match(both.find(({ status }) => status === 1)?.notes ?? '', /already exists/);
  assert.deepEqual(readdirSync(target), ['copy.db']);
  const [seller] = readCatalogue(file).positions;
  assert.equal(seller, 0);
});

test('rejects names that SQLite uses, and names that are no file', async (t) => {
  const folder = join(makeFolder(t), 'data');
  await createSeller(folder);
  for (const name of [join(folder, 'x.db-wal'), '-', '']) {
    const { status, notes } = await run(['backup', name, '--data', folder]);
    assert.equal(status, 2, name);
    assert.match(notes, /Choose another name/);
  }
});

test('removes its partial file when it is interrupted', async (t) => {
  const data = join(makeFolder(t), 'data');
  await createSeller(data);
  const folder = makeFolder(t);
  const child = startBackup(t, join(folder, 'copy.db'), data);
  while (readdirSync(folder).length === 0 && child.exitCode === null) await wait(1);
  child.kill('SIGINT');
  const [status] = await once(child, 'exit');
  const names = readdirSync(folder);
  // It may have just finished, in which case the signal ends it without a status.
  assert.deepEqual([status, names], status === 130 ? [130, []] : [status || null, ['copy.db']]);
});

interface Load {
  readonly folder: string;
  readonly keys: readonly string[];
  /** The acknowledged positions by SKU; `S0-12` is of the first seller. */
  readonly answered: ReadonlyMap<string, number>;
  /** Resolves once this many creations were acknowledged. */
  reach(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** A server in a separate process, and two sellers that create products without a pause. */
async function startLoad(t: TestContext): Promise<Load> {
  const folder = join(makeFolder(t), 'data');
  const sellers = [await createSeller(folder, 'One'), await createSeller(folder, 'Two')];
  const keys = await Promise.all(sellers.map(async (seller) =>
    (await createKey(folder, ['--seller', seller])).key));
  const { port, stop } = await startServing(t, ['--data', folder, '--rate-limit', '0']);
  const answered = new Map<string, number>();
  let isOver = false;
  const create = async (key: string, seller: number, worker: number): Promise<void> => {
    for (let n = 0; !isOver; n += 1) {
      const sku = `S${seller}-${worker}-${n}`;
      const answer = await send(port, {
        method: 'POST', path: '/api/v1/products',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ ...makeProduct(), sku, name: 'x'.repeat(200) }),
      });
      assert.equal(answer.status, 201, answer.text);
      answered.set(sku, answer.json().position);
    }
  };
  const work = Promise.all(keys.flatMap((key, seller) =>
    [0, 1].map((worker) => create(key, seller, worker))));
  return {
    folder, keys, answered,
    async reach(count) {
      while (answered.size < count) await Promise.race([wait(5), work]);
    },
    async stop() {
      isOver = true;
      await work;
      await stop('SIGTERM');
    },
  };
}

function startBackup(t: TestContext, file: string, folder: string): ChildProcess {
  const child = spawn(...program('backup', file, '--data', folder), { stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

/** Checks the integrity of a file with SQLite, and returns its positions and products. */
function readCatalogue(
  file: string,
): { readonly positions: readonly number[]; readonly products: ReadonlyMap<string, number> } {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok');
    const positions = db.prepare('SELECT position FROM seller ORDER BY id').all()
      .map((row) => Number(row['position']));
    const products = db.prepare('SELECT sku, position FROM product').all()
      .map((row) => [String(row['sku']), Number(row['position'])] as const);
    return { positions, products: new Map(products) };
  } finally {
    db.close();
  }
}
