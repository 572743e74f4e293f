/** A folder of backups: when one is due, which one is removed, and what is never touched. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { backUpToFolder } from '../../../../src/store/sqlite/backup/backup-folder.ts';
import { AtomicFile, tryLock } from '../../../../src/store/sqlite/files/atomic-file.ts';
import { formatFileTime } from '../../../../src/domain/time.ts';
import { makeFolder } from '../../../support/folder.ts';
import { DAY_MS, makeSeller } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { FILE_NAME } from '../engine/read-file.ts';

const NOW = Date.UTC(2026, 10, 21, 9, 30);
const HOUR_MS = DAY_MS / 24;

test('makes a backup if the newest is old enough, and otherwise says when it is due', async (t) => {
  const { folder, backUpAt } = await makeFolders(t);
  const first = await backUpAt(NOW);
  assert.equal(first.made?.path, join(folder, 'catalogue-20261121T093000Z.db'));
  assert.deepEqual([first.made.sellers, first.dueInMs], [1, DAY_MS]);
  const early = await backUpAt(NOW + 23 * HOUR_MS);
  assert.deepEqual(early, { made: undefined, removed: [], dueInMs: HOUR_MS });
  assert.ok((await backUpAt(NOW + DAY_MS)).made);
  assert.deepEqual(readdirSync(folder), [nameAt(NOW), nameAt(NOW + DAY_MS)]);
});

test('keeps the given number, and never removes more than it makes, nor the newest', async (t) => {
  const { folder, backUpAt } = await makeFolders(t);
  const days = [0, 1, 2, 3, 4].map((day) => NOW + day * DAY_MS);
  for (const at of days.slice(0, 4)) assert.deepEqual((await backUpAt(at, 9)).removed, []);
  const { removed } = await backUpAt(days[4] ?? 0, 1);
  assert.deepEqual(removed, [nameAt(NOW)], 'one was made, so only one is removed');
  assert.deepEqual(readdirSync(folder), days.slice(1).map(nameAt));
});

test('counts a backup from the future as older: the clock was set back', async (t) => {
  const { folder, backUpAt } = await makeFolders(t);
  await backUpAt(NOW + 300 * DAY_MS, 2);
  await backUpAt(NOW + 301 * DAY_MS, 2);
  assert.deepEqual((await backUpAt(NOW, 2)).removed, [nameAt(NOW + 300 * DAY_MS)]);
  assert.equal((await backUpAt(NOW + HOUR_MS, 2)).dueInMs, 23 * HOUR_MS, 'it is not due again');
  assert.deepEqual((await backUpAt(NOW + DAY_MS, 2)).removed, [nameAt(NOW + 301 * DAY_MS)]);
  assert.deepEqual(readdirSync(folder), [nameAt(NOW), nameAt(NOW + DAY_MS)]);
});

test('neither counts nor removes foreign files', async (t) => {
  const { folder, backUpAt } = await makeFolders(t);
  const other = await makeFolders(t);
  await other.backUpAt(NOW);
  copyFileSync(join(other.folder, nameAt(NOW)), join(folder, nameAt(NOW - 1_000)));
  writeFileSync(join(folder, nameAt(NOW - 2_000)), 'a letter');
  writeFileSync(join(folder, nameAt(NOW - 3_000)), '');
  mkdirSync(join(folder, nameAt(NOW - 4_000)));
  symlinkSync(join(other.dataFolder, FILE_NAME), join(folder, nameAt(NOW - 5_000)));
  for (const name of ['catalogue-2026.db', 'letter.txt', 'catalogue.db', `x${nameAt(NOW)}`]) {
    writeFileSync(join(folder, name), 'mine');
  }
  const before = readdirSync(folder);
  assert.ok((await backUpAt(NOW, 1)).made, 'none of them is a younger backup');
  assert.deepEqual((await backUpAt(NOW + DAY_MS, 1)).removed, [nameAt(NOW)]);
  assert.deepEqual(readdirSync(folder).toSorted(), [...before, nameAt(NOW + DAY_MS)].toSorted());
});

test('does not read the secret of a file from a view', async (t) => {
  const { folder, backUpAt } = await makeFolders(t);
  await backUpAt(NOW);
  const db = new DatabaseSync(join(folder, nameAt(NOW)));
  db.exec(`ALTER TABLE server_secret RENAME TO other;
    CREATE VIEW server_secret AS SELECT name, value FROM other`);
  db.close();
  assert.ok((await backUpAt(NOW + HOUR_MS)).made);
});

test('leaves the backup to the process with the lock, and takes over when it ends', async (t) => {
  const { folder, dataFolder, backUpAt } = await makeFolders(t);
  const lock = tryLock(join(dataFolder, 'backups.lock'));
  assert.deepEqual(await backUpAt(NOW), { made: undefined, removed: [], dueInMs: undefined });
  lock?.[Symbol.dispose]();
  assert.ok((await backUpAt(NOW)).made);
  assert.equal(readdirSync(folder).length, 1);
});

test('creates no missing folder, and removes nothing if it fails', async (t) => {
  const { folder, backUpAt } = await makeFolders(t);
  await backUpAt(NOW);
  const again = backUpAt(NOW + 500, 1, 0); // the same name
  await assert.rejects(again, /already exists/);
  assert.deepEqual(readdirSync(folder), [nameAt(NOW)]);
  rmSync(folder, { recursive: true });
  await assert.rejects(backUpAt(NOW), { code: 'ENOENT' });
  assert.throws(() => readdirSync(folder), { code: 'ENOENT' });
});

test('removes the files of a killed backup', async (t) => {
  const { folder, backUpAt } = await makeFolders(t);
  const [half, mine] = [nameAt(NOW - DAY_MS), 'letter']
    .map((name) => new AtomicFile(name).tempPath);
  for (const name of [half, mine]) writeFileSync(join(folder, name ?? ''), 'half');
  await backUpAt(NOW);
  assert.deepEqual(readdirSync(folder), [nameAt(NOW), mine]);
});

/** A data folder with one seller, and an empty folder for its backups. */
async function makeFolders(t: TestContext) {
  const dataFolder = makeFolder(t);
  const store = await openStore(t, { folder: dataFolder });
  await makeSeller(store);
  await store.close();
  const folder = makeFolder(t);
  const backUpAt = (at: number, keep = 14, intervalMs = DAY_MS) => {
    const task = { dataFolder, folder, intervalMs, keep, at };
    return backUpToFolder(task, (path) => new AtomicFile(path), () => {});
  };
  return { dataFolder, folder, backUpAt };
}

function nameAt(at: number): string {
  return `catalogue-${formatFileTime(at)}.db`;
}
