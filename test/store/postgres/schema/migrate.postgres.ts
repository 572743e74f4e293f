/** Migrations on PostgreSQL: once among several processes, for one server key, of one version. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test, type TestContext } from 'node:test';
import { openConnection } from '../../../../src/store/postgres/connect/open-connection.ts';
import {
  assertSchema, assertServerKey, beginGeneration, findGeneration, migrate,
} from '../../../../src/store/postgres/schema/migrate.ts';
import { renewNode } from '../../../../src/store/postgres/nodes/node-table.ts';
import { queryOf } from '../../../../src/store/postgres/sql.ts';
import type { Connection } from '../../../../src/store/postgres/wire/connection.ts';
import { ServerKey } from '../../../../src/store/rules/server-key.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { TEST_KEY } from '../../../support/postgres/server.ts';
import { type SharedServer, sharePostgres } from '../../../support/postgres/shared-server.ts';

const SCHEMA = new URL('../../../../src/store/postgres/schema/', import.meta.url).pathname;
const REAL = globSync('migration-*.sql', { cwd: SCHEMA }).sort()
  .map((name) => readFileSync(join(SCHEMA, name), 'utf8'));
const NEWEST = 24 + REAL.length;

describe('migrations on PostgreSQL', { skip: NO_POSTGRES }, () => {
  let server: SharedServer;
  before(async () => { server = await sharePostgres(); });

  /** Two connections to an empty database. */
  async function prepare(t: TestContext) {
    const options = server.connectOptions(await server.createDatabase());
    const open = async (): Promise<Connection> => {
      const connection = await openConnection(options);
      t.after(() => connection.close());
      return connection;
    };
    const [connection, other] = [await open(), await open()];
    const query = queryOf(connection);
    return { connection, other, query };
  }

  test('reject a schema that is missing, of a newer version, or from before the first release',
    async (t) => {
      const { connection, query } = await prepare(t);
      await assert.rejects(assertSchema(query), /database is empty.*Run `migrate`/);
      assert.deepEqual(await migrate(connection, TEST_KEY), { from: 0, to: NEWEST });
      assert.deepEqual(await migrate(connection, TEST_KEY), { from: NEWEST, to: NEWEST });
      assert.deepEqual(await assertSchema(query), { isDistributed: false });
      for (const [version, message] of [
        [NEWEST + 1, /written by a newer version/], [23, /before the first release/],
        [1, /before the first release/],
      ] as const) {
        await query(`UPDATE setting SET value = '${version}' WHERE name = 'schema_version'`);
        await assert.rejects(assertSchema(query), message);
        await assert.rejects(migrate(connection, TEST_KEY), message);
      }
    });

  test('bring an earlier version up to date, all of them or none', async (t) => {
    const { connection, query } = await prepare(t);
    const own = [
      'CREATE TABLE tag (n bigint PRIMARY KEY);\nINSERT INTO tag VALUES (1);',
      'ALTER TABLE tag ADD COLUMN name text;',
      'CREATE TABLE product (id bigint);', // which exists already
    ];
    await migrate(connection, TEST_KEY);
    const all = [...REAL, ...own];
    await assert.rejects(migrate(connection, TEST_KEY, all), /"product" already exists/);
    await assertSchema(query); // that of the version before
    assert.deepEqual(await migrate(connection, TEST_KEY, all.slice(0, -1)),
      { from: NEWEST, to: NEWEST + 2 });
    assert.deepEqual(await query('SELECT n, name FROM tag'), [{ n: 1, name: null }]);
    await assert.rejects(assertSchema(query), /written by a newer version/);
  });

  test('take as long as they take, whatever limits the role has', async (t) => {
    const { connection, query } = await prepare(t);
    await migrate(connection, TEST_KEY);
    const slow = 'CREATE TABLE slow AS SELECT pg_sleep(0.2)::text AS text;';
    await query('SET statement_timeout = 100');
    assert.deepEqual(await migrate(connection, TEST_KEY, [...REAL, slow]),
      { from: NEWEST, to: NEWEST + 1 });
    assert.deepEqual(await query('SHOW statement_timeout'), [{ statement_timeout: '100ms' }]);
  });

  test('wait for no server of an earlier version: it must be stopped first', async (t) => {
    const { connection, query } = await prepare(t);
    const all = [...REAL, 'CREATE TABLE tag (n bigint PRIMARY KEY);'];
    await migrate(connection, TEST_KEY);
    const renew = async (expiryMs: number): Promise<void> => {
      await connection.run(renewNode('a', 'limits', expiryMs));
    };
    await renew(10_000);
    assert.deepEqual(await migrate(connection, TEST_KEY), { from: NEWEST, to: NEWEST });
    await assert.rejects(migrate(connection, TEST_KEY, all), {
      code: 'unavailable',
      message: 'Servers use this database. Nothing was changed: stop all of them first. One that '
        + 'was killed is forgotten after 10 seconds.',
    });
    await assertSchema(query);
    await query('UPDATE node SET expires_at = expires_at - 10000');
    assert.deepEqual(await migrate(connection, TEST_KEY, all),
      { from: NEWEST, to: NEWEST + 1 });
  });

  test('are applied by one of two processes, while the other one waits', async (t) => {
    const { connection, other, query } = await prepare(t);
    const done = await Promise.all([migrate(connection, TEST_KEY), migrate(other, TEST_KEY)]);
    assert.deepEqual(done.map(({ from }) => from).sort(), [0, NEWEST]);
    assert.deepEqual(await query('SELECT seller_id, id, origin FROM audit_segment'),
      [{ seller_id: 0, id: 1, origin: 'start' }]);
  });

  test('begin a generation after a restore, while no server runs', async (t) => {
    const { connection, query } = await prepare(t);
    await migrate(connection, TEST_KEY);
    assert.equal(await findGeneration(query), undefined);
    await query("INSERT INTO node (id, role, expires_at) VALUES ('n', 'limits', 9e15::bigint)");
    await assert.rejects(beginGeneration(query), /Servers use this database\. Nothing was changed/);
    await query('DELETE FROM node');
    await beginGeneration(query);
    const first = await findGeneration(query);
    await beginGeneration(query);
    assert.equal(first?.length, 32);
    assert.notDeepEqual(await findGeneration(query), first);
    await migrate(connection, TEST_KEY);
    assert.ok(await findGeneration(query), 'a migration keeps it');
  });

  test('leave nothing behind when they fail', async (t) => {
    const { connection, query } = await prepare(t);
    await query('CREATE TABLE product (id bigint)'); // of another program
    await assert.rejects(migrate(connection, TEST_KEY), /relation "product" already exists/);
    await assert.rejects(assertSchema(query), /database is empty/);
  });

  test('bind the database to the server key, and store nothing of that key', async (t) => {
    const { connection, query } = await prepare(t);
    await migrate(connection, TEST_KEY);
    const other = new ServerKey(Buffer.alloc(32, 'other'));
    for (const attempt of [() => migrate(connection, other), () => assertServerKey(query, other)]) {
      await assert.rejects(attempt(), {
        code: 'unavailable', message: 'The database belongs to another server key. Use the file '
          + 'with which it was set up: all nodes need the same one.',
      });
    }
    const [row] = await query(`SELECT value FROM setting WHERE name = 'server_key_check'`);
    assert.match(String(row?.['value']), /^[\da-f]{32}$/);
    assert.ok(!Buffer.alloc(32, 'test').toString('hex').includes(String(row?.['value'])));
  });
});
