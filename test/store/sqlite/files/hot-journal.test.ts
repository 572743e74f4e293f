/**
 * Writes that a crash interrupted, and that left a rollback journal: they are rolled back before
 * anything is read, and no message tells the operator to remove the journal.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import type { AppError } from '../../../../src/domain/error.ts';
import { backUp } from '../../../../src/store/sqlite/backup/backup.ts';
import { openExclusive } from '../../../../src/store/sqlite/engine/connection.ts';
import { AtomicFile } from '../../../../src/store/sqlite/files/atomic-file.ts';
import { run } from '../../../support/command.ts';
import { makeFolder } from '../../../support/folder.ts';
import { listFileFindings, listFindings } from '../../../support/health.ts';
import { NO_STRACE } from '../../../support/strace.ts';
import { createSeller } from '../../../cli/setup.ts';
import { countTo } from '../../contract/fixture.ts';
import { FILE_NAME, readFolder, readRows } from '../engine/read-file.ts';

const MAIN = join(import.meta.dirname, '../../../../src/main.ts');
const JOURNAL = `${FILE_NAME}-journal`;

test('doctor rolls an interrupted write back, and finds nothing', async (t) => {
  const folder = await makeCutOff(t);
  assert.deepEqual(listFindings(folder), []);
  assert.equal(existsSync(join(folder, JOURNAL)), false);
  assert.deepEqual(readRows(folder, 'SELECT count(*) AS invitations FROM invitation'),
    [{ invitations: 0 }]);
});

for (const [what, flags] of [['a file', []], ['a folder', ['--folder']]] as const) {
  test(`backup rolls it back, and copies to ${what}`, async (t) => {
    const folder = await makeCutOff(t);
    const target = makeFolder(t);
    const to = flags.length > 0 ? target : join(target, 'copy.db');
    const { status, out, notes } = await run(['backup', ...flags, to, '--data', folder]);
    assert.equal(status, 0, notes);
    assert.match(out, /^Backed up 1 seller with 0 products/);
  });
}

test('doctor says what to do if it may not roll back, and keeps the journal', async (t) => {
  const folder = await makeCutOff(t);
  const before = readFolder(folder);
  const file = join(folder, FILE_NAME);
  const findings = listFileFindings(file);
  assert.deepEqual(findings, [`integrity fault: A crash interrupted a write to ${file}: `
    + `${file}-journal is needed to roll it back.`]);
  const { status, out } = await run(['doctor', '--file', file]);
  assert.equal(status, 1);
  assert.match(out, /Keep both files together.* start the server once/);
  assert.doesNotMatch(out, /newest backup|move it away/i);
  assert.deepEqual(readFolder(folder), before);
});

test('doctor and backup report the same to a user without write permission', {
  skip: process.getuid?.() !== 0,
}, async (t) => {
  const folder = await makeCutOff(t);
  for (const path of [folder, join(folder, '..')]) chmodSync(path, 0o755);
  for (const name of [FILE_NAME, JOURNAL]) chmodSync(join(folder, name), 0o644);
  const target = makeFolder(t);
  chmodSync(target, 0o777);
  const says = /interrupted a write to .*-journal is needed to roll it back\./;
  process.seteuid?.(65_534);
  try {
    assert.ok(listFindings(folder).some((text) => says.test(text)));
    const copying = backUp(folder, new AtomicFile(join(target, 'copy.db')), () => {});
    await assert.rejects(copying, (error: AppError) => {
      assert.equal(error.code, 'unavailable');
      assert.match(error.message, says);
      assert.match(error.message, /Keep both files together.* start the server once/);
      return true;
    });
  } finally {
    process.seteuid?.(0);
  }
  assert.ok(existsSync(join(folder, JOURNAL)));
});

test('rolls back nothing in a foreign file', async (t) => {
  const folder = await makeCutOff(t);
  const file = join(folder, FILE_NAME);
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0, 68, 72)); // the application id
  const before = readFolder(folder);
  assert.match(listFindings(folder).join(), /integrity fault/);
  await assert.rejects(backUp(folder, new AtomicFile(join(makeFolder(t), 'copy.db')), () => {}),
    /is not a database of this server/);
  const { notes } = await run(['backup', '--folder', makeFolder(t), '--data', folder]);
  assert.match(notes, /is not a database of this server/);
  assert.deepEqual(readFolder(folder), before);
});

test('doctor does not touch a journal that a living process uses', async (t) => {
  const folder = join(makeFolder(t), 'data');
  await createSeller(folder);
  const db = new DatabaseSync(join(folder, FILE_NAME));
  t.after(() => db.close());
  insertMany(db);
  assert.ok(statSync(join(folder, JOURNAL)).size > 0);
  assert.match(listFindings(folder).join(), /^integrity fault: Another process has locked/);
  db.exec('COMMIT');
  assert.deepEqual(listFindings(folder), []);
  assert.deepEqual(readRows(folder, 'SELECT count(*) AS invitations FROM invitation'),
    [{ invitations: 2_000 }]);
});

test('doctor reports that another process holds the lock, and no damage', async (t) => {
  const folder = join(makeFolder(t), 'data');
  await createSeller(folder);
  const alone = openExclusive(join(folder, FILE_NAME)); // as a restore does
  t.after(() => alone.close());
  assert.deepEqual(listFindings(folder), ['integrity fault: Another process has locked the '
    + 'database, such as a restore.']);
});

test('kill -9 during a restore leaves a folder that doctor and backup can read',
  { skip: NO_STRACE }, async (t) => {
    const folder = join(makeFolder(t), 'data');
    await createSeller(folder);
    const file = join(makeFolder(t), 'copy.db');
    assert.equal((await run(['backup', file, '--data', folder])).status, 0);
    await killAt('unlink', join(folder, JOURNAL), ['restore', file, '--data', folder, '--replace']);
    assert.ok(statSync(join(folder, JOURNAL)).size > 0, 'it was killed elsewhere');
    const judged = await run(['doctor', '--data', folder]);
    assert.equal(judged.status, 0, judged.out);
    assert.match(judged.out, /^ok +files /m);
    await killAt('unlink', join(folder, JOURNAL), ['restore', file, '--data', folder, '--replace']);
    const copied = await run(['backup', join(makeFolder(t), 'copy.db'), '--data', folder]);
    assert.equal(copied.status, 0, copied.notes);
  });

test('a restored catalogue is in WAL mode: its first open needs no journal', async (t) => {
  const folder = join(makeFolder(t), 'data');
  await createSeller(folder);
  const file = join(makeFolder(t), 'copy.db');
  assert.equal((await run(['backup', file, '--data', folder])).status, 0);
  for (const flags of [['--data', join(makeFolder(t), 'new')], ['--data', folder, '--replace']]) {
    assert.equal((await run(['restore', file, ...flags])).status, 0);
    const header = readFileSync(join(flags[1] ?? '', FILE_NAME));
    assert.deepEqual([...header.subarray(18, 20)], [2, 2]);
  }
});

/** A data folder with one seller, whose process was killed as it wrote many more. */
async function makeCutOff(t: TestContext): Promise<string> {
  const [source, folder] = [join(makeFolder(t), 'data'), join(makeFolder(t), 'data')];
  await createSeller(source);
  mkdirSync(folder, { mode: 0o700 });
  const db = new DatabaseSync(join(source, FILE_NAME));
  insertMany(db);
  for (const name of [FILE_NAME, JOURNAL, 'server.key']) {
    copyFileSync(join(source, name), join(folder, name));
    chmodSync(join(folder, name), 0o600);
  }
  db.close();
  return folder;
}

/** Begins a transaction that is larger than the cache, and so is partly in the file already. */
function insertMany(db: DatabaseSync): void {
  db.exec('PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN');
  const insert = db.prepare(`
    INSERT INTO invitation (hash, role, is_first, expires_at) VALUES (?, 'owner', 0, 0)`);
  for (const n of countTo(2_000)) insert.run(String(n).padStart(64, '0'));
}

async function killAt(call: string, file: string, args: readonly string[]): Promise<void> {
  const child = spawn('strace', [
    '-f', '-o', '/dev/null', '-P', file, '-e', `trace=${call}`,
    '-e', `inject=${call}:signal=SIGKILL`, process.execPath, MAIN, ...args,
  ], { stdio: 'ignore' });
  await once(child, 'exit');
}
