/**
 * One PostgreSQL for all test files of a process that neither kill it nor change its settings, and
 * empty databases on it. A new connection costs the server more than the statements of most tests,
 * so stores connect through pgbouncer where that is installed, which keeps connections for others.
 */
import type { TestContext } from 'node:test';
import type { ConnectOptions } from '../../../src/store/postgres/connect/open-connection.ts';
import { atProcessEnd } from '../process-end.ts';
import { EmptyDatabases } from './empty-databases.ts';
import { NO_PGBOUNCER, startPgbouncer } from './pgbouncer.ts';
import { type PostgresServer, startPostgres } from './server.ts';

/** No test may stop it. */
export type SharedServer = Omit<PostgresServer, 'kill' | 'start' | 'promote' | 'end'>;

interface Shared {
  readonly server: SharedServer;
  readonly databases: EmptyDatabases;
  /** How stores connect. */
  readonly connectOptions: (database: string) => ConnectOptions;
}

let shared: Promise<Shared> | undefined;

/** Its databases stay until the process ends. */
export async function sharePostgres(): Promise<SharedServer> {
  shared ??= start();
  return (await shared).server;
}

/**
 * How to connect to a database with all migrations applied, for `TEST_KEY`, and no rows. The test
 * has it to itself. A test that runs concurrently with others first registers what closes its
 * connections: cleanups run in the order in which they are registered.
 */
export async function borrowDatabase(t: Pick<TestContext, 'after'>): Promise<ConnectOptions> {
  shared ??= start();
  const { databases, connectOptions } = await shared;
  return connectOptions(await databases.borrow(t));
}

async function start(): Promise<Shared> {
  const server = await startPostgres({ isFast: true, settings: { max_connections: '300' } });
  atProcessEnd(() => server.end());
  const databases = new EmptyDatabases(server);
  atProcessEnd(() => databases.end());
  if (NO_PGBOUNCER) {
    return { server, databases, connectOptions: (name) => server.localOptions(name) };
  }
  const pgbouncer = await startPgbouncer(server, 'postgres', {
    mode: 'session', poolSize: 60, isTrusting: true,
  });
  atProcessEnd(() => pgbouncer.end());
  const connectOptions = (database: string) => ({ ...pgbouncer.options, database });
  return { server, databases, connectOptions };
}
