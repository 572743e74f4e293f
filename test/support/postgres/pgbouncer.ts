/** pgbouncer in front of a PostgreSQL server of the tests. It ends with the process of the test. */
import { chownSync, globSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ConnectOptions, openConnection,
} from '../../../src/store/postgres/connect/open-connection.ts';
import { findFreePort } from '../listening.ts';
import { GuardedProcess } from './guarded-process.ts';
import { findOrInstall, findServerUser } from './install.ts';
import { PASSWORD, type PostgresServer, USER } from './server.ts';

/** Where Debian installs it. */
const PROGRAM = '/usr/sbin/pgbouncer';
const isInstalled = findOrInstall('pgbouncer', () => globSync(PROGRAM)[0]) !== undefined;

/** For `skip` of tests that need pgbouncer; false where it is installed. */
export const NO_PGBOUNCER = !isInstalled
  && 'NOT TESTED: needs pgbouncer. On Debian: apt-get install pgbouncer';

export interface Pgbouncer {
  /** Contains its `log`. */
  readonly folder: string;
  readonly options: ConnectOptions;
  end(): Promise<void>;
}

interface PgbouncerOptions {
  readonly mode: 'session' | 'transaction';
  /** Connections to the server for each database. Default: 1. */
  readonly poolSize?: number;
  /** Whether neither it nor the server asks for passwords. */
  readonly isTrusting?: boolean;
  /** In pgbouncer.ini. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Its clients connect by TCP, or by a Unix socket in its folder. */
export async function startPgbouncer(
  server: Pick<PostgresServer, 'port' | 'folder' | 'connectOptions'>, database: string,
  { mode, poolSize = 1, isTrusting = false, settings = {} }: PgbouncerOptions,
): Promise<Pgbouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-pgbouncer-'));
  const port = await findFreePort();
  const { uid, gid } = findServerUser();
  writeFileSync(join(folder, 'users'), `"${USER}" "${PASSWORD}"\n`);
  writeFileSync(join(folder, 'pgbouncer.ini'), `
[databases]
* = host=${isTrusting ? server.folder : '127.0.0.1'} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir = ${folder}
auth_type = ${isTrusting ? 'trust' : 'scram-sha-256'}
auth_file = ${join(folder, 'users')}
pool_mode = ${mode}
default_pool_size = ${poolSize}
max_client_conn = 1000
${Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`).join('')}`);
  for (const path of [folder, join(folder, 'users'), join(folder, 'pgbouncer.ini')]) {
    chownSync(path, uid, gid);
  }
  const guard = new GuardedProcess(folder, [PROGRAM, join(folder, 'pgbouncer.ini')]);
  await guard.start();
  const options: ConnectOptions = {
    ...server.connectOptions(database), poolMode: mode,
    servers: [{ host: isTrusting ? folder : '127.0.0.1', port, sslMode: 'disable' }],
  };
  for (let attempts = 0; ; attempts += 1) {
    try {
      await (await openConnection(options)).close();
      return { options, folder, end: () => guard.end() };
    } catch (error) {
      if (attempts === 250) throw error;
      await sleep(20);
    }
  }
}
