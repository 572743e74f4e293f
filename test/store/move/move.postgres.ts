/** Moves between SQLite and PostgreSQL: all data arrives, or the move is rejected. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once as waitFor } from 'node:events';
import {
  copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test, type TestContext } from 'node:test';
import type { SellerId } from '../../../src/domain/id.ts';
import type { MoveProgress, ProvenTable } from '../../../src/store/move/move.ts';
import { moveToPostgres, type MoveTask } from '../../../src/store/move/to-postgres.ts';
import { moveToSqlite } from '../../../src/store/move/to-sqlite.ts';
import {
  type ConnectOptions, openConnection,
} from '../../../src/store/postgres/connect/open-connection.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { listTablesWithDerived } from '../../../src/store/move/tables.ts';
import { migrate as migrateSqlite } from '../../../src/store/sqlite/schema/migrate.ts';
import { openTemporary } from '../../../src/store/temporary/temporary-database.ts';
import { putGeneration } from '../../../src/store/sqlite/engine/database-file.ts';
import { findServerKey } from '../../../src/store/sqlite/files/server-key.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import type { Store } from '../../../src/store/store.ts';
import { runProcess } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { listFindings } from '../../support/health.ts';
import { NO_POSTGRES, POSTGRES_FOLDER } from '../../support/postgres/install.ts';
import { type SharedServer, sharePostgres } from '../../support/postgres/shared-server.ts';
import { addUp, makeActor, makeNewProduct, readAll } from '../contract/fixture.ts';
import { damage } from '../sqlite/check/sample-folder.ts';
import { dump, makeFullFolder } from './full-folder.ts';

const DERIVED = ['key_owner', 'webhook_seller'];
/** About running servers, or the database itself. */
const NOT_MOVED = [
  'import_job', 'import_job_chunk', 'node', 'rate_lease', 'setting', 'throttle', 'webhook_lease',
];

