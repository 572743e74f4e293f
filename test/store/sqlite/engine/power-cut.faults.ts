/** The order in which names and bytes reach the disk: nothing is used before it is durable. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../support/folder.ts';
import { NO_STRACE, type SystemCall, traceCommand, traceModule } from '../../../support/strace.ts';
import { makeBackup } from '../../../cli/setup.ts';
import { FILE_NAME } from './read-file.ts';

const SOURCE = join(import.meta.dirname, '../../../../src');
const NAMES = 'mkdir,link,rename,unlink,fsync,fdatasync';

test('flushes the names of all folders that it creates before the catalogue is in use',
  { skip: NO_STRACE }, async (t) => {
    const outer = makeFolder(t);
    const folder = join(outer, 'a', 'b', 'data');
    const calls = await traceCommand(t, NAMES, ['seller', 'create', 'A shop', '--data', folder]);
    const published = indexOf(calls, 'link', join(folder, FILE_NAME));
    for (const parent of [outer, join(outer, 'a'), join(outer, 'a', 'b')]) {
      assert.ok(indexOf(calls, 'fsync', parent) < published, parent);
    }
    assert.ok(indexOf(calls, 'fsync', folder, published) > published);
  });

test('flushes the names of folders that a killed process has created', { skip: NO_STRACE },
  async (t) => {
    const folder = join(makeFolder(t), 'a', 'data');
    mkdirSync(folder, { recursive: true });
    const calls = await traceCommand(t, NAMES, ['seller', 'create', 'A shop', '--data', folder]);
    const published = indexOf(calls, 'link', join(folder, FILE_NAME));
    for (const parent of [dirname(folder), dirname(dirname(folder))]) {
      assert.ok(indexOf(calls, 'fsync', parent) < published, parent);
    }
  });

test('flushes the name of the uploads folder', { skip: NO_STRACE }, async (t) => {
  const folder = join(makeFolder(t), 'data', 'uploads');
  const module = join(SOURCE, 'store/temporary/temporary-file.ts');
  const calls = await traceModule(t, NAMES, `
    import { TemporaryFile } from '${module}';
    for (const folder of ['${folder}', '${folder}']) {
      const file = await TemporaryFile.create(folder);
      await file.close();
    }`);
  const flushed = calls.filter(({ name, paths: [path] }) =>
    name === 'fsync' && path === dirname(folder));
  assert.equal(flushed.length, 1, 'once, and not for each upload');
});

for (const isThere of [false, true]) {
  test(`encrypts with a server.key that ${isThere ? 'another process' : 'it'} has created only when`
    + ' its bytes and its name are on the disk', { skip: NO_STRACE }, async (t) => {
    const folder = makeFolder(t);
    const file = join(folder, 'server.key');
    if (isThere) writeFileSync(file, Buffer.alloc(32, 7));
    const calls = await traceModule(t, NAMES, `
      import { openServerKey } from '${join(SOURCE, 'store/sqlite/files/server-key.ts')}';
      openServerKey('${folder}').encrypt('text', 'context');`);
    const flushed = indexOf(calls, 'fsync', folder);
    if (isThere) assert.ok(indexOf(calls, 'fsync', file) < flushed);
    else assert.ok(indexOf(calls, 'link', file) < flushed);
  });
}

test('flushes the second name of the replaced catalogue, and the end of its journal, first',
  { skip: NO_STRACE }, async (t) => {
    const { folder, file } = await makeBackup(t);
    const calls = await traceCommand(t, NAMES, ['restore', file, '--data', folder, '--replace']);
    const kept = calls.findIndex(({ name, paths: [, to = ''] }) =>
      name === 'link' && basename(to).startsWith(`${FILE_NAME}.replaced-`));
    const journal = indexOf(calls, 'unlink', join(folder, `${FILE_NAME}-journal`));
    const replaced = indexOf(calls, 'rename', join(folder, FILE_NAME));
    const flushed = indexOf(calls, 'fsync', folder, Math.max(kept, journal));
    assert.ok(kept >= 0 && kept < flushed && flushed < replaced, 'not flushed in between');
    assert.ok(indexOf(calls, 'fsync', folder, replaced) > replaced);
  });

for (const end of ['-wal', '-journal']) {
  test(`flushes that an orphaned ${end} was set aside before the new catalogue has its name`,
    { skip: NO_STRACE }, async (t) => {
      const { folder, file } = await makeBackup(t);
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
      writeFileSync(join(folder, FILE_NAME + end), 'left by a crash');
      const calls = await traceCommand(t, NAMES, ['restore', file, '--data', folder]);
      const setAside = calls.findIndex(({ name, paths: [from] }) =>
        name === 'rename' && from === join(folder, FILE_NAME + end));
      const published = indexOf(calls, 'link', join(folder, FILE_NAME));
      const flushed = indexOf(calls, 'fsync', folder, setAside);
      assert.ok(setAside >= 0 && setAside < flushed && flushed < published, 'not flushed between');
    });
}

/** The first call of this name whose last path is this one, after `from`; fails without one. */
function indexOf(
  calls: readonly SystemCall[], name: string, path: string, from = -1,
): number {
  const found = calls.findIndex((call, index) =>
    index > from && call.name === name && call.paths.at(-1) === path);
  assert.ok(found >= 0, `no ${name} of ${path}`);
  return found;
}
