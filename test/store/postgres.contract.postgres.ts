/**
 * The PostgreSQL adapter passes the contract of the store port, and what processes cache also with
 * two stores in turn; and on Citus, if SELLER_API_TEST_CITUS is the URL of a database of a
 * coordinator, where the user may create schemas, such as postgres://postgres@127.0.0.1:5432/test.
 */
import { after, before, describe, test } from 'node:test';
import {
  type ConnectOptions, openConnection,
} from '../../src/store/postgres/connect/open-connection.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import type { Store } from '../../src/store/store.ts';
import { CitusSchemas, NO_CITUS } from '../support/postgres/citus.ts';
import { EmptyDatabases } from '../support/postgres/empty-databases.ts';
import { NO_POSTGRES } from '../support/postgres/install.ts';
import { TEST_KEY } from '../support/postgres/server.ts';
import { borrowDatabase } from '../support/postgres/shared-server.ts';
import { recordStatements } from '../support/postgres/statement-recorder.ts';
import { withTwoStores } from './alternating-stores.ts';
import {
  assertExecuted, assertRestricted, POSTGRES_EXCEPTIONS, POSTGRES_UNEXECUTED, readSellerColumns,
} from './isolation/restrictions.ts';
import { nameCallers, observeStatement, StatementLog } from './isolation/statement-log.ts';
import type { PrepareStore } from './contract/fixture.ts';
import { describeCaching, describeStore } from './contract.ts';
import { assertNameSellers, assertOneShard, assertSellersLead } from './postgres/one-shard.ts';

/** Leases are renewed quickly, and not taken over by accident. */
const nodeIntervals = { renewMs: 20, expiryMs: 20_000 };

/** SQL that no request executes: what opens and checks a database; and that of SQLite. */
const OTHER_SQL = [
  'sql/check/', 'postgres/check/', 'postgres/connect/', 'postgres/schema/', 'postgres/wire/',
  'sqlite/', 'temporary/', 'move/',
];

let recorder: ReturnType<typeof recordStatements>;
const log = new StatementLog();
before(() => { recorder = recordStatements((statement) => observeStatement(log, statement)); });
after(() => recorder.restore());

describe('on PostgreSQL', { skip: NO_POSTGRES }, () => {
  const prepare = prepareOn(borrowDatabase);
  describeStore('PostgreSQL', prepare);
  describeCaching('PostgreSQL, two stores in turn', withTwoStores(prepare));
  test('names the seller first in every key, and in every statement', async (t) => {
    const statements = recorder.take();
    const connection = await openConnection(await borrowDatabase(t));
    assertNameSellers(statements, await assertSellersLead(connection));
    await connection.close();
  });
  test('restricts every statement to the seller of its caller', () => {
    const columns = readSellerColumns('postgres/schema/schema.sql');
    assertRestricted(log, columns, POSTGRES_EXCEPTIONS);
  });
  test('executes every statement of the source', () => {
    assertExecuted(log, OTHER_SQL, POSTGRES_UNEXECUTED);
  });
});

describe('on Citus', { skip: NO_CITUS }, () => {
  const schemas = new CitusSchemas();
  const databases = new EmptyDatabases(schemas);
  const borrow = async (t: Parameters<Borrow>[0]) =>
    schemas.localOptions(await databases.borrow(t));
  after(async () => {
    await databases.end();
    await schemas.end();
  });
  describeStore('Citus', prepareOn(borrow));
  test('executes every statement of a request on one shard of Citus', async (t) => {
    const statements = recorder.take();
    const connection = await openConnection(await borrow(t));
    await assertOneShard(connection, statements);
    await connection.close();
  });
});

/** Gives a test an empty database of its own. */
type Borrow = (...args: Parameters<typeof borrowDatabase>) => Promise<ConnectOptions>;

function prepareOn(borrow: Borrow): PrepareStore {
  return (t) => {
    const stores: Store[] = [];
    // Before the database: cleanups run in the order in which they are registered.
    t.after(() => Promise.all(stores.map((store) => store.close())));
    const borrowed = borrow(t);
    return async (clock) => {
      const connect = await borrowed;
      const store = await openPostgresStore({ connect, key: TEST_KEY, clock, nodeIntervals });
      stores.push(store);
      return nameCallers(store);
    };
  };
}
