/**
 * Parses database URLs as libpq does (PostgreSQL manual, "Connection URIs"), with safer defaults:
 * `sslmode` is `verify-full` except for loopback and Unix sockets, and the server must accept
 * writes. A password in a URL is rejected, since command lines and logs show it.
 */
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { POSTGRES_CONNECT_TIMEOUT_MS } from '../wire/limits.ts';
import type { Server } from '../wire/socket.ts';
import type { ConnectOptions } from './open-connection.ts';
import { findPassword } from './password-file.ts';

/** `user@`, hosts, `/database`, `?parameters`. */
const URL_PARTS = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const HOST = /^(\[[^\]]+\]|[^:[\]]*)(?::(.*))?$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1)$/i;
const PARAMETERS = [
  'application_name', 'connect_timeout', 'dbname', 'host', 'passfile', 'pool_mode', 'port',
  'sslcert', 'sslkey', 'sslmode', 'sslrootcert', 'target_session_attrs', 'user',
];

/**
 * @param environment `PGPASSWORD`, `PGPASSFILE` and `HOME` tell where the password is.
 * @throws Error that says what to change; it does not contain the URL.
 */
export function parseDatabaseUrl(
  text: string, environment: Readonly<Record<string, string | undefined>>,
): ConnectOptions {
  const [isUrl, login = '', hosts = '', path = '', query = ''] = URL_PARTS.exec(text) ?? [];
  if (isUrl === undefined) {
    throw new Error('invalid database URL: write postgres://user@host:5432/database');
  }
  const parameters = parseParameters(query);
  if (login.includes(':') || parameters.has('password')) {
    throw new Error('the database URL contains a password: remove it, and set PGPASSWORD, add a '
      + 'line to ~/.pgpass, or name a file with the password in the settings');
  }
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) throw new Error(`invalid URI query parameter: "${unknown}"`);
  const user = decode(login) || parameters.get('user') || userInfo().username;
  const database = decode(path) || parameters.get('dbname') || user;
  const passwordFile = resolveFile(parameters.get('passfile') ?? environment['PGPASSFILE']);
  const timeout = parameters.get('connect_timeout') ?? '0';
  if (!/^\d{1,4}$/.test(timeout)) throw invalidValue('connect_timeout', timeout);
  return {
    servers: parseServers(hosts, parameters),
    user, database,
    applicationName: parameters.get('application_name') ?? 'seller-api',
    connectTimeoutMs: Number(timeout) * 1_000 || POSTGRES_CONNECT_TIMEOUT_MS,
    targetSessionAttrs: readChoice(parameters, 'target_session_attrs', ['read-write', 'any']),
    poolMode: readChoice(parameters, 'pool_mode', ['session', 'transaction']),
    findPassword: (server) => findPassword(server, user, database, {
      ...environment, PGPASSFILE: passwordFile,
    }),
  };
}

type UrlParameters = ReadonlyMap<string, string>;

/** One for each host; a single port is for all of them. */
function parseServers(hostList: string, parameters: UrlParameters): readonly Server[] {
  const hosts = parameters.get('host')?.split(',') ?? hostList.split(',');
  const ports = parameters.get('port')?.split(',') ?? [];
  return hosts.map((text, index) => {
    const [isHost, name = '', port] = text.startsWith('/') ? [text, text] : HOST.exec(text) ?? [];
    if (isHost === undefined) throw new Error('invalid host in the database URL');
    const host = decode(name).replaceAll(/[[\]]/g, '') || 'localhost';
    const number = Number(port || (ports[index] ?? ports[0]) || 5_432);
    if (!(Number.isInteger(number) && number >= 1 && number <= 65_535)) {
      throw new Error('invalid port number in the database URL'); // or a part of a password
    }
    return { host, port: number, ...readTls(host, parameters) };
  });
}

function readTls(host: string, parameters: UrlParameters): Omit<Server, 'host' | 'port'> {
  const authorities = parameters.get('sslrootcert');
  const isLocal = LOOPBACK.test(host) || host.startsWith('/');
  return {
    sslMode: readChoice(parameters, 'sslmode', ['disable', 'require', 'verify-ca', 'verify-full'],
      isLocal ? 'disable' : 'verify-full'),
    sslRootCert: authorities === 'system' ? authorities : resolveFile(authorities),
    sslCert: resolveFile(parameters.get('sslcert')),
    sslKey: resolveFile(parameters.get('sslkey')),
  };
}

/** Once: the process may change its working directory, and each connection reads the file. */
function resolveFile(path: string | undefined): string | undefined {
  return path && resolve(path);
}

function readChoice<Choice extends string>(
  parameters: UrlParameters, name: string, choices: readonly Choice[], fallback = choices[0],
): Choice {
  const value = parameters.get(name) ?? fallback;
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) throw invalidValue(name, String(value));
  return choice;
}

function invalidValue(name: string, value: string): Error {
  const hint = /^sslmode=(?:prefer|allow)$/.test(`${name}=${value}`)
    ? ', which would also connect without TLS: use verify-full, or disable' : '';
  return new Error(`invalid ${name} value: "${value}"${hint}`);
}

function parseParameters(query: string): UrlParameters {
  return new Map(query.split('&').filter(Boolean).map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [decode(name), decode(value.join('='))];
  }));
}

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // malformed
  }
  throw new Error('invalid percent-encoded token in the database URL');
}
