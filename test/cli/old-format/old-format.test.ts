/**
 * Data folders and backups from before the first release, versions 1 to 23: every command that
 * opens one rejects it with a remedy, and leaves it as it was, byte for byte. The files beside this
 * one are of version 10; the other versions differ in the header, which is all that may be read.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createShop } from '../../../src/embed/shop.ts';
import { SCHEMA_VERSION } from '../../../src/store/sqlite/schema/migrate.ts';
import { countTo } from '../../store/contract/fixture.ts';
import { FILE_NAME, readFolder, readMode } from '../../store/sqlite/engine/read-file.ts';
import { run } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { createKey, createSeller, makeBackup } from '../setup.ts';

const OLD_VERSIONS = countTo(23);
/** Where the header of a database has its `user_version`. */
const VERSION_OFFSET = 60;
const NAMES = [FILE_NAME, 'search.db', 'server.key'];

function readOriginal(name: string): Buffer {
  return gunzipSync(readFileSync(join(import.meta.dirname, `${name}.gz`)));
}

/**
 * A data folder of that version, which other users may list: opening it would change its mode. Even
 * versions have a journal, which opening the database would roll back.
 */
function makeOld(t: TestContext, version: number): string {
  const folder = join(makeFolder(t), 'data');
  mkdirSync(folder, { mode: 0o755 });
  for (const name of NAMES) {
    const bytes = readOriginal(name);
    if (name === FILE_NAME) bytes.writeInt32BE(version, VERSION_OFFSET);
    writeFileSync(join(folder, name), bytes, { mode: 0o644 });
  }
  if (version % 2 === 0) writeFileSync(join(folder, `${FILE_NAME}-journal`), 'x'.repeat(512));
  return folder;
}

function describeRejection(file: string): string {
  return `${file} has a format from before the first release, which this version cannot read. It `
    + 'was left unchanged: export its products with the version that wrote it, and import them '
    + 'into a new data folder.\n';
}

/** Runs a command, and asserts that it fails because of `file`, and changes no folder. */
async function assertRejected(
  words: readonly string[], file: string, folders: readonly string[],
): Promise<void> {
  const read = () => folders.map((folder) => [
    readMode(folder), readFolder(folder), readdirSync(folder).map((name) =>
      readMode(join(folder, name))),
  ]);
  const before = read();
  const { status, out, notes } = await run(words);
  assert.deepEqual([status, out, notes], [1, '', describeRejection(file)], words.join(' '));
  assert.deepEqual(read(), before, words.join(' '));
}

const SELLER = 'sel_1k8cd64qld8';
const KEY = 'key_1k8cd65ik001k8cd64qld8';
const COMMANDS: readonly (readonly string[])[] = [
  ['serve', '--port', '0'],
  ['seller', 'create', 'A shop'], ['seller', 'invite'], ['seller', 'list'],
  ['seller', 'disable', SELLER], ['seller', 'enable', SELLER],
  ['seller', 'reset-password', SELLER], ['seller', 'reset-totp', SELLER],
  ['key', 'create', '--name', 'till'], ['key', 'list'], ['key', 'rotate', KEY],
  ['key', 'revoke', KEY], ['migrate'], ['doctor'],
];

for (const command of COMMANDS) {
  test(`${command.join(' ')} rejects a data folder from before the first release`, async (t) => {
    for (const version of OLD_VERSIONS) {
      const folder = makeOld(t, version);
      await assertRejected([...command, '--data', folder], join(folder, FILE_NAME), [folder]);
    }
  });
}

test('backup rejects it, and writes no file', async (t) => {
  for (const version of OLD_VERSIONS) {
    const [folder, target] = [makeOld(t, version), makeFolder(t)];
    for (const words of [[join(target, 'copy.db')], ['--folder', target]]) {
      await assertRejected(['backup', ...words, '--data', folder],
        join(folder, FILE_NAME), [folder, target]);
    }
  }
});

test('backup and doctor leave a newer version with a journal as it is', async (t) => {
  const [folder, target] = [makeOld(t, 24), makeFolder(t)];
  const db = readOriginal(FILE_NAME);
  db.writeInt32BE(SCHEMA_VERSION + 1, VERSION_OFFSET);
  writeFileSync(join(folder, FILE_NAME), db);
  const before = readFolder(folder);
  for (const words of [['backup', join(target, 'copy.db')], ['backup', '--folder', target],
    ['doctor']]) {
    const { status, notes } = await run([...words, '--data', folder]);
    assert.equal(status, 1, words.join(' '));
    assert.match(notes, /was written by a newer version\. It was left unchanged/);
    assert.deepEqual(readFolder(folder), before, words.join(' '));
  }
});

test('move-to rejects it before it connects to the database', async (t) => {
  for (const version of OLD_VERSIONS) {
    const folder = makeOld(t, version);
    await assertRejected(
      ['move-to', 'postgres://nobody@127.0.0.1:1/none', '--data', folder],
      join(folder, FILE_NAME), [folder]);
  }
});

test('restore and doctor reject an old backup', async (t) => {
  for (const version of OLD_VERSIONS) {
    const target = makeFolder(t);
    const file = join(makeOld(t, version), FILE_NAME);
    await assertRejected(['restore', file, '--data', target], file, [join(file, '..'), target]);
    await assertRejected(['doctor', '--file', file], file, [join(file, '..')]);
  }
});

test('restore does not replace an old catalogue, nor one with an old backup', async (t) => {
  const { folder: current, file: backup } = await makeBackup(t);
  for (const version of OLD_VERSIONS) {
    const old = makeOld(t, version);
    const file = join(old, FILE_NAME);
    await assertRejected(['restore', backup, '--replace', '--data', old], file, [old]);
    await assertRejected(['restore', file, '--replace', '--data', current], file, [old, current]);
  }
});

test('createShop rejects it', async (t) => {
  for (const version of OLD_VERSIONS) {
    const folder = makeOld(t, version);
    const before = readFolder(folder);
    await assert.rejects(createShop({ folder }),
      { message: describeRejection(join(folder, FILE_NAME)).trim() });
    assert.deepEqual(readFolder(folder), before);
  }
});

test('an old search database in a new data folder is replaced', async (t) => {
  const folder = join(makeFolder(t), 'data');
  await createSeller(folder);
  writeFileSync(join(folder, 'search.db'), readOriginal('search.db'), { mode: 0o600 });
  const { status, out, notes } = await run(['doctor', '--data', folder]);
  assert.equal(status, 0, notes);
  assert.match(out, /warning: The search database is incomplete, or of another version/);
});

test('the key of an old data folder can be used for a new one', async (t) => {
  const folder = makeFolder(t);
  const old = makeOld(t, 10);
  copyFileSync(join(old, 'server.key'), join(folder, 'server.key'));
  await createSeller(folder);
  assert.ok((await createKey(folder)).key);
  assert.deepEqual(readFileSync(join(folder, 'server.key')), readOriginal('server.key'));
});
