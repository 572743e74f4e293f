/** The property tests on PostgreSQL, and sellers with equal ids. */
import { describe } from 'node:test';
import {
  type ConnectOptions, openConnection,
} from '../../src/store/postgres/connect/open-connection.ts';
import { listTables } from '../../src/store/postgres/schema/migrate.ts';
import { queryOf } from '../../src/store/postgres/sql.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { NO_POSTGRES } from '../support/postgres/install.ts';
import { TEST_KEY } from '../support/postgres/server.ts';
import { borrowDatabase } from '../support/postgres/shared-server.ts';
import { closeAfter, type Engine } from './engine.ts';
import { testDeletion } from './deletion.ts';
import { testRandomReverts } from './revert-property.ts';
import { testRandomCalls } from './stock-property.ts';
import { testTwins } from './twins.ts';

const postgres: Engine = {
  runsShare: 1 / 3,
  async prepare(t) {
    // Before the database: cleanups run in the order in which they are registered.
    const open = closeAfter(t, (clock) => openPostgresStore({ connect, key: TEST_KEY, clock }));
    const connect = await borrowDatabase(t);
    // A rejected creation may use up an id where it shares a transaction with others.
    return {
      open, hasExactIds: false, readTables: () => readTables(connect), assertHealthy: () => {},
    };
  },
};

describe('a store on PostgreSQL', { skip: NO_POSTGRES }, () => {
  testRandomCalls(postgres);
  testRandomReverts(postgres);
  testTwins(postgres);
  testDeletion(postgres);
});

async function readTables(connect: ConnectOptions): Promise<ReadonlyMap<string, string[]>> {
  const connection = await openConnection(connect);
  const query = queryOf(connection);
  const tables = new Map<string, string[]>();
  for (const name of await listTables(query)) {
    const rows = await query(`SELECT t::text AS line FROM ${name} AS t`);
    tables.set(name, rows.map(({ line }) => String(line)));
  }
  await connection.close();
  return tables;
}
