/** `kill -9` during migrations: each leaves a complete version, and the next start continues. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeRandom } from '../domain/random.ts';
import { countTo } from '../store/contract/fixture.ts';
import { assertMigrated, LATEST, makeToday, putBack } from '../store/sqlite/engine/old-version.ts';
import { FILE_NAME, readRows } from '../store/sqlite/engine/read-file.ts';
import { run } from '../support/command.ts';
import { NO_STRACE } from '../support/strace.ts';

const KILLS = 26;
const MAIN = join(import.meta.dirname, '../../src/main.ts');

test('migrates a folder through kill -9 at every version', {
  skip: NO_STRACE,
}, async (t) => {
  const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1e9);
  t.diagnostic(`seed ${seed}; CRASH_SEED=${seed} repeats its kills`);
  const random = makeRandom(seed);
  const today = await makeToday(t, 1, 400);
  const left: number[] = [];
  let folder = putBack(t, today, 1);
  for (const _ of countTo(KILLS)) {
    await openAndKill(folder, 1 + random.below(random.pick([10, 100, 250, 400])));
    const [row] = readRows(folder, 'PRAGMA user_version');
    left.push(Number(row?.['user_version']));
    assert.deepEqual(readRows(folder, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    if (left.at(-1) !== LATEST) continue;
    assertMigrated(folder, today, 1);
    folder = putBack(t, today, 1);
  }
  const { status, notes } = await run(['seller', 'list', '--data', folder]);
  assert.equal(status, 0, notes);
  assertMigrated(folder, today, 1);
  const versions = [...Map.groupBy(left, (version) => version)].toSorted(([a], [b]) => a - b)
    .map(([version, times]) => `${version} ${times.length} times`);
  t.diagnostic(`${KILLS} kills left version ${versions.join(', ')}`);
  assert.ok(versions.length > 2, 'all kills left the same version');
});

/** A command opens the folder, and is killed at one of its writes to the database or the WAL. */
async function openAndKill(folder: string, write: number): Promise<void> {
  const file = join(folder, FILE_NAME);
  const child = spawn('strace', [
    '-f', '-o', '/dev/null', '-P', file, '-P', `${file}-wal`,
    '-e', 'trace=pwrite64,fsync', '-e', `inject=pwrite64,fsync:signal=SIGKILL:when=${write}`,
    process.execPath, MAIN, 'seller', 'list', '--data', folder,
  ], { stdio: 'ignore' });
  await once(child, 'exit');
}
