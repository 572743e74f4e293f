/**
 * Starts PostgreSQL for tests: a cluster in a temporary folder, on a free port of loopback, with
 * TLS and passwords. It ends with the process of the test.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../../../src/store/postgres/wire/connection.ts';
import {
  type ConnectOptions, openConnection,
} from '../../../src/store/postgres/connect/open-connection.ts';
import type { Row } from '../../../src/store/postgres/wire/values.ts';
import { ServerKey } from '../../../src/store/rules/server-key.ts';
import { makeCertificate } from '../certificate.ts';
import { findFreePort } from '../listening.ts';
import { GuardedProcess } from './guarded-process.ts';
import { findServerUser, POSTGRES_FOLDER } from './install.ts';

/** The owner of the test databases; not a superuser. */
export const USER = 'seller_api';
/** The password of all users. */
export const PASSWORD = 'p\u00e4ss:word\\';

/** The server's key of the test databases. */
export const TEST_KEY = new ServerKey(Buffer.alloc(32, 'test'));

interface PostgresOptions {
  /** Commits do not wait for the disk: for tests that kill no server. */
  readonly isFast?: boolean;
  /** Settings in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The running primary that it copies, and then follows as a standby. */
  readonly standbyOf?: PostgresServer;
}

export interface PostgresServer {
  readonly port: number;
  /** Contains `data`, `log`, the socket, and `server.crt`, which signs itself. */
  readonly folder: string;
  /** An empty database, owned by `USER`: its name. A copy of `template` if that is given. */
  createDatabase(template?: string): Promise<string>;
  /** How `USER` connects to a database, by TCP without TLS, with SCRAM. */
  connectOptions(database: string): ConnectOptions;
  /** The same by the Unix socket, which needs no password. */
  localOptions(database: string): ConnectOptions;
  /** Runs SQL as the superuser; resolves with the rows of the last statement. */
  administrate(...texts: readonly string[]): Promise<readonly Row[]>;
  /** Opens a connection of the superuser; the caller closes it. */
  openAdministrator(database?: string): Promise<Connection>;
  /** Kills all of its processes with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it after that; resolves once it accepts connections. */
  start(): Promise<void>;
  /** Promotes a standby to primary. */
  promote(): Promise<void>;
  /** Stops the server, and removes its folder. */
  end(): Promise<void>;
}

/** Authentication by user, with SCRAM for all others. The superuser uses the Unix socket. */
const HBA = `
local   all all                      trust
local   replication all              trust
host    all sends_md5       all      md5
host    all sends_cleartext all      password
host    all sends_nothing   all      trust
hostssl all localhost all      cert
host    all all             all      scram-sha-256
`;
const ROLES = ['sends_cleartext', 'sends_nothing', 'localhost'];
const FAST = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const user = findServerUser();
  const folder = mkdtempSync(join(tmpdir(), 'seller-api-postgres-'));
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    chownSync(join(folder, name), user.uid, user.gid);
  };
  chownSync(folder, user.uid, user.gid);
  const { cert, key } = makeCertificate();
  write('server.crt', cert);
  write('server.key', key);
  write('hba.conf', HBA);
  const data = join(folder, 'data');
  const { standbyOf: primary } = options;
  runProgram(primary ? 'pg_basebackup' : 'initdb', primary ? [
    '--pgdata', data, '--host', primary.folder, '--port', String(primary.port), '--username',
    'postgres', '--write-recovery-conf', '--checkpoint', 'fast', '--no-sync',
  ] : [
    '--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--no-sync',
    '--encoding', 'UTF8', '--no-locale',
  ]);
  const port = await findFreePort();
  const settings = {
    port, listen_addresses: '127.0.0.1', unix_socket_directories: folder,
    hba_file: join(folder, 'hba.conf'), ssl: 'on', ssl_cert_file: join(folder, 'server.crt'),
    ssl_key_file: join(folder, 'server.key'), ssl_ca_file: join(folder, 'server.crt'),
    ...(options.isFast === true ? FAST : {}), ...options.settings,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const guard = new GuardedProcess(folder, [
    join(POSTGRES_FOLDER ?? '', 'postgres'), '-D', data, ...flags,
  ]);
  const server = new TestServer(folder, port, guard);
  await server.start();
  if (!primary) await server.createRoles();
  return server;
}

