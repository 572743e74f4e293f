/** The database file: its permissions, its creation, and which files are rejected. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import {
  assertCatalogueExists, findVersion,
} from '../../../../src/store/sqlite/engine/database-file.ts';
import { SCHEMA_VERSION } from '../../../../src/store/sqlite/schema/migrate.ts';
import { AtomicFile } from '../../../../src/store/sqlite/files/atomic-file.ts';
import { runProcess } from '../../../support/command.ts';
import { makeFolder } from '../../../support/folder.ts';
import { makeActor } from '../../contract/fixture.ts';
import { openStore } from '../open.ts';
import { FILE_NAME, readFolder, readMode, readRows } from './read-file.ts';

for (const umask of [0o022, 0o000]) {
  const title = `keeps its files to their owner under umask ${umask.toString(8).padStart(3, '0')}`;
  test(title, async (t) => {
    const folder = join(makeFolder(t), 'a', 'data');
    const before = process.umask(umask);
    try {
      const store = await openStore(t, { folder });
      await makeActor(store);
      assert.deepEqual(readdirSync(folder).toSorted(), [
        FILE_NAME, `${FILE_NAME}-shm`, `${FILE_NAME}-wal`, 'server.key',
      ]);
      assert.equal(readMode(folder), '700');
      const modes = readdirSync(folder).map((name) => readMode(join(folder, name)));
      assert.deepEqual(modes, ['600', '600', '600', '600']);
      await store.close();
      assert.equal(readMode(join(folder, FILE_NAME)), '600');
    } finally {
      process.umask(before);
    }
  });
}

test('removes the permissions of other users from the folder', async (t) => {
  const folder = makeFolder(t);
  chmodSync(folder, 0o755);
  await (await openStore(t, { folder })).close();
  assert.equal(readMode(folder), '700');
});

test('rejects a folder that all users share, and leaves it unchanged', async (t) => {
  const folder = makeFolder(t);
  chmodSync(folder, 0o1777);
  await assert.rejects(openStore(t, { folder }), {
    name: 'AppError', code: 'unavailable', message: /folder for the database alone/,
  });
  assert.equal(readMode(folder), '1777');
  assert.deepEqual(readdirSync(folder), []);
});

test('creates no catalogue beside the target of an unfinished move', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, `${FILE_NAME}.moving`), '');
  await assert.rejects(openStore(t, { folder }), {
    name: 'AppError', code: 'unavailable', message: /is the target of a "move-to" that is not fin/,
  });
  assert.deepEqual(readdirSync(folder), [`${FILE_NAME}.moving`]);
});

for (const end of ['-wal', '-journal']) {
  test(`creates no catalogue beside the ${end} of a missing one`, async (t) => {
    const [old, folder] = [makeFolder(t), makeFolder(t)];
    const store = await openStore(t, { folder: old });
    await makeActor(store);
    // Its name is enough: its content is not read.
    copyFileSync(join(old, `${FILE_NAME}-wal`), join(folder, `${FILE_NAME}${end}`));
    const before = readFolder(folder);
    await assert.rejects(openStore(t, { folder }), {
      name: 'AppError', code: 'unavailable', message: /catalogue\.db-.*exists, but no catalogue/,
    });
    assert.deepEqual(readFolder(folder), before);
  });
}

test('leaves only its file and its key when it is closed, without a WAL', async (t) => {
  const folder = makeFolder(t);
  const store = await openStore(t, { folder });
  await makeActor(store);
  await store.close();
  assert.deepEqual(readdirSync(folder).toSorted(), [FILE_NAME, 'high-water.json', 'server.key']);
});

test('creates its file again after an interrupted attempt', async (t) => {
  const folder = makeFolder(t);
  const { tempPath: part } = new AtomicFile(join(folder, FILE_NAME));
  for (const suffix of ['', '-wal', '-shm', '.lock']) writeFileSync(part + suffix, '');
  const store = await openStore(t, { folder });
  await makeActor(store);
  await store.close();
  assert.deepEqual(readdirSync(folder).toSorted(), [FILE_NAME, 'high-water.json', 'server.key']);
  assert.deepEqual(readRows(folder, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
});

test('has its application id and version in the header of the file', async (t) => {
  const folder = makeFolder(t);
  await (await openStore(t, { folder })).close();
  const header = readFileSync(join(folder, FILE_NAME));
  assert.equal(header.toString('latin1', 68, 72), 'SPAc');
  assert.equal(header.readInt32BE(60), SCHEMA_VERSION);
});

test('generates a cursor key for each database', async (t) => {
  const stores = [
    await openStore(t, { folder: makeFolder(t) }),
    await openStore(t, { folder: makeFolder(t) }),
  ] as const;
  assert.notDeepEqual(stores[0].cursorKey, stores[1].cursorKey);
  await Promise.all(stores.map((store) => store.close()));
});

test('creates one database when several processes open the folder concurrently', async (t) => {
  const folder = join(makeFolder(t), 'data');
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const finished = await Promise.all(names.map((name) =>
    runProcess(['seller', 'create', name, '--data', folder])));
  for (const { status, notes } of finished) assert.equal(status, 0, notes);
  assert.deepEqual(readdirSync(folder).toSorted(), [FILE_NAME, 'high-water.json', 'server.key']);
  const rows = readRows(folder, 'SELECT name FROM seller ORDER BY name');
  assert.deepEqual(rows.map(({ name }) => name), names);
  assert.equal(readRows(folder, 'SELECT name FROM server_secret').length, 1);
});

const foreignFiles: readonly [what: string, make: (file: string) => void][] = [
  ['a text file', (file) => writeFileSync(file, 'Dear diary, '.repeat(50))],
  ['an empty file', (file) => writeFileSync(file, '')],
  ['a short file', (file) => writeFileSync(file, 'SQLite format 3\0')],
  ['a database of another program', (file) => writeDatabase(file, 'PRAGMA application_id = 7')],
  ['a database of no program', (file) => writeDatabase(file, 'PRAGMA user_version = 1')],
  ['a database in WAL mode', (file) => writeDatabase(file, 'PRAGMA journal_mode = WAL')],
];

for (const [what, make] of foreignFiles) {
  test(`rejects ${what} and leaves it untouched`, async (t) => {
    const folder = makeFolder(t);
    make(join(folder, FILE_NAME));
    const before = readFolder(folder);
    assert.equal(before.length, 1);
    await assert.rejects(openStore(t, { folder }), {
      name: 'AppError', code: 'unavailable',
      message: /is not a database of this server.*another data folder/,
    });
    assert.deepEqual(readFolder(folder), before);
  });
}

test('rejects a FIFO in the place of the file, and does not wait for its writer', async (t) => {
  const folder = makeFolder(t);
  execFileSync('mkfifo', [join(folder, FILE_NAME)]);
  await assert.rejects(openStore(t, { folder }), {
    name: 'AppError', code: 'unavailable', message: /is not a database of this server/,
  });
  assert.deepEqual(readdirSync(folder), [FILE_NAME]);
});

test('rejects a link to a missing file, and creates nothing', async (t) => {
  const [folder, elsewhere] = [makeFolder(t), makeFolder(t)];
  symlinkSync(join(elsewhere, 'moved.db'), join(folder, FILE_NAME));
  await assert.rejects(openStore(t, { folder }), {
    name: 'AppError', code: 'unavailable',
    message: /is a link to a file that does not exist\. Mount/,
  });
  assert.deepEqual([readdirSync(folder), readdirSync(elsewhere)], [[FILE_NAME], []]);
});

test('rejects a folder in the place of the file, and leaves it untouched', async (t) => {
  const folder = makeFolder(t);
  mkdirSync(join(folder, FILE_NAME));
  await assert.rejects(openStore(t, { folder }), {
    name: 'AppError', code: 'unavailable', message: /is not a database of this server/,
  });
  assert.deepEqual(readdirSync(folder, { recursive: true }), [FILE_NAME]);
});

test('rejects a file of a newer version and leaves it untouched', async (t) => {
  const folder = makeFolder(t);
  await (await openStore(t, { folder })).close();
  writeDatabase(join(folder, FILE_NAME), 'PRAGMA user_version = 99');
  const before = readFolder(folder);
  const error = {
    name: 'AppError', code: 'unavailable', message: /written by a newer version.*left unchanged/,
  };
  await assert.rejects(openStore(t, { folder }), error);
  assert.throws(() => findVersion(join(folder, FILE_NAME)), error);
  assert.deepEqual(readFolder(folder), before);
});

test('says that there is no catalogue, for commands that need one', async (t) => {
  const folder = makeFolder(t);
  assert.throws(() => assertCatalogueExists(folder), { code: 'not_found' });
  await (await openStore(t, { folder })).close();
  assert.doesNotThrow(() => assertCatalogueExists(folder));
});

test('rejects a newer version that a crash has left in the WAL', async (t) => {
  const folder = await makeCrashedFolder(t, 'PRAGMA user_version = 99');
  await assert.rejects(openStore(t, { folder }), {
    name: 'AppError', code: 'unavailable', message: /written by a newer version/,
  });
  assert.deepEqual(readRows(folder, 'PRAGMA user_version'), [{ user_version: 99 }]);
});

test('reads what a crash has left in the WAL', async (t) => {
  const folder = await makeCrashedFolder(t, "UPDATE seller SET name = 'From the WAL'");
  const store = await openStore(t, { folder });
  const [seller] = await store.listSellers({ after: undefined, limit: 1 });
  await store.close();
  assert.equal(seller?.name, 'From the WAL');
});

/** The database of a process that was killed: its last change is in the WAL only. */
async function makeCrashedFolder(t: TestContext, sql: string): Promise<string> {
  const [source, folder] = [makeFolder(t), join(makeFolder(t), 'data')];
  const store = await openStore(t, { folder: source });
  await makeActor(store);
  await store.close();
  const db = new DatabaseSync(join(source, FILE_NAME));
  db.exec(sql);
  mkdirSync(folder);
  for (const suffix of ['', '-wal']) {
    copyFileSync(join(source, FILE_NAME + suffix), join(folder, FILE_NAME + suffix));
  }
  db.close();
  assert.ok(existsSync(join(folder, `${FILE_NAME}-wal`)));
  return folder;
}

