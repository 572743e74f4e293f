/** Runs tests with random calls on SQLite, and, with fewer runs, on PostgreSQL. */
import { join } from 'node:path';
import { after, before, describe, type TestContext } from 'node:test';
import { openConnection } from '../../src/store/postgres/connect/open-connection.ts';
import { migrate } from '../../src/store/postgres/schema/migrate.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeFolder } from '../support/folder.ts';
import { assertHealthy } from '../support/health.ts';
import { NO_POSTGRES } from '../support/postgres/install.ts';
import { type PostgresServer, startPostgres, TEST_KEY } from '../support/postgres/server.ts';
import type { OpenStore } from './contract/fixture.ts';

/** Runs on SQLite for each run on PostgreSQL. */
const RATIO = 3;

/** Data of one test. */
export interface EngineData {
  /** Opens one more store on the data; it is closed after the test. */
  readonly open: OpenStore;
  /** Whether concurrent calls of one store get product ids without gaps. */
  readonly hasExactIds: boolean;
  /** Asserts that `doctor` finds no fault, on SQLite. */
  assertHealthy(): void;
}

interface Engine {
  readonly runs: number;
  prepare(t: TestContext): Promise<EngineData>;
}

/** `runs` are those on SQLite. */
export function describeEngines(runs: number, describeTests: (engine: Engine) => void): void {
  describe('on SQLite', () => describeTests({ runs, prepare: prepareSqlite }));
  describe('on PostgreSQL', { skip: NO_POSTGRES }, () => {
    let server: PostgresServer;
    before(async () => { server = await startPostgres({ isFast: true }); });
    after(() => server.end());
    describeTests({
      runs: Math.ceil(runs / RATIO), prepare: (t) => preparePostgres(t, server),
    });
  });
}

async function prepareSqlite(t: TestContext): Promise<EngineData> {
  // Before the folder: cleanups run in the order in which they are registered.
  const open = closeAfter(t, (clock) => openSqliteStore({ folder, clock }));
  const folder = join(makeFolder(t), 'data');
  return { open, hasExactIds: true, assertHealthy: () => assertHealthy(folder) };
}

async function preparePostgres(t: TestContext, server: PostgresServer): Promise<EngineData> {
  const connect = server.connectOptions(await server.createDatabase());
  const connection = await openConnection(connect);
  await migrate(connection, TEST_KEY);
  await connection.close();
  const open = closeAfter(t, (clock) => openPostgresStore({ connect, key: TEST_KEY, clock }));
  // A rejected creation may use up an id where it shares a transaction with others.
  return { open, hasExactIds: false, assertHealthy: () => {} };
}

function closeAfter(t: TestContext, open: OpenStore): OpenStore {
  const stores: Store[] = [];
  t.after(() => Promise.all(stores.map((store) => store.close())));
  return async (clock) => {
    const store = await open(clock);
    stores.push(store);
    return store;
  };
}
