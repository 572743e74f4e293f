/** Files that several processes create concurrently, also in containers that share the folder. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { UNLOCKED_TEMP_FILE_AGE_MS } from '../../../../src/store/sqlite/limits.ts';
import {
  AtomicFile, isBeingWritten, removeAbandonedParts,
} from '../../../../src/store/sqlite/files/atomic-file.ts';
import { makeFolder } from '../../../support/folder.ts';
import { listFindings } from '../../../support/health.ts';
import { openStore } from '../open.ts';

const MODULE = join(import.meta.dirname, '../../../../src/store/sqlite/files/atomic-file.ts');
const OWN_PIDS = ['--pid', '--fork', '--kill-child'];
const NO_CONTAINERS = spawnSync('unshare', [...OWN_PIDS, 'true']).status === 0 ? false
  : 'NOT TESTED: no process can have a PID namespace of its own here. It takes unshare and root.';

test('knows whether a part is being written, and creates nothing to find out', (t) => {
  const folder = makeFolder(t);
  const target = new AtomicFile(join(folder, 'file'));
  target.begin();
  assert.equal(isBeingWritten(target.tempPath), true);
  target.discard();
  writeFileSync(target.tempPath, '');
  assert.equal(isBeingWritten(target.tempPath), false);
  assert.deepEqual(readdirSync(folder), [basename(target.tempPath)]);
});

test('lets two writers create one file concurrently, and the first one wins', (t) => {
  const file = join(makeFolder(t), 'file');
  const [first, second] = [new AtomicFile(file), new AtomicFile(file)];
  for (const [target, text] of [[first, 'first'], [second, 'second']] as const) {
    target.begin();
    writeFileSync(target.tempPath, text);
  }
  first.show();
  assert.throws(() => second.show(), { code: 'unavailable', message: /already exists/ });
  second.discard();
  assert.deepEqual(readdirSync(join(file, '..')), ['file']);
  assert.equal(readFileSync(file, 'utf8'), 'first');
});

test('keeps the temporary files of a living process, and removes them after kill -9', async (t) => {
  const folder = makeFolder(t);
  const { child, tempPath } = await startWriting(t, join(folder, 'file'), []);
  writeFileSync(`${tempPath}-wal`, '');
  const before = readdirSync(folder);
  clean(folder);
  assert.deepEqual(readdirSync(folder), before);
  child.kill('SIGKILL');
  await once(child, 'exit');
  clean(folder);
  assert.deepEqual(readdirSync(folder), []);
});

test('distinguishes containers whose processes have the same id', { skip: NO_CONTAINERS },
  async (t) => {
    const folder = makeFolder(t);
    const [one, other] = [
      await startWriting(t, join(folder, 'file'), OWN_PIDS),
      await startWriting(t, join(folder, 'file'), OWN_PIDS),
    ];
    assert.deepEqual([one.id, other.id], ['1', '1']);
    clean(folder);
    assert.ok(existsSync(one.tempPath) && existsSync(other.tempPath));
    one.child.kill('SIGKILL'); // and with it what it has started
    await once(one.child, 'close');
    clean(folder);
    assert.ok(!existsSync(one.tempPath) && existsSync(other.tempPath));
  });

test('leaves files alone that are named like temporary files', (t) => {
  const folder = makeFolder(t);
  const names = ['file.2024.new', 'file.1.part', 'file.part', 'file.x.part'];
  for (const name of names) {
    writeFileSync(join(folder, name), '');
    makeOld(join(folder, name));
  }
  clean(folder);
  assert.deepEqual(readdirSync(folder).toSorted(), names.toSorted());
});

test('keeps a lock whose temporary file does not exist yet, but not forever', (t) => {
  const folder = makeFolder(t);
  const lock = `${new AtomicFile(join(folder, 'file')).tempPath}.lock`;
  writeFileSync(lock, '');
  clean(folder);
  assert.ok(existsSync(lock));
  makeOld(lock);
  clean(folder);
  assert.ok(!existsSync(lock));
});

test('follows no link that another user has put in the place of a lock', (t) => {
  const folder = makeFolder(t);
  const { tempPath } = new AtomicFile(join(folder, 'file'));
  writeFileSync(tempPath, '');
  symlinkSync(join(folder, 'elsewhere'), `${tempPath}.lock`);
  clean(folder);
  assert.deepEqual([existsSync(tempPath), existsSync(join(folder, 'elsewhere'))], [true, false]);
});

test('opening a data folder removes the unfinished files of killed processes', async (t) => {
  const folder = join(makeFolder(t), 'data');
  await (await openStore(t, { folder })).close();
  for (const name of ['catalogue.db', 'server.key']) {
    writeFileSync(new AtomicFile(join(folder, name)).tempPath, '');
  }
  await (await openStore(t, { folder })).close();
  assert.deepEqual(readdirSync(folder), ['catalogue.db', 'high-water.json', 'server.key']);
});

test('doctor reports a leftover temporary file, and none that is being written', async (t) => {
  const folder = join(makeFolder(t), 'data');
  await (await openStore(t, { folder })).close();
  const target = new AtomicFile(join(folder, 'catalogue.db'));
  target.begin();
  t.after(() => target.discard());
  const later = Date.now() + 60 * 60 * 1000;
  assert.deepEqual(listFindings(folder, later), []);
  writeFileSync(new AtomicFile(join(folder, 'server.key')).tempPath, '');
  const [found, ...more] = listFindings(folder, later);
  assert.match(found ?? '', /server\.key\.\S+\.part was left over when a process ended/);
  assert.deepEqual(more, []);
});

function clean(folder: string): void {
  removeAbandonedParts(folder, () => true);
}

function makeOld(path: string): void {
  const seconds = (Date.now() - UNLOCKED_TEMP_FILE_AGE_MS) / 1000 - 60;
  utimesSync(path, seconds, seconds);
}

interface Writing {
  readonly child: ChildProcess;
  /** Its process id, as it sees itself. */
  readonly id: string;
  readonly tempPath: string;
}

/** A process that never finishes a file; runs under `unshare` if there are flags for it. */
async function startWriting(
  t: TestContext, file: string, flags: readonly string[],
): Promise<Writing> {
  const command = [process.execPath, '--input-type=module', '--eval', `
    import { AtomicFile } from '${MODULE}';
    const target = new AtomicFile('${file}');
    target.begin();
    console.log(process.pid, target.tempPath);
    setInterval(() => target, 1_000_000);`];
  const [program = '', ...args] = flags.length > 0 ? ['unshare', ...flags, ...command] : command;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout, 'data');
  const [id = '', tempPath = ''] = String(line).trim().split(' ');
  return { child, id, tempPath };
}