function writeDatabase(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(`${sql}; CREATE TABLE IF NOT EXISTS another (n INTEGER)`);
  db.close();
}

for (const name of ['index.html', 'a-folder']) {
  test(`leaves a folder alone that has other uses (${name})`, async (t) => {
    const folder = makeFolder(t);
    if (name.includes('.')) writeFileSync(join(folder, name), 'hello');
    else mkdirSync(join(folder, name));
    chmodSync(folder, 0o755);
    await assert.rejects(openStore(t, { folder }), { code: 'unavailable', message: /other uses/ });
    assert.equal(readMode(folder), '755');
    assert.deepEqual(readdirSync(folder), [name]);
  });
}

test('removes the permissions of others only if there is no foreign database', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, FILE_NAME), 'not a database');
  chmodSync(folder, 0o755);
  await assert.rejects(openStore(t, { folder }), { code: 'unavailable', message: /unchanged/ });
  assert.equal(readMode(folder), '755');
});

test('accepts a folder whose database was removed but not its other files', async (t) => {
  const folder = makeFolder(t);
  const others = [
    'server.key', 'webhooks.lock', 'search.db', 'high-water.json', 'README.md', '.gitkeep',
  ];
  for (const name of others) writeFileSync(join(folder, name), '');
  writeFileSync(join(folder, 'server.key'), Buffer.alloc(32));
  await (await openStore(t, { folder })).close();
  assert.deepEqual(readdirSync(folder).toSorted(), [...others, FILE_NAME].toSorted());
});
