/**
 * The PostgreSQL adapter passes the contract of the store port, also with two stores on the same
 * database; and on Citus, if SELLER_API_TEST_CITUS is the URL of a database of a coordinator, where
 * the user may create schemas, such as postgres://postgres@127.0.0.1:5432/test.
 */
import { after, before, test } from 'node:test';
import {
  type ConnectOptions, openConnection,
} from '../../src/store/postgres/connect/open-connection.ts';
import { migrate } from '../../src/store/postgres/schema/migrate.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import type { Connection } from '../../src/store/postgres/wire/connection.ts';
import type { Store } from '../../src/store/store.ts';
import { CitusSchemas, NO_CITUS } from '../support/postgres/citus.ts';
import { NO_POSTGRES } from '../support/postgres/install.ts';
import { type PostgresServer, startPostgres, TEST_KEY } from '../support/postgres/server.ts';
import { recordStatements } from '../support/postgres/statement-recorder.ts';
import { withTwoStores } from './alternating-stores.ts';
import type { PrepareStore } from './contract/fixture.ts';
import { describeStore } from './contract.ts';
import { assertNameSellers, assertOneShard, assertSellersLead } from './postgres/one-shard.ts';

/** Leases are renewed quickly, and not taken over by accident. */
const nodeIntervals = { renewMs: 20, expiryMs: 20_000 };

const recorder = recordStatements();
let server: PostgresServer;
/** Of a PostgreSQL of their own, or schemas of Citus. */
interface Databases {
  connectOptions(name: string): ConnectOptions;
  /** Creates an empty database, and returns its name. */
  create(): Promise<string>;
}

if (!NO_POSTGRES) {
  before(async () => {
    server = await startPostgres({ isFast: true, settings: { max_connections: '300' } });
  });
  after(() => server.end());
  const databases: Databases = {
    connectOptions: (name) => server.connectOptions(name), create: () => server.createDatabase(),
  };
  const prepare = prepareOn(databases);
  describeStore('PostgreSQL', prepare);
  describeStore('PostgreSQL, two stores in turn', withTwoStores(prepare));
  test('names the seller first in every key, and in every statement', async () => {
    const statements = recorder.take();
    const connection = await openEmpty(databases);
    assertNameSellers(statements, await assertSellersLead(connection));
    await connection.close();
  });
}

if (!NO_CITUS) {
  const schemas = new CitusSchemas();
  after(() => schemas.end());
  describeStore('Citus', prepareOn(schemas));
  test('executes every statement of a request on one shard of Citus', async () => {
    const statements = recorder.take();
    const connection = await openEmpty(schemas);
    await assertOneShard(connection, statements);
    await connection.close();
  });
}

function prepareOn(databases: Databases): PrepareStore {
  /** Unused databases: all migrations are applied, and all tables are empty. */
  const free: string[] = [];
  return (t) => {
    const stores: Store[] = [];
    t.after(() => Promise.all(stores.map((store) => store.close())));
    const database = free.pop() ?? createDatabase(databases);
    t.after(async () => free.push(await empty(databases, await database)));
    return async (clock) => {
      const connect = databases.connectOptions(await database);
      const store = await openPostgresStore({ connect, key: TEST_KEY, clock, nodeIntervals });
      stores.push(store);
      return store;
    };
  };
}

async function createDatabase(databases: Databases): Promise<string> {
  const name = await databases.create();
  const connection = await openConnection(databases.connectOptions(name));
  await migrate(connection, TEST_KEY);
  await connection.close();
  return name;
}

async function openEmpty(databases: Databases): Promise<Connection> {
  return openConnection(databases.connectOptions(await createDatabase(databases)));
}

async function empty(databases: Databases, name: string): Promise<string> {
  const connection = await openConnection(databases.connectOptions(name));
  const [tables] = await connection.run([{
    text: `SELECT tablename::text AS name FROM pg_tables WHERE schemaname = current_schema()
      AND tablename NOT IN ('setting', 'webhook_lease')`,
    values: [],
  }]);
  const rows = tables?.rows ?? [];
  await connection.run([
    ...rows.map(({ name: table }) => `DELETE FROM ${table}`),
    `UPDATE webhook_lease SET holder = '', expires_at = 0`,
  ].map((text) => ({ text, values: [] })));
  await connection.close();
  return name;
}
