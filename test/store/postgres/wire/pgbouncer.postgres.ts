/** Behind a pooler: in session mode by default, in transaction mode with the setting for it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type ConnectOptions, openConnection,
} from '../../../../src/store/postgres/connect/open-connection.ts';
import type { Connection } from '../../../../src/store/postgres/wire/connection.ts';
import { PostgresError } from '../../../../src/store/postgres/wire/errors.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import {
  NO_PGBOUNCER, type Pgbouncer, startPgbouncer,
} from '../../../support/postgres/pgbouncer.ts';
import { type SharedServer, sharePostgres } from '../../../support/postgres/shared-server.ts';

const NUMBER = 'SELECT $1::int AS n';

describe('behind pgbouncer', { skip: NO_POSTGRES || NO_PGBOUNCER }, () => {
  let server: SharedServer;
  let session: Pgbouncer;
  let transaction: Pgbouncer;
  /** With two connections to the server. */
  let wide: Pgbouncer;

  before(async () => {
    server = await sharePostgres();
    const database = await server.createDatabase();
    session = await startPgbouncer(server, database, { mode: 'session' });
    transaction = await startPgbouncer(server, database, { mode: 'transaction' });
    wide = await startPgbouncer(server, database, { mode: 'transaction', poolSize: 2 });
  });
  after(async () => {
    await session.end();
    await transaction.end();
    await wide.end();
  });

  async function useTwo(
    options: ConnectOptions, use: (a: Connection, b: Connection) => Promise<void>,
  ): Promise<void> {
    const [a, b] = await Promise.all([openConnection(options), openConnection(options)]);
    await use(a, b).finally(() => Promise.all([a.close(), b.close()]));
  }

  test('in session mode, pipelines and settings work', async () => {
    const connection = await openConnection({
      ...session.options, settings: { lock_timeout: '1234' },
    });
    const runs = Array.from({ length: 200 }, (_, n) =>
      connection.run([{ text: NUMBER, values: [n] }], { isTransaction: n % 10 === 0 }));
    const results = await Promise.all(runs);
    assert.deepEqual(results.map(([result]) => result?.rows[0]?.['n']), [...Array(200).keys()]);
    const [setting] = await connection.run([{ text: 'SHOW lock_timeout', values: [] }]);
    assert.deepEqual(setting?.rows, [{ lock_timeout: '1234ms' }]);
    await connection.close();
  });

  test('in transaction mode, two clients share a connection to the server', async () => {
    await useTwo(transaction.options, async (a, b) => {
      const runs = [a, b].flatMap((connection) => Array.from({ length: 100 }, (_, n) =>
        connection.run([{ text: NUMBER, values: [n] }, { text: NUMBER, values: [n + 1] }],
          { isTransaction: n % 10 === 0 })));
      const results = await Promise.all(runs);
      assert.deepEqual(results.map(([first, second]) => [first, second]
        .map((result) => result?.rows[0]?.['n'])), [...Array(200).keys()]
        .map((index) => [index % 100, index % 100 + 1]));
    });
  });

  test('in transaction mode, a failed transaction is over before the next', async () => {
    await useTwo(transaction.options, async (a, b) => {
      const failed = a.run([{ text: 'SELECT 1 / 0', values: [] }], { isTransaction: true });
      const next = [a, b].map((connection) => connection.run([{ text: NUMBER, values: [1] }]));
      await assert.rejects(failed, { sqlstate: '22012' });
      for (const result of await Promise.all(next)) assert.equal(result[0]?.count, 1);
    });
  });

  test('in transaction mode without the setting, the error names it', async () => {
    await useTwo({ ...wide.options, poolMode: 'session' }, async (a, b) => {
      const begin = { text: 'BEGIN', values: [], isUnnamed: true };
      const end = { text: 'COMMIT', values: [], isUnnamed: true };
      const number = { text: NUMBER, values: [1] };
      for (const connection of [a, b]) await connection.run([begin]);
      for (const connection of [a, b]) await connection.run([number]);
      for (const connection of [b, a]) await connection.run([end]);
      for (const connection of [b, a]) await connection.run([begin]);
      // Each has the other's connection to the server now.
      await assert.rejects(a.run([number]), (error) => error instanceof PostgresError
        && /Behind a pooler in transaction mode, such as pgbouncer, add pool_mode=trans/
          .test(error.message));
      for (const connection of [a, b]) await connection.run([end]).catch(() => {});
    });
  });

  test('cancels a statement', async () => {
    const connection = await openConnection(wide.options);
    const sleeping = connection.run([{ text: 'SELECT pg_sleep(60)', values: [] }]);
    const cancelled = assert.rejects(sleeping, { sqlstate: '57014' });
    const watcher = await server.openAdministrator();
    const active = `SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%'
      AND state = 'active' AND pid <> pg_backend_pid()`;
    while ((await watcher.run([{ text: active, values: [] }]))[0]?.count === 0);
    await connection.cancel();
    await cancelled;
    await watcher.close();
    await connection.close();
  });
});
