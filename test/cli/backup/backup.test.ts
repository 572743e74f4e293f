/** `backup` beside a server under load: the copy is complete and valid. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { run, runProcess } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { createSeller } from '../setup.ts';
import { readCatalogue, startBackup, startLoad } from './load.ts';

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

test('lets only one of two backups create the same file', async (t) => {
  const folder = join(makeFolder(t), 'data');
  await createSeller(folder);
  const target = makeFolder(t);
  const file = join(target, 'copy.db');
  const both = await Promise.all([1, 2].map(() => runProcess(['backup', file, '--data', folder])));
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
    assert.match(notes, name === '' ? /^FILE is empty\./ : /Choose another name/);
  }
});

for (const [signal, interrupted] of [['SIGINT', 130], ['SIGHUP', 129]] as const) {
  test(`removes its partial file on ${signal}`, (t) => checkInterruption(t, signal, interrupted));
}

async function checkInterruption(
  t: TestContext, signal: NodeJS.Signals, interrupted: number,
): Promise<void> {
  const data = join(makeFolder(t), 'data');
  await createSeller(data);
  let status: number | null;
  do {
    const folder = makeFolder(t);
    const child = startBackup(t, join(folder, 'copy.db'), data);
    const exited = once(child, 'exit');
    while (readdirSync(folder).length === 0 && child.exitCode === null) await wait(1);
    child.kill(signal);
    [status] = await exited as [number | null];
    // One that was complete before the signal arrived does not count.
    assert.deepEqual(readdirSync(folder), status === interrupted ? [] : ['copy.db']);
  } while (status !== interrupted);
}
