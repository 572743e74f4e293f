/** Migrations of SQLite, with invented ones after those that there are. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { openWriter } from '../../../../src/store/sqlite/engine/connection.ts';
import {
  assertNotOldFile, findVersion,
} from '../../../../src/store/sqlite/engine/database-file.ts';
import { migrate, SCHEMA_VERSION } from '../../../../src/store/sqlite/schema/migrate.ts';
import { countTo, makeActor, makeNewProduct } from '../../contract/fixture.ts';
import { makeFolder } from '../../../support/folder.ts';
import { FILE_NAME, readRows, readTables } from '../engine/read-file.ts';
import { openStore } from '../open.ts';

const SCHEMA = new URL('../../../../src/store/sqlite/schema/', import.meta.url).pathname;
const REAL = globSync('migration-*.sql', { cwd: SCHEMA }).sort().map((name) => join(SCHEMA, name));
const MIGRATING = new URL('migrating.ts', import.meta.url).pathname;
const TABLE = 'CREATE TABLE tag (n INTEGER PRIMARY KEY) STRICT; INSERT INTO tag VALUES (1);';
const COLUMN = "ALTER TABLE tag ADD COLUMN name TEXT NOT NULL DEFAULT 'blue';";
const ROWS = `INSERT INTO tag (n)
  WITH RECURSIVE number (n) AS (VALUES (2) UNION ALL SELECT n + 1 FROM number WHERE n < 20000)
  SELECT n FROM number;`;
const DONE = [{ n: 1, name: 'blue' }];

interface Prepared {
  readonly folder: string;
  readonly file: string;
  /** The paths of the migrations. */
  readonly paths: readonly string[];
  readonly migrations: readonly string[];
}

/** A catalogue with a product, and migrations for it. */
async function prepare(t: TestContext, ...texts: readonly string[]): Promise<Prepared> {
  const folder = join(makeFolder(t), 'data');
  const store = await openStore(t, { folder });
  await store.createProduct(await makeActor(store), makeNewProduct());
  await store.close();
  const other = makeFolder(t);
  const paths = [...REAL, ...texts.map((text, n) => {
    const path = join(other, `${n}.sql`);
    writeFileSync(path, text);
    return path;
  })];
  const migrations = paths.map((path) => readFileSync(path, 'utf8'));
  return { folder, file: join(folder, FILE_NAME), paths, migrations };
}

function readVersion(folder: string): unknown {
  return readRows(folder, 'PRAGMA user_version')[0]?.['user_version'];
}

test('applies what a database lacks, in order, and keeps its rows', async (t) => {
  const { folder, file, migrations } = await prepare(t, TABLE, COLUMN);
  const before = readTables(folder);
  using db = openWriter(file);
  migrate(db, { migrations, to: SCHEMA_VERSION + 1 });
  assert.equal(readVersion(folder), SCHEMA_VERSION + 1);
  migrate(db, { migrations });
  migrate(db, { migrations });
  assert.equal(readVersion(folder), SCHEMA_VERSION + 2);
  assert.deepEqual(readTables(folder), new Map([...before, ['tag', DONE]]));
});

test('gives a new database the newest version', async (t) => {
  const { migrations } = await prepare(t, TABLE, COLUMN);
  const folder = makeFolder(t);
  using db = openWriter(join(folder, FILE_NAME));
  migrate(db, { migrations });
  assert.equal(readVersion(folder), SCHEMA_VERSION + 2);
  assert.deepEqual(readTables(folder).get('tag'), DONE);
});

test('keeps the version before a migration that fails, and continues from it', async (t) => {
  const { folder, file, migrations } = await prepare(t, TABLE, `${COLUMN} SELECT * FROM none;`);
  using db = openWriter(file);
  assert.throws(() => migrate(db, { migrations }), /no such table: none/);
  assert.equal(readVersion(folder), SCHEMA_VERSION + 1);
  assert.deepEqual(readTables(folder).get('tag'), [{ n: 1 }]);
  const { migrations: corrected } = await prepare(t, TABLE, COLUMN);
  migrate(db, { migrations: corrected });
  assert.deepEqual(readTables(folder).get('tag'), DONE);
});

for (const [version, message] of [
  [23, /before the first release/], [1, /before the first release/],
  [SCHEMA_VERSION + 3, /by a newer version/],
] as const) {
  test(`leaves a database of version ${version} as it is`, async (t) => {
    const { folder, file, migrations } = await prepare(t, TABLE, COLUMN);
    const db = openWriter(file);
    db.exec(`PRAGMA user_version = ${version}`);
    const before = readTables(folder);
    assert.throws(() => migrate(db, { migrations }), { code: 'unavailable', message });
    db.close();
    assert.throws(() => findVersion(file), { code: 'unavailable' });
    if (version < 24) assert.throws(() => assertNotOldFile(file), { code: 'unavailable', message });
    assert.equal(readVersion(folder), version);
    assert.deepEqual(readTables(folder), before);
  });
}

test('migrates once in several processes', async (t) => {
  const { folder, file, paths } = await prepare(t, TABLE, COLUMN, ROWS);
  const statuses = await Promise.all(countTo(3).map(async () => {
    const child = spawn(process.execPath, [MIGRATING, file, ...paths], { stdio: 'inherit' });
    return (await once(child, 'exit'))[0];
  }));
  assert.deepEqual(statuses, [0, 0, 0]);
  assert.equal(readVersion(folder), SCHEMA_VERSION + 3);
  assert.equal(readTables(folder).get('tag')?.length, 20_000);
});

test('kill -9 leaves a complete version, and the next start continues from it', async (t) => {
  const { folder, file, paths } = await prepare(t, TABLE, COLUMN, ROWS);
  // Endless: it is killed while it writes, after the migrations before it.
  const endless = join(makeFolder(t), 'endless.sql');
  writeFileSync(endless, ROWS.replace('VALUES (2)', 'VALUES (30000)').replace('20000', '1e15'));
  const child = spawn(process.execPath, [MIGRATING, file, ...paths, endless]);
  const log = new DatabaseSync(file, { readOnly: true });
  while (log.prepare('PRAGMA user_version').get()?.['user_version'] !== SCHEMA_VERSION + 3) {
    await new Promise((resolve) => { setImmediate(resolve); });
  }
  log.close();
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(readVersion(folder), SCHEMA_VERSION + 3);
  assert.deepEqual(readRows(folder, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  assert.equal(readTables(folder).get('tag')?.length, 20_000);
  const { migrations } = await prepare(t, TABLE, COLUMN, ROWS, 'DROP TABLE tag;');
  using db = openWriter(file);
  migrate(db, { migrations });
  assert.equal(readVersion(folder), SCHEMA_VERSION + 4);
  assert.equal(readTables(folder).has('tag'), false);
});