describe('a move', { skip: NO_POSTGRES, concurrency: 3 }, () => {
  let server: SharedServer;
  let full: string;
  /** With tables that need several batches. */
  let many: string;
  /** A database that `full` was moved to, and the proof. */
  let template: string;
  let proven: readonly ProvenTable[];
  /** A database with everything of `full`, whose move was killed when the proof began. */
  let unfinished: string;
  const cleanups: (() => void)[] = [];

  before(async () => {
    server = await sharePostgres();
    const owner = { after: (clean: unknown) => void cleanups.push(clean as () => void) };
    full = await makeFullFolder(owner);
    many = await makeFullFolder(owner, { products: 10_000 });
    template = await server.createDatabase();
    proven = await moveToPostgres(makeTask(full, server.localOptions(template)));
    unfinished = await server.createDatabase();
    await runKilled('there', full, unfinished, 'proof');
  });
  after(() => {
    for (const clean of cleanups) clean();
  });

  async function query(connect: ConnectOptions, text: string): Promise<unknown> {
    const connection = await openConnection(connect);
    const [result] = await connection.run([{ text, values: [] }]);
    await connection.close();
    return result?.rows;
  }

  /** A copy of a database. */
  async function copyDatabase(from = template): Promise<ConnectOptions> {
    return server.localOptions(await server.createDatabase(from));
  }

  async function makeDatabase(): Promise<ConnectOptions> {
    return server.localOptions(await server.createDatabase());
  }

  test('copies rows of every table, and leaves the source as it was', async (t) => {
    const expected = [...dump(full)];
    assert.deepEqual(expected.filter(([, rows]) => rows.length === 0), []);
    assert.deepEqual(
      proven.map(({ table, rows }) => [table, rows])
        .filter(([table]) => !DERIVED.includes(String(table))).toSorted(),
      expected.map(([table, rows]) => [table, rows.length]),
    );
    const folder = copyFolder(t, full);
    await moveToPostgres(makeTask(folder, await makeDatabase()));
    assert.deepEqual([...dump(folder)], expected);
    assert.deepEqual(listFindings(folder), []);
  });

  test('knows every table and column of PostgreSQL', async () => {
    const rows = await query(server.localOptions(template), `
      SELECT table_name::text AS name, string_agg(column_name, ' ' ORDER BY column_name) AS columns
      FROM information_schema.columns WHERE table_schema = 'public' GROUP BY 1`);
    const columns = new Map((rows as { name: string; columns: string }[])
      .map((row) => [row.name, row.columns]));
    for (const name of NOT_MOVED) assert.ok(columns.delete(name), name);
    using db = openTemporary();
    migrateSqlite(db);
    const tables = listTablesWithDerived(db);
    assert.deepEqual([...columns].toSorted(), tables.map((table) => [
      table.name,
      [...table.columns, ...table.additions].map(({ name }) => name).toSorted().join(' '),
    ]).toSorted());
  });

  test('to PostgreSQL and back results in the same catalogue and digests', async (t) => {
    const folder = makeTarget(t);
    const back = await moveToSqlite(makeTask(folder, await copyDatabase()));
    assert.deepEqual(readdirSync(folder).toSorted(), ['catalogue.db', 'server.key']);
    assert.deepEqual(back, proven.filter(({ table }) => !DERIVED.includes(table)));
    assert.deepEqual([...dump(folder)], [...dump(full)]);
    assert.deepEqual(listFindings(folder), []);
    assert.equal(statSync(join(folder, 'catalogue.db')).mode & 0o777, 0o600);
    const store = await openSqliteStore({ folder });
    await store.close();
  });

  test('keeps the generation, there and back', async (t) => {
    const folder = copyFolder(t, full);
    const db = new DatabaseSync(join(folder, 'catalogue.db'));
    putGeneration(db);
    db.close();
    const key = findServerKey(folder) ?? assert.fail('it has a key');
    const connect = await makeDatabase();
    await moveToPostgres(makeTask(folder, connect));
    const postgres = await openPostgresStore({ connect, key });
    await postgres.close();
    const target = makeTarget(t);
    await moveToSqlite(makeTask(target, connect));
    const sqlite = await openSqliteStore({ folder: target });
    await sqlite.close();
    assert.match(String(postgres.generation), /^[a-z2-7]{5}$/);
    assert.equal(sqlite.generation, postgres.generation);
  });

  test('gives servers on PostgreSQL what those on SQLite had', async (t) => {
    const folder = copyFolder(t, full);
    const key = findServerKey(folder) ?? assert.fail('it has a key');
    const sqlite = await openSqliteStore({ folder });
    t.after(() => sqlite.close());
    const postgres = await openPostgresStore({ connect: await copyDatabase(), key });
    t.after(() => postgres.close());
    const sellers = await sqlite.listSellers({ after: undefined, limit: 100 });
    assert.ok(sellers.length >= 5);
    assert.deepEqual(await postgres.listSellers({ after: undefined, limit: 100 }), sellers);
    for (const { id } of sellers) {
      const expected = await read(sqlite, id);
      assert.deepEqual(await read(postgres, id), expected);
      const { products, units, valueMinor } = await postgres.readTotals(id, 25);
      assert.deepEqual({ products, units, valueMinor }, addUp(expected.products));
    }
  });

  test('lets servers continue the catalogue', async (t) => {
    const key = findServerKey(full) ?? assert.fail('it has a key');
    const store = await openPostgresStore({ connect: await copyDatabase(), key });
    t.after(() => store.close());
    const sellers = await store.listSellers({ after: undefined, limit: 100 });
    const seller = sellers.find(({ disabledAt }) => disabledAt === undefined)
      ?? assert.fail('all are disabled');
    const [first] = await store.listKeys(seller.id, { after: undefined, limit: 1 });
    const actor = { sellerId: seller.id, keyId: first?.id ?? assert.fail('it has a key') };
    const { position } = await store.createProduct(actor, makeNewProduct());
    assert.equal(position, seller.position + 1);
  });

  test('continues after kill -9 at any step, in both directions', async (t) => {
    const folder = copyFolder(t, many);
    const database = await server.createDatabase();
    const connect = server.localOptions(database);
    const notes: string[] = [];
    for (const step of [1, 5, 20, 45]) {
      await runKilled('there', folder, database, step);
      await assert.rejects(openStore(connect, folder), {
        code: 'unavailable', message: /^A move into this database is unfinished\. Run `move-to`/,
      });
    }
    const there = await moveToPostgres({ ...makeTask(folder, connect, notes) });
    assert.deepEqual(notes, ['Continuing the unfinished move.']);
    const target = makeTarget(t, folder);
    for (const step of [1, 6, 40]) {
      await runKilled('back', target, database, step);
      assert.equal(existsSync(join(target, 'catalogue.db')), false);
    }
    const back = await moveToSqlite({ ...makeTask(target, connect, notes) });
    assert.deepEqual(readdirSync(target).toSorted(), ['catalogue.db', 'server.key']);
    assert.equal(notes.length, 2);
    assert.deepEqual(back, there.filter(({ table }) => !DERIVED.includes(table)));
    assert.deepEqual([...dump(target)], [...dump(many)]);
  });

  test('finds a row that differs, and then copies everything again', async (t) => {
    const folder = copyFolder(t, full);
    const row = '(SELECT seller_id, position FROM change ORDER BY 1, 2 LIMIT 1 OFFSET 5)';
    const connect = await copyDatabase(unfinished);
    const notes: string[] = [];
    const task = makeTask(folder, connect, notes);
    await query(connect, `
      UPDATE change SET stock_after = stock_after + 1 WHERE (seller_id, position) = ${row}`);
    await assert.rejects(moveToPostgres(task), {
      code: 'unavailable', message: new RegExp('^The table change differs between source and '
        + 'target, first in the row seller_id=\\d+, position=\\d+\\. .* run the command again'),
    });
    await assert.rejects(openStore(connect, folder), /A move into this database is unfinished/);
    assert.deepEqual(await moveToPostgres(task), proven);
    assert.match(notes.join(), /^Continuing .*,The source has changed .* everything again\.$/);
  });

  test('finds a row that is missing, and one too many', async (t) => {
    const folder = copyFolder(t, full);
    const inOrder = 'SELECT seller_id, n FROM audit_event ORDER BY';
    for (const change of [
      `DELETE FROM audit_event WHERE (seller_id, n) = (${inOrder} 1, 2 LIMIT 1 OFFSET 3)`,
      `INSERT INTO audit_event SELECT seller_id, n + 1, at, type, address, subject, hash, actor
        FROM audit_event WHERE (seller_id, n) = (${inOrder} 1 DESC, 2 DESC LIMIT 1)`,
    ]) {
      const connect = await copyDatabase(unfinished);
      await query(connect, change);
      await assert.rejects(moveToPostgres(makeTask(folder, connect)),
        /^AppError: The table audit_event differs .* first in the row seller_id=\d+, n=\d+\. /);
    }
  });

  test('starts again if the source has changed since the interruption', async (t) => {
    const folder = copyFolder(t, full);
    const store = await openSqliteStore({ folder });
    await store.createProduct(await makeActor(store), makeNewProduct());
    await store.close();
    const notes: string[] = [];
    await moveToPostgres(makeTask(folder, await copyDatabase(unfinished), notes));
    assert.match(notes.join(), /^The source has changed .* copying everything again\.$/);
  });

  test('leaves the source closed if the connection is lost during the proof', async (t) => {
    const folder = copyFolder(t, many);
    const connect = await makeDatabase();
    const terminate = `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
      WHERE datname = '${connect.database}'`;
    const onProgress = ({ phase, table }: MoveProgress): void => {
      if (phase === 'copy' || table !== 'change') return;
      execFileSync(join(POSTGRES_FOLDER ?? '', 'psql'), [
        '--host', server.folder, '--port', String(server.port), '--username', 'postgres',
        '--quiet', '--no-psqlrc', '--command', terminate,
      ], { stdio: ['ignore', 'ignore', 'inherit'] });
    };
    await assert.rejects(moveToPostgres({ ...makeTask(folder, connect), onProgress }), {
      code: 'unavailable', message: /^The database reports: .* it continues where it stopped\.$/,
    });
    await moveToPostgres(makeTask(folder, connect));
    assert.deepEqual(listFindings(folder), []);
  });

  test('rejects a target that is not empty, and leaves it unchanged', async (t) => {
    const folder = copyFolder(t, full);
    const count = 'SELECT count(*) AS n FROM change';
    const connect = await copyDatabase();
    const rows = await query(connect, count);
    await assert.rejects(moveToPostgres(makeTask(folder, connect)), {
      code: 'unavailable', message: /^The database is not empty: its table seller has rows\. /,
    });
    assert.deepEqual(await query(connect, count), rows);
    await assert.rejects(moveToSqlite(makeTask(folder, connect)), {
      code: 'unavailable', message: /already contains a catalogue\./,
    });
    assert.deepEqual([...dump(folder)], [...dump(full)]);
  });

  test('keeps an unfinished target closed, and replaces no other catalogue', async (t) => {
    const folder = makeTarget(t);
    const connect = await copyDatabase();
    await runKilled('back', folder, connect.database, 'proof');
    const unfinished = /is the target of a "move-to" that is not finished\. Run it again to con/;
    for (const args of [['serve', '--port', '0'], ['seller', 'list'], ['doctor']]) {
      const { status, notes } = await runProcess([...args, '--data', folder]);
      assert.equal(status, 1, args.join());
      assert.match(notes, unfinished);
    }
    assert.equal(existsSync(join(folder, 'catalogue.db')), false);
    const onProgress = ({ phase }: MoveProgress): void => {
      if (phase === 'proof') writeFileSync(join(folder, 'catalogue.db'), 'another');
    };
    await assert.rejects(moveToSqlite({ ...makeTask(folder, connect), onProgress }), {
      code: 'unavailable', message: /already contains a catalogue\. .* or move the catalogue away/,
    });
    assert.equal(readFileSync(join(folder, 'catalogue.db'), 'utf8'), 'another');
    rmSync(join(folder, 'catalogue.db'));
    await moveToSqlite(makeTask(folder, connect));
    assert.deepEqual([...dump(folder)], [...dump(full)]);
  });

  test('rejects a foreign table, and names the table of a row that cannot be moved', async (t) => {
    const [foreign, impossible] = [copyFolder(t, full), copyFolder(t, full)];
    damage(foreign, 'CREATE TABLE "x; DROP TABLE seller" (id INTEGER PRIMARY KEY)');
    await assert.rejects(moveToPostgres(makeTask(foreign, await makeDatabase())), {
      code: 'unavailable', message: /^The catalogue cannot be moved: The table x; .* Run doctor /,
    });
    damage(impossible, `UPDATE import SET actor = 'a' || char(0)`);
    await assert.rejects(moveToPostgres(makeTask(impossible, await makeDatabase())), {
      code: 'unavailable', message: /^PostgreSQL rejects a row of the table import: invalid byte /,
    });
  });

  test('rejects another server key, and a folder without one', async (t) => {
    const folder = copyFolder(t, full);
    writeFileSync(join(folder, 'server.key'), randomBytes(32));
    const other = /^The database belongs to another server key\. Use the file with which it was /;
    await assert.rejects(moveToPostgres(makeTask(folder, await copyDatabase(unfinished))),
      { code: 'unavailable', message: other });
    const source = await copyDatabase();
    const target = makeTarget(t, folder);
    await assert.rejects(moveToSqlite(makeTask(target, source)), { message: other });
    const bare = join(makeFolder(t), 'data');
    await assert.rejects(moveToSqlite(makeTask(bare, source)),
      { message: /^Copy the server\.key that the servers use to .*server\.key first: / });
    assert.equal(existsSync(bare), false);
  });

  test('does not run beside servers, or beside a second move', async (t) => {
    const folder = copyFolder(t, full);
    const store = await openSqliteStore({ folder });
    t.after(() => store.close());
    const empty = await makeDatabase();
    await assert.rejects(moveToPostgres(makeTask(folder, empty)),
      { code: 'unavailable', message: /is in use\. Stop the server and other commands on it / });
    const connect = await copyDatabase();
    await query(connect, `INSERT INTO node (id, role, expires_at) VALUES ('one', 'limits', 9e15)`);
    await assert.rejects(moveToSqlite(makeTask(makeTarget(t), connect)), {
      code: 'unavailable',
      message: /^Servers use this database\. Nothing was changed: stop all/,
    });
    await assert.rejects(moveToPostgres(makeTask(full, { ...empty, poolMode: 'transaction' })),
      { code: 'unavailable', message: /^A move needs a connection of its own: / });
  });

  test('reads a database only while nobody writes to it', async (t) => {
    const connect = await copyDatabase();
    const writer = await openConnection(connect);
    t.after(() => writer.close());
    await writer.run([{ text: 'BEGIN', values: [] }]);
    await writer.run([{ text: 'SELECT id FROM seller LIMIT 1 FOR UPDATE', values: [] }]);
    await assert.rejects(moveToSqlite(makeTask(makeTarget(t), connect)), {
      code: 'unavailable', message: /^A server or a command is writing to the database\. /,
    });
    await writer.run([{ text: 'ROLLBACK', values: [] }]);
  });

  async function runKilled(
    direction: 'there' | 'back', folder: string, database: string, step: number | 'proof',
  ): Promise<void> {
    const script = join(import.meta.dirname, 'killed-move.ts');
    const child = spawn(process.execPath, [
      script, direction, folder, database, String(server.port), String(step),
    ], { stdio: ['ignore', 'ignore', 'inherit'] });
    assert.deepEqual(await waitFor(child, 'exit'), [null, 'SIGKILL']);
  }

  async function openStore(connect: ConnectOptions, folder: string): Promise<Store> {
    const key = findServerKey(folder) ?? assert.fail('it has a key');
    return openPostgresStore({ connect, key });
  }

  /** A folder with only a key. */
  function makeTarget(t: TestContext, source = full): string {
    const folder = makeFolder(t);
    copyFileSync(join(source, 'server.key'), join(folder, 'server.key'));
    return folder;
  }
});

async function read(store: Store, id: SellerId) {
  const page = { after: undefined, limit: 1_000 };
  return {
    products: await readAll(store, id),
    keys: await store.listKeys(id, page),
    webhooks: await store.listWebhooks(id, page),
    audit: await store.listAuditEvents(id, { type: undefined, before: undefined, limit: 100 }),
  };
}

function makeTask(folder: string, connect: ConnectOptions, notes: string[] = []): MoveTask {
  return { folder, connect, onProgress() {}, onNote: (text) => void notes.push(text) };
}

function copyFolder(t: TestContext, folder: string): string {
  const copy = join(makeFolder(t), 'data');
  mkdirSync(copy, { mode: 0o700 });
  cpSync(folder, copy, { recursive: true, mode: 0 });
  return copy;
}
