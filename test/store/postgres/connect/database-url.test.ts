/** Database URLs: libpq's rules, safer defaults, and errors that do not repeat a password. */
import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { parseDatabaseUrl } from '../../../../src/store/postgres/connect/database-url.ts';

function parse(url: string) {
  const { servers, user, database, ...rest } = parseDatabaseUrl(url, {});
  return {
    user, database, rest,
    servers: servers.map(({ host, port, sslMode }) => `${host} ${port} ${sslMode}`),
  };
}

test('reads users, hosts, ports and databases', () => {
  const name = userInfo().username;
  const cases: readonly (readonly [string, string, string, ...string[]])[] = [
    ['postgres://u@db.example:7/shop', 'u', 'shop', 'db.example 7 verify-full'],
    ['postgresql://db.example', name, name, 'db.example 5432 verify-full'],
    ['postgres://u@', 'u', 'u', 'localhost 5432 disable'],
    ['postgres:///shop?host=db.example&user=u&port=7', 'u', 'shop', 'db.example 7 verify-full'],
    ['postgres://a%40b@h/d%2Fx', 'a@b', 'd/x', 'h 5432 verify-full'],
    ['postgres://u@[2001:db8::1]:7/d', 'u', 'd', '2001:db8::1 7 verify-full'],
    ['postgres://u@h1:1,h2,[::1]:3/d', 'u', 'd', 'h1 1 verify-full', 'h2 5432 verify-full',
      '::1 3 disable'],
    ['postgres://u@/d?host=h1,h2&port=1,2', 'u', 'd', 'h1 1 verify-full', 'h2 2 verify-full'],
    ['postgres://u@h1,h2/d?port=7', 'u', 'd', 'h1 7 verify-full', 'h2 7 verify-full'],
  ];
  for (const [url, user, database, ...servers] of cases) {
    const { rest, ...parsed } = parse(url);
    assert.deepEqual(parsed, { user, database, servers }, url);
    assert.equal(rest.targetSessionAttrs, 'read-write');
  }
});

test('verifies certificates unless the server is local, or the URL says otherwise', () => {
  const cases = [
    ['localhost', 'disable'], ['127.0.0.1', 'disable'], ['127.9.9.9', 'disable'],
    ['[::1]', 'disable'], ['%2Frun%2Fpostgresql', 'disable'], ['128.0.0.1', 'verify-full'],
    ['localhost.example', 'verify-full'], ['127.0.0.1.example', 'verify-full'],
    ['localhost?sslmode=verify-full', 'verify-full'], ['h?sslmode=require', 'require'],
    ['h?sslmode=verify-ca', 'verify-ca'], ['h?sslmode=disable', 'disable'],
  ] as const;
  for (const [host, sslMode] of cases) {
    assert.ok(parse(`postgres://${host}`).servers[0]?.endsWith(` 5432 ${sslMode}`), host);
  }
});

test('reads the other parameters', () => {
  const { servers, ...options } = parseDatabaseUrl('postgres://u@h/d?sslrootcert=/ca.pem&sslcert=c'
    + '&sslkey=k&application_name=a%20b&connect_timeout=3&target_session_attrs=any'
    + '&pool_mode=transaction', {});
  assert.deepEqual(servers, [{
    host: 'h', port: 5432, sslMode: 'verify-full',
    sslRootCert: '/ca.pem', sslCert: resolve('c'), sslKey: resolve('k'),
  }]);
  const { findPassword, ...others } = options;
  assert.equal(typeof findPassword, 'function');
  assert.deepEqual(others, {
    user: 'u', database: 'd', applicationName: 'a b', connectTimeoutMs: 3_000,
    targetSessionAttrs: 'any', poolMode: 'transaction',
  });
});

test('rejects passwords in URLs without repeating them', () => {
  for (const url of [
    'postgres://u:geheim@h/d', 'postgres://u@h/d?password=geheim', 'postgres://u:geheim@@h/d',
    'postgres://u:geheim/x@h/d', 'postgres://u:geheim#x@h/d', 'postgres://u:geheim?x@h/d',
    'postgres://u:99999geheim/x@h/d', 'mysql://u:geheim@h/d', 'postgres:u:geheim@h', 'geheim',
  ]) {
    assert.throws(() => parseDatabaseUrl(url, {}), (error) => error instanceof Error
      && !error.message.includes('geheim') && !String(error.stack).includes('geheim'), url);
  }
  assert.throws(() => parse('postgres://u:x@h/d'), {
    message: 'the database URL contains a password: remove it, and set PGPASSWORD, add a line to '
      + '~/.pgpass, or name a file with the password in the settings',
  });
});

for (const [url, message] of [
  ['http://h', /^Error: invalid database URL: write postgres:\/\/user@host:5432\/database$/],
  ['postgres://h?sslmode=prefer', /invalid sslmode value: "prefer", which would also connect with/],
  ['postgres://h?sslmode=full', /invalid sslmode value: "full"$/],
  ['postgres://h?target_session_attrs=standby', /invalid target_session_attrs value: "standby"/],
  ['postgres://h?pool_mode=statement', /invalid pool_mode value: "statement"/],
  ['postgres://h?connect_timeout=soon', /invalid connect_timeout value: "soon"/],
  ['postgres://h?sslmod=require', /invalid URI query parameter: "sslmod"/],
  ['postgres://h:0', /invalid port number/], ['postgres://h:65536', /invalid port number/],
  ['postgres://h:x', /invalid port number/], ['postgres://h:1:2', /invalid port number/],
  ['postgres://[::1', /invalid host/], ['postgres://h/%zz', /invalid percent-encoded token/],
  ['postgres://h/a%00b', /invalid percent-encoded token/],
] as const) {
  test(`rejects ${url}`, () => {
    assert.throws(() => parseDatabaseUrl(url, {}), message);
  });
}