/** Runs one of PostgreSQL's programs as the user of the server. */
function runProgram(name: string, args: readonly string[]): void {
  execFileSync(join(POSTGRES_FOLDER ?? '', name), args, {
    ...findServerUser(), cwd: '/', stdio: ['ignore', 'ignore', 'inherit'],
  });
}

class TestServer implements PostgresServer {
  readonly folder: string;
  readonly port: number;
  readonly #guard: GuardedProcess;
  /** Creates databases; opened when it is needed, since connections are dear. */
  #administrator: Promise<Connection> | undefined;
  #processId = 0;
  #databases = 0;

  constructor(folder: string, port: number, guard: GuardedProcess) {
    this.folder = folder;
    this.port = port;
    this.#guard = guard;
  }

  async start(): Promise<void> {
    this.#processId = await this.#guard.start();
    for (;;) {
      try {
        await (await this.openAdministrator()).close();
        return;
      } catch (error) {
        if (!isRunning(this.#processId)) {
          throw new Error(readFileSync(join(this.folder, 'log'), 'utf8'), { cause: error });
        }
        await sleep(20);
      }
    }
  }

  connectOptions(database: string): ConnectOptions {
    return {
      servers: [{ host: '127.0.0.1', port: this.port, sslMode: 'disable' }],
      user: USER, database, applicationName: 'test', connectTimeoutMs: 5_000,
      findPassword: async () => PASSWORD, targetSessionAttrs: 'read-write', poolMode: 'session',
    };
  }

  localOptions(database: string): ConnectOptions {
    const servers = [{ host: this.folder, port: this.port, sslMode: 'disable' }] as const;
    return { ...this.connectOptions(database), servers };
  }

  openAdministrator(database = 'postgres'): Promise<Connection> {
    return openConnection({
      ...this.localOptions(database), user: 'postgres', targetSessionAttrs: 'any',
    });
  }

  async createRoles(): Promise<void> {
    const create = (name: string): string =>
      `CREATE ROLE ${name} LOGIN PASSWORD '${PASSWORD}'`;
    await this.administrate(
      ...[USER, ...ROLES].map(create), `SET password_encryption = 'md5'`, create('sends_md5'),
    );
  }

  async createDatabase(template = 'template0'): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.administrate(`CREATE DATABASE ${name} OWNER ${USER} TEMPLATE ${template}`);
    return name;
  }

  async administrate(...texts: readonly string[]): Promise<readonly Row[]> {
    this.#administrator ??= this.openAdministrator();
    const connection = await this.#administrator;
    let rows: readonly Row[] = [];
    for (const text of texts) {
      rows = (await connection.run([{ text, values: [], isUnnamed: true }]))[0]?.rows ?? [];
    }
    return rows;
  }

  async kill(): Promise<void> {
    this.#administrator = undefined;
    const postmaster = this.#processId;
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
    // The postmaster first: it would restart its children.
    for (const id of [postmaster, ...children.split(' ').map(Number).filter((id) => id > 0)]) {
      while (isRunning(id)) {
        try {
          process.kill(id, 'SIGKILL');
        } catch { /* it ended by itself, as children do without their postmaster */ }
        await sleep(5);
      }
    }
  }

  async promote(): Promise<void> {
    runProgram('pg_ctl', ['promote', '--no-wait', '--pgdata', join(this.folder, 'data')]);
  }

  async end(): Promise<void> {
    await (await this.#administrator)?.close();
    await this.#guard.end();
  }
}

/** A process that was killed may remain as a zombie until the guard ends. */
function isRunning(id: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${id}/status`, 'utf8'));
  } catch {
    return false;
  }
}
