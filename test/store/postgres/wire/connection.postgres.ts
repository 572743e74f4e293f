/** Pipelines, errors, transactions, deadlines and lost servers, on a real server. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { openConnection } from '../../../../src/store/postgres/connect/open-connection.ts';
import type { Connection } from '../../../../src/store/postgres/wire/connection.ts';
import {
  ConnectionLostError, PostgresError,
} from '../../../../src/store/postgres/wire/errors.ts';
import { POSTGRES_STATEMENTS_LIMIT } from '../../../../src/store/postgres/wire/limits.ts';
import type { Statement } from '../../../../src/store/postgres/wire/statement-run.ts';
import type { Parameter, Row } from '../../../../src/store/postgres/wire/values.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { type SharedServer, sharePostgres } from '../../../support/postgres/shared-server.ts';

function sql(text: string, ...values: readonly Parameter[]): Statement {
  return { text, values };
}

describe('a connection', { skip: NO_POSTGRES }, () => {
  let server: SharedServer;
  let database: string;
  let connection: Connection;

  before(async () => {
    server = await sharePostgres();
    database = await server.createDatabase();
    connection = await open();
    await connection.run([sql('CREATE TABLE item (id int PRIMARY KEY CHECK (id > 0), name text)')]);
  });
  after(() => connection.close());

  function open(): Promise<Connection> {
    return openConnection(server.connectOptions(database));
  }

  async function rows(text: string, ...values: readonly Parameter[]): Promise<readonly Row[]> {
    return (await connection.run([sql(text, ...values)]))[0]?.rows ?? [];
  }

  async function prepared(): Promise<readonly Row[]> {
    return rows('SELECT statement FROM pg_prepared_statements');
  }

  test('answers many pipelines in order, in one write', async () => {
    const written = connection.session.socket.bytesWritten;
    const runs = Array.from({ length: 500 }, (_, index) =>
      connection.run([sql('SELECT $1::int AS n', index), sql('SELECT 1 AS one')]));
    assert.equal(connection.load, 500);
    assert.equal(connection.session.socket.bytesWritten, written, 'not before the next iteration');
    const results = await Promise.all(runs);
    assert.deepEqual(results.map(([first]) => first?.rows[0]?.['n']),
      Array.from({ length: 500 }, (_, index) => index));
    assert.equal(connection.load, 0);
  });

  test('counts rows', async () => {
    const results = await connection.run([
      sql('INSERT INTO item (id) SELECT * FROM unnest($1::int[])', [11, 12, 13]),
      sql('UPDATE item SET name = id'), sql('SELECT id FROM item'), sql('DELETE FROM item'),
      sql('SELECT 1 WHERE false'), sql(''),
    ]);
    assert.deepEqual(results.map(({ count }) => count), [3, 3, 3, 3, 0, 0]);
  });

  test('rolls back a pipeline if one of its statements fails', async () => {
    const insert = sql('INSERT INTO item (id) VALUES ($1)', 1);
    for (const bad of [sql('SELECT 1 / 0'), sql('SELEC'), sql('SELECT $1::int', 'x'), insert]) {
      const runs = await Promise.allSettled([
        connection.run([sql('SELECT 1')]), connection.run([insert, bad, sql('SELECT 2')]),
        connection.run([sql('SELECT count(*) AS n FROM item')]),
      ]);
      const [, failed, next] = runs;
      assert.ok(failed.status === 'rejected' && failed.reason instanceof PostgresError, bad.text);
      assert.ok(next.status === 'fulfilled');
      assert.deepEqual(next.value[0]?.rows, [{ n: 0 }]);
    }
  });

  test('rolls back a large transaction, in parts, with its first error', async () => {
    const insert = (id: number) => sql('INSERT INTO item (id, name) VALUES ($1, $2)', id,
      'x'.repeat(100_000));
    const count = sql('SELECT count(*) AS n FROM item');
    const [before] = await rows(count.text);
    for (const isUnnamed of [false, true]) {
      const statements = [insert(801), sql('SELECT 1 / 0'), insert(802)]
        .map((statement) => ({ ...statement, isUnnamed }));
      const [failed, next] = await Promise.allSettled([
        connection.run(statements, { isTransaction: true }), connection.run([count]),
      ]);
      assert.ok(failed.status === 'rejected' && next.status === 'fulfilled');
      assert.equal(failed.reason.sqlstate, '22012');
      assert.deepEqual(next.value[0]?.rows, [before]);
      assert.equal(connection.status, 'I');
      const [first, second] = await connection.run([
        { ...insert(801), isUnnamed }, { ...sql('DELETE FROM item WHERE id > 800'), isUnnamed },
      ], { isTransaction: true });
      assert.deepEqual([first?.count, second?.count], [1, 1]);
    }
  });

  test('says which constraint failed, and nothing of the row', async () => {
    const error = await connection.run([sql('INSERT INTO item (id) VALUES (0)')]).catch((e) => e);
    assert.ok(error instanceof PostgresError);
    const { sqlstate, isFatal } = error;
    assert.deepEqual({ sqlstate, isFatal }, { sqlstate: '23514', isFatal: false });
    assert.match(error.message, /item_id_check/);
    assert.doesNotMatch(inspect(error), /Failing row/);
  });

  test('commits a transaction, or rolls it back before what follows', async () => {
    const insert = (id: number): Statement => sql('INSERT INTO item (id) VALUES ($1)', id);
    const runs = await Promise.allSettled([
      connection.run([insert(1)], { isTransaction: true }),
      connection.run([insert(2), insert(1)], { isTransaction: true }),
      connection.run([sql('SELECT id FROM item')]),
    ]);
    assert.ok(runs[1].status === 'rejected' && runs[1].reason instanceof PostgresError);
    assert.equal(runs[1].reason.sqlstate, '23505');
    assert.ok(runs[2].status === 'fulfilled');
    assert.deepEqual(runs[2].value[0]?.rows, [{ id: 1 }]);
    await connection.run([sql('DELETE FROM item')]);
  });

  test('reports a commit that fails', async () => {
    await connection.run([sql(`CREATE TABLE later (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)`)]);
    const insert = sql('INSERT INTO later VALUES (1)');
    const failed = connection.run([insert, insert], { isTransaction: true });
    await assert.rejects(failed, { sqlstate: '23505' });
  });

  test('does not mistake a rollback for a commit', async () => {
    await connection.run([sql('BEGIN')]);
    assert.equal(connection.status, 'T');
    await assert.rejects(connection.run([sql('SELECT 1 / 0')]));
    assert.equal(connection.status, 'E');
    await assert.rejects(connection.run([sql('COMMIT')]),
      { message: 'The transaction had failed and was rolled back.' });
    assert.equal(connection.status, 'I');
  });

  test('prepares a statement once', async () => {
    const text = 'SELECT $1::int AS prepared_once';
    await Promise.all([1, 2, 3].map((value) => connection.run([sql(text, value)])));
    await connection.run([{ ...sql('SELECT 1 AS never'), isUnnamed: true }]);
    const texts = (await prepared()).map(({ statement }) => statement);
    assert.equal(texts.filter((found) => found === text).length, 1);
    assert.ok(!texts.includes('SELECT 1 AS never'));
  });

  test('keeps a statement prepared whose first pipeline failed before it', async () => {
    const text = 'SELECT 1 AS after_failure';
    await assert.rejects(connection.run([sql('SELECT 1 / 0'), sql(text)]));
    assert.deepEqual(await rows(text), [{ after_failure: 1 }]);
  });

  test('prepares a statement again that could not be prepared', async () => {
    const text = 'SELECT count(*) AS n FROM created_later';
    await assert.rejects(connection.run([sql(text)]), { sqlstate: '42P01' });
    await connection.run([sql('CREATE TABLE created_later (id int)')]);
    assert.deepEqual(await rows(text), [{ n: 0 }]);
  });

  test('closes the least recently used prepared statement', async () => {
    const texts = Array.from({ length: POSTGRES_STATEMENTS_LIMIT + 20 }, (_, n) => `SELECT ${n}`);
    await rows('SELECT 0 AS first');
    for (const text of texts) {
      await rows(text);
      await rows('SELECT 0 AS first');
    }
    const found = (await prepared()).map(({ statement }) => statement);
    assert.ok(found.length <= POSTGRES_STATEMENTS_LIMIT + 1, String(found.length));
    assert.ok(found.includes('SELECT 0 AS first') && !found.includes('SELECT 1'));
  });

  test('is closed once a statement is prepared for columns that have changed', async () => {
    await connection.run([sql('CREATE TABLE changing (a int)')]);
    const text = 'SELECT * FROM changing';
    const [one, other] = await Promise.all([open(), open()]);
    await Promise.all([one, other].map((each) => each.run([sql(text)])));
    await connection.run([sql('ALTER TABLE changing ADD COLUMN b int')]);
    const insert = sql('INSERT INTO changing (a) VALUES (1)');
    const stale = { sqlstate: '0A000', isStale: true };
    await assert.rejects(one.run([insert, sql(text)]), stale);
    await assert.rejects(other.run([insert, sql(text)], { isTransaction: true }), stale);
    assert.deepEqual([one.isOpen, other.isOpen, connection.isOpen], [false, false, true]);
    assert.deepEqual(await rows(text), []);
  });

  test('cancels what the server executes, and remains usable', async () => {
    const sleeping = connection.run([sql('SELECT pg_sleep(60)')]);
    const [other] = await Promise.all([open(), sleeping.catch(() => {}), cancelOnceActive()]);
    await other.close();
    await assert.rejects(sleeping, { sqlstate: '57014' });
    assert.deepEqual(await rows('SELECT 1 AS a'), [{ a: 1 }]);
  });

  async function cancelOnceActive(): Promise<void> {
    const watcher = await open();
    const active = sql(`SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%'
      AND state = 'active' AND pid <> pg_backend_pid()`);
    while ((await watcher.run([active]))[0]?.rows.length === 0);
    await connection.cancel();
    await watcher.close();
  }

  test('gives up on a late answer, and cancels the statement', async () => {
    const late = await open();
    const sleeping = late.run([sql('SELECT pg_sleep(61)')], { timeoutMs: 100 });
    const error = await sleeping.catch((reason) => reason);
    assert.ok(error instanceof ConnectionLostError && error.isOutcomeUnknown);
    const count = `SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE '%pg_sleep(61)%'
      AND pid <> pg_backend_pid()`;
    while ((await rows(count))[0]?.['n'] !== 0);
  });

  test('rejects what waits behind a transaction for too long, and nothing else', async () => {
    const slow = connection.run([sql('SELECT pg_sleep(0.1)')], { isTransaction: true });
    const waiting = connection.run([sql('SELECT 1')], { timeoutMs: 20 });
    await assert.rejects(waiting, { name: 'ConnectionLostError', isOutcomeUnknown: false });
    assert.equal((await slow).length, 1);
    assert.deepEqual(await rows('SELECT 1 AS a'), [{ a: 1 }]);
  });

  test('ignores notices, and settings that the server reports', async () => {
    await connection.run([
      sql(`DO $$ BEGIN RAISE NOTICE 'notice'; END $$`), sql('SET application_name = changed'),
    ]);
    assert.deepEqual(await rows('SELECT 1 AS a'), [{ a: 1 }]);
  });

  test('is lost when the server ends it', async () => {
    const other = await open();
    const [row] = (await other.run([sql('SELECT pg_backend_pid() AS pid')]))[0]?.rows ?? [];
    const sleeping = other.run([sql('SELECT pg_sleep(60)')]);
    const waiting = assert.rejects(sleeping, (error) => error instanceof ConnectionLostError
      && error.isOutcomeUnknown && /terminating connection due to admin/.test(error.message));
    await rows('SELECT pg_terminate_backend($1)', row?.['pid'] ?? 0);
    await waiting;
    assert.equal(other.isOpen, false);
    await assert.rejects(other.run([sql('SELECT 1')]), { isOutcomeUnknown: false });
  });

  test('closes after statements in flight have completed', async () => {
    const other = await open();
    const run = other.run([sql('SELECT pg_sleep(0.05), 1 AS a')]);
    const closed = other.close();
    await assert.rejects(other.run([sql('SELECT 1')]), ConnectionLostError);
    assert.equal((await run)[0]?.rows[0]?.['a'], 1);
    await closed;
  });

  test('streams rows with an SQL cursor', async () => {
    await connection.run([sql('BEGIN'), sql('DECLARE numbers CURSOR FOR SELECT generate_series(1, '
      + '$1::int) AS n', 25)]);
    const fetch = { text: 'FETCH 10 FROM numbers', values: [], isUnnamed: true };
    const counts: number[] = [];
    for (let count = 1; count > 0; counts.push(count)) {
      count = (await connection.run([fetch]))[0]?.count ?? 0;
    }
    assert.deepEqual(counts, [10, 10, 5, 0]);
    await connection.run([sql('COMMIT')]);
  });
});
