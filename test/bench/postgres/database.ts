/** The database that is measured: a cluster of its own, or Citus. */
import { parseDatabaseUrl } from '../../../src/store/postgres/connect/database-url.ts';
import {
  type ConnectOptions, openConnection,
} from '../../../src/store/postgres/connect/open-connection.ts';
import { migrate } from '../../../src/store/postgres/schema/migrate.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { ServerKey } from '../../../src/store/rules/server-key.ts';
import type { Store } from '../../../src/store/store.ts';
import { PASSWORD, startPostgres, USER } from '../../support/postgres/server.ts';

interface Database {
  /** `PGPASSWORD` is set for it. */
  readonly url: string;
  end(): Promise<void>;
}

/** As durable as a server: no setting differs from PostgreSQL's defaults, but for its memory. */
export async function startDatabase(citus: string | undefined): Promise<Database> {
  if (citus !== undefined) {
    await migrateAt(citus);
    return { url: citus, end: async () => {} };
  }
  const server = await startPostgres({ settings: { shared_buffers: '512MB' } });
  process.env['PGPASSWORD'] = PASSWORD;
  const url = `postgres://${USER}@127.0.0.1:${server.port}/${await server.createDatabase()}`;
  await migrateAt(url);
  return { url, end: () => server.end() };
}

/** Every process has the same key: no secret is written. */
const KEY = new ServerKey(Buffer.alloc(32, 1));

async function migrateAt(url: string): Promise<void> {
  const connection = await openConnection(connectOptions(url));
  await migrate(connection, KEY);
  await connection.close();
}

export function connectOptions(url: string): ConnectOptions {
  return parseDatabaseUrl(url, process.env);
}

export function openStoreAt(url: string): Promise<Store> {
  return openPostgresStore({ connect: connectOptions(url), key: KEY });
}
