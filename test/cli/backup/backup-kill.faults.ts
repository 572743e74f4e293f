/** `backup` is killed beside a server under load. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { makeRandom } from '../../domain/random.ts';
import { run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { readCatalogue, startBackup, startLoad } from './load.ts';

const KILLS = 20;

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
