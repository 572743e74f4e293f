/** A node that is paused, which a suspended machine is: others can write to its seller. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConnectOptions, openConnection,
} from '../../../src/store/postgres/connect/open-connection.ts';
import { migrate } from '../../../src/store/postgres/schema/migrate.ts';
import { queryOf } from '../../../src/store/postgres/sql.ts';
import { NO_POSTGRES } from '../../support/postgres/install.ts';
import {
  NO_PGBOUNCER, type Pgbouncer, startPgbouncer,
} from '../../support/postgres/pgbouncer.ts';
import { TEST_KEY, USER } from '../../support/postgres/server.ts';
import { type SharedServer, sharePostgres } from '../../support/postgres/shared-server.ts';

const NODE = new URL('paused-node.ts', import.meta.url).pathname;
const PRODUCTS = 20_000;
/** Short limits of the server, in milliseconds; nothing else limits what it waits for. */
const LIMITS = { tcp_user_timeout: '300', idle_in_transaction_session_timeout: '300' };
/** How long another writer waits before it gives up. */
const PATIENCE = { lock_timeout: '10s' };

describe('while a node is paused', { skip: NO_POSTGRES }, () => {
  let server: SharedServer;
  let database: string;
  let options: ConnectOptions;

  before(async () => {
    server = await sharePostgres();
    database = await server.createDatabase();
    options = server.connectOptions(database);
    const connection = await openConnection(options);
    await migrate(connection, TEST_KEY);
    const query = queryOf(connection);
    await query(`
      INSERT INTO seller (id, name, currency, currency_decimals, position, created_at)
      VALUES (1, 'A shop', 'EUR', 2, $1, 1)`, PRODUCTS);
    await query(`
      INSERT INTO product (seller_id, id, sku, name, category, price_minor, stock, position,
        created_at, updated_at, snapshot_position, name_key, search_text)
      SELECT 1, n, 'S-' || n, repeat('x', 200), 'c', 1, 5, n, 1, 1, n, 'x', 'x'
      FROM generate_series(1, $1::bigint) AS n`, PRODUCTS);
    await connection.close();
  });

  /** Starts a node that stops itself; resolves once it has. */
  async function pause(t: TestContext, way: string, through: ConnectOptions): Promise<void> {
    const node = spawn(process.execPath, [NODE, JSON.stringify({ way, options: through })], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    t.after(() => node.kill('SIGKILL'));
    while (node.exitCode === null && !isStopped(node.pid)) await sleep(20);
    assert.equal(node.exitCode, null, 'it was not paused in time');
  }

  /** Fails if the seller stays locked. */
  async function write(): Promise<void> {
    const connection = await openConnection({ ...options, settings: PATIENCE });
    const query = queryOf(connection);
    await query('UPDATE seller SET position = position + 1 WHERE id = 1')
      .finally(() => connection.close());
  }

  test('while the server sends it much, its lock ends with tcp_user_timeout', async (t) => {
    await pause(t, 'read', { ...options, settings: LIMITS });
    await write();
  });

  test('while it sends a large transaction, its lock ends as between statements', async (t) => {
    for (const through of [options, server.localOptions(database)]) {
      await pause(t, 'write', { ...through, settings: LIMITS });
      await write();
    }
  });

  test('while it reads all products for a stocktake, it has no lock', async (t) => {
    const settings = { tcp_user_timeout: '0', idle_in_transaction_session_timeout: '0' };
    await pause(t, 'stocktake', { ...server.localOptions(database), settings });
    await write();
  });

  describe('behind pgbouncer in transaction mode', { skip: NO_PGBOUNCER }, () => {
    const poolers: Pgbouncer[] = [];

    /** It reaches the server by TCP, or by a socket, where `tcp_user_timeout` has no effect. */
    async function start(isBySocket: boolean, settings = {}): Promise<ConnectOptions> {
      const pooler = await startPgbouncer(server, database, {
        mode: 'transaction', poolSize: 4, isTrusting: isBySocket, settings,
      });
      poolers.push(pooler);
      return pooler.options;
    }

    async function setForRole(value: string): Promise<void> {
      await server.administrate(...Object.keys(LIMITS).map((name) =>
        `ALTER ROLE ${USER} IN DATABASE ${database} SET ${name} = '${value}'`));
    }

    after(() => Promise.all(poolers.map((pooler) => pooler.end())));

    test('the settings of the role end its lock', async (t) => {
      await setForRole('300');
      t.after(() => setForRole('0'));
      const through = await start(false);
      for (const way of ['read', 'write']) {
        await pause(t, way, through);
        await write();
      }
    });

    test('where it has a socket to the server, pgbouncer ends it', async (t) => {
      const limits = { query_timeout: '1', idle_transaction_timeout: '1' };
      const through = await start(true, limits);
      for (const way of ['read', 'write']) {
        await pause(t, way, through);
        await write();
      }
    });
  });
});

function isStopped(id: number | undefined): boolean {
  try {
    return /^State:\s+T/m.test(readFileSync(`/proc/${id}/status`, 'utf8'));
  } catch {
    return false; // not started yet
  }
}
