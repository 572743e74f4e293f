/** The pool: sharing, exclusive use, limits, and temporarily unavailable servers. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '../../../../src/store/postgres/connect/open-connection.ts';
import {
  ConnectionLostError, PoolExhaustedError,
} from '../../../../src/store/postgres/wire/errors.ts';
import type { Statement } from '../../../../src/store/postgres/wire/statement-run.ts';
import { Pool } from '../../../../src/store/postgres/wire/pool.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { type SharedServer, sharePostgres } from '../../../support/postgres/shared-server.ts';

const ONE: Statement = { text: 'SELECT 1 AS one', values: [] };
const PID: Statement = { text: 'SELECT pg_backend_pid() AS pid', values: [] };
const BEGIN: Statement = { text: 'BEGIN', values: [] };
const FAIL: Statement = { text: 'SELECT 1 / 0', values: [] };
const SLEEP: Statement = { text: 'SELECT pg_sleep(0.05)', values: [] };

describe('a pool', { skip: NO_POSTGRES }, () => {
  let server: SharedServer;
  let database: string;

  before(async () => {
    server = await sharePostgres();
    database = await server.createDatabase();
  });

  async function withPool(
    options: Partial<ConstructorParameters<typeof Pool>[0]>, use: (pool: Pool) => Promise<void>,
  ): Promise<void> {
    const pool = new Pool({
      max: 3, open: () => openConnection(server.connectOptions(database)), ...options,
    });
    await use(pool).finally(() => pool.close());
    assert.equal(pool.readMetrics().open, 0);
  }

  test('opens connections when needed, and shares them', () => withPool({}, async (pool) => {
    assert.equal(pool.readMetrics().open, 0);
    const runs = Array.from({ length: 5 }, () => pool.run([ONE]));
    assert.equal(pool.readMetrics().waiting, 5);
    await Promise.all(runs);
    assert.equal(pool.readMetrics().open, 1);
    const before = pool.readMetrics().roundTrips.count;
    await Promise.all(Array.from({ length: 20 }, () => pool.run([ONE])));
    while (pool.readMetrics().open < 2) await sleep(1);
    assert.ok(pool.readMetrics().roundTrips.count >= before + 20);
  }));

  test('opens another connection instead of one that was lost before it was open', () => {
    let opened = 0;
    const open = async () => {
      const connection = await openConnection(server.connectOptions(database));
      opened += 1;
      if (opened === 1) connection.destroy(new Error('the server stops'));
      return connection;
    };
    return withPool({ max: 1, open, queueTimeoutMs: 5_000 }, async (pool) => {
      await pool.run([ONE]);
      assert.equal(opened, 2);
    });
  });

  test('spreads pipelines over the least busy connections', () => withPool({}, async (pool) => {
    await Promise.all([1, 2, 3].map(() => pool.use((connection) => connection.run([SLEEP]))));
    const results = await Promise.all([1, 2, 3].map(() => pool.run([PID])));
    assert.equal(new Set(results.map(([result]) => result?.rows[0]?.['pid'])).size, 3);
  }));

  test('gives a transaction a connection of its own', () => withPool({}, async (pool) => {
    await pool.use(async (connection) => {
      await connection.run([BEGIN, { text: 'CREATE TABLE made (id int)', values: [] }]);
      await Promise.all(Array.from({ length: 50 }, () => pool.run([ONE])));
      assert.equal(connection.load, 0);
      await assert.rejects(pool.run([{ text: 'SELECT * FROM made', values: [] }]),
        { sqlstate: '42P01' });
      await connection.run([{ text: 'COMMIT', values: [] }]);
    });
    assert.equal((await pool.run([{ text: 'SELECT * FROM made', values: [] }]))[0]?.count, 0);
  }));

  test('rolls back what a caller leaves open', () => withPool({ max: 1 }, async (pool) => {
    const insert = { text: 'CREATE TABLE open (id int)', values: [] };
    await assert.rejects(pool.use(async (connection) => {
      await connection.run([BEGIN, insert]);
      throw new RangeError('our bug');
    }), RangeError);
    await assert.rejects(pool.use((connection) => connection.run([BEGIN, FAIL])),
      { sqlstate: '22012' });
    await assert.rejects(pool.use((connection) => connection.run([BEGIN, insert])),
      /A transaction was left open/);
    await assert.rejects(pool.run([{ text: 'SELECT * FROM open', values: [] }]),
      { sqlstate: '42P01' });
    await pool.use(async (connection) => {
      await assert.rejects(connection.run([FAIL], { isTransaction: true }));
    });
  }));

  test('begins no transaction on a shared connection', () => withPool({}, async (pool) => {
    for (const text of ['BEGIN', 'begin isolation level serializable', 'START TRANSACTION']) {
      await assert.rejects(pool.run([ONE, { text, values: [] }]), /cannot begin a transaction/);
    }
  }));

  test('queues callers, up to limits', async () => {
    const connection = await openConnection(server.connectOptions(database));
    const limits = { max: 1, queueLimit: 2, queueTimeoutMs: 40, open: async () => connection };
    await withPool(limits, async (pool) => {
      const order: number[] = [];
      const release = Promise.withResolvers<void>();
      const first = pool.use(async () => {
        order.push(1);
        await release.promise;
      });
      while (order.length === 0) await pool.run([ONE]).catch(() => {});
      const second = assert.rejects(pool.use(async () => {}), {
        name: 'PoolExhaustedError', message: 'No connection was free within 40 ms.',
      });
      const third = assert.rejects(pool.run([ONE]), PoolExhaustedError);
      await assert.rejects(pool.run([ONE]), /2 callers wait for a connection/);
      await Promise.all([second, third]);
      const fourth = pool.use(async () => { order.push(4); });
      release.resolve();
      await Promise.all([first, fourth]);
      assert.deepEqual(order, [1, 4]);
    });
  });

  test('replaces a connection that is lost', () => withPool({ max: 1 }, async (pool) => {
    const pid = (await pool.run([PID]))[0]?.rows[0]?.['pid'] ?? 0;
    const administrator = await server.openAdministrator();
    await administrator.run([{ text: 'SELECT pg_terminate_backend($1)', values: [pid] }]);
    await administrator.close();
    while (pool.readMetrics().open > 0) await pool.run([SLEEP]).catch(() => {});
    assert.notEqual((await pool.run([PID]))[0]?.rows[0]?.['pid'], pid);
  }));

  test('replaces a connection to a new standby', () => withPool({}, async (pool) => {
    const pid = (await pool.run([PID]))[0]?.rows[0]?.['pid'];
    await assert.rejects(pool.run([
      { text: 'SET LOCAL transaction_read_only = on', values: [] },
      { text: 'CREATE TABLE standby (id int)', values: [] },
    ]), { sqlstate: '25006' });
    assert.notEqual((await pool.run([PID]))[0]?.rows[0]?.['pid'], pid);
  }));

  test('fails immediately with the cause while no server answers', () => {
    const cause = new Error('connection to server at "db", port 5432 failed: refused');
    let attempts = 0;
    const open = async (): Promise<never> => {
      attempts += 1;
      throw cause;
    };
    const backoff = { firstMs: 60_000, limitMs: 60_000 };
    return withPool({ open, backoff }, async (pool) => {
      for (const run of [() => pool.run([ONE]), () => pool.use(async () => {})]) {
        const error = await run().catch((reason) => reason);
        assert.ok(error instanceof ConnectionLostError && !error.isOutcomeUnknown);
        assert.equal(error.message, cause.message);
      }
      assert.equal(attempts, 1);
    });
  });

  test('closes after statements in flight have completed', async () => {
    const pool = new Pool({ max: 2, open: () => openConnection(server.connectOptions(database)) });
    await pool.run([ONE]);
    const runs = [pool.run([SLEEP]), pool.use((connection) => connection.run([SLEEP, ONE]))];
    await Promise.all([...runs, pool.run([ONE])].slice(2));
    const closed = pool.close();
    await assert.rejects(pool.run([ONE]), /The pool is closed/);
    await assert.rejects(pool.use(async () => {}), /The pool is closed/);
    await Promise.all(runs);
    await closed;
    assert.equal(pool.readMetrics().open, 0);
  });
});
