/** `restore` as a command: its output, what it rejects, and kill -9 while it runs. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeRandom } from '../../domain/random.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { program, run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { createKey, look, makeBackup } from '../setup.ts';

const KILLS = 12;

test('reports what it has restored, and what to do next', async (t) => {
  const { folder, file } = await makeBackup(t);
  const refused = await run(['restore', file, '--data', folder]);
  assert.deepEqual([refused.status, refused.out], [1, '']);
  assert.match(refused.notes, /already contains a catalogue\. .* --replace, which keeps it/);
  const done = await run(['restore', file, '--data', folder, '--replace']);
  assert.equal(done.status, 0, done.notes);
  assert.match(done.out,
    /^Restored 1 seller with 0 products after 0 changes to .*: \S+ MiB in \S+ s, checked\.\n$/);
  assert.match(done.notes, /The previous catalogue is kept as catalogue\.db\.replaced-\d{8}T/);
  assert.match(done.notes, /Keys revoked since then are valid again/);
  assert.doesNotMatch(done.notes, /webhook and two-factor secrets/, 'there are none');
  const checked = await run(['doctor', '--data', folder]);
  assert.equal(checked.status, 0, checked.out + checked.notes);
  assert.doesNotMatch(checked.out, /catalogue\.db/, 'nor the replaced catalogue');
  const other = join(makeFolder(t), 'data');
  const { status, out } = await run(['restore', file, '--data', other, '--json']);
  const { seconds, bytes, version, ...report } = JSON.parse(out);
  assert.deepEqual([status, typeof seconds, typeof bytes, typeof version],
    [0, 'number', 'number', 'number']);
  assert.deepEqual(report, {
    folder: other, sellers: 1, products: 0, changes: 0, kept: [],
    secrets: { sealed: 0, opened: 0 },
  });
});

test('begins a generation each time, and on request for a copied folder', async (t) => {
  const { folder, file } = await makeBackup(t);
  const generationOf = () => look(folder, async ({ generation }) => generation);
  assert.equal(await generationOf(), undefined);
  const restore = ['restore', file, '--data', folder, '--replace'];
  const generations = new Set();
  for (const args of [restore, restore, ['migrate', '--after-restore', '--data', folder]]) {
    const { status, out, notes } = await run(args);
    assert.equal(status, 0, notes);
    const generation = await generationOf();
    assert.match(String(generation), /^[a-z2-7]{5}$/);
    assert.equal(await generationOf(), generation, 'until the next restore');
    generations.add(generation);
    if (args[0] === 'migrate') assert.match(out, /A generation has begun: clients must resync/);
  }
  assert.equal(generations.size, 3);
  const store = await openSqliteStore({ folder });
  const inUse = await run(['migrate', '--after-restore', '--data', folder]);
  await store.close();
  assert.equal(inUse.status, 1);
  assert.match(inUse.notes, /is in use\. Stop the server .* Nothing was changed/);
});

test('leaves the old or the new catalogue, which opens, wherever it is killed', async (t) => {
  const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1e9);
  t.diagnostic(`seed ${seed}; CRASH_SEED=${seed} repeats its kills`);
  const random = makeRandom(seed);
  const { folder, file } = await makeBackup(t);
  await createKey(folder); // identifies the old catalogue
  const counts = [0, 0];
  let longestMs = 50; // adapts to the speed of the machine, to kill in the middle of the work
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const args = ['restore', file, '--data', folder, '--replace'];
    const child = spawn(...program(...args), { stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const isBegun = (): boolean => readdirSync(folder).some((name) => name.endsWith('.part'));
    while (!isBegun() && child.exitCode === null) await wait(1);
    await wait(random.below(Math.ceil(longestMs)));
    child.kill('SIGKILL');
    await ended;
    const keys = countKeys(join(folder, 'catalogue.db'));
    counts[keys] = (counts[keys] ?? 0) + 1;
    for (const name of readdirSync(folder)) {
      if (!/replaced-\d{8}T\d{6}Z$/.test(name)) continue;
      assert.equal(countKeys(join(folder, name)), 1, 'only the old catalogue is kept under a name');
      rmSync(join(folder, name));
    }
    longestMs *= keys === 0 ? 0.5 : 2;
    if (keys === 0) await createKey(folder);
  }
  const { status, notes } = await run(['restore', file, '--data', folder, '--replace']);
  assert.equal(status, 0, notes);
  assert.equal(countKeys(join(folder, 'catalogue.db')), 0);
  assert.equal(readdirSync(folder).some((name) => name.includes('.part')), false);
  t.diagnostic(`${KILLS} kills: ${counts[1]} left the old catalogue, ${counts[0]} the new one`);
});

function countKeys(file: string): number {
  const db = new DatabaseSync(file);
  try {
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.['integrity_check'], 'ok');
    return Number(db.prepare('SELECT count(*) AS count FROM api_key').get()?.['count']);
  } finally {
    db.close();
  }
}
