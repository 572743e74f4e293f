/** TLS and passwords on a real server: which users connect, and which servers are trusted. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { before, describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, createSecureContext, TLSSocket } from 'node:tls';
import {
  type ConnectOptions, openConnection,
} from '../../../../src/store/postgres/connect/open-connection.ts';
import { ConnectionLostError } from '../../../../src/store/postgres/wire/errors.ts';
import type { Server } from '../../../../src/store/postgres/wire/socket.ts';
import { makeCertificate } from '../../../support/certificate.ts';
import { makeFolder } from '../../../support/folder.ts';
import { NO_POSTGRES } from '../../../support/postgres/install.ts';
import { PASSWORD, USER } from '../../../support/postgres/server.ts';
import { type SharedServer, sharePostgres } from '../../../support/postgres/shared-server.ts';

/** Answers SSLRequest, and relays what it decrypts to the server by another TLS connection. */
async function relay(t: Pick<TestContext, 'after'>, target: number): Promise<number> {
  const sockets: Socket[] = [];
  const listener = createServer((socket) => {
    const server = connect(target, '127.0.0.1');
    sockets.push(socket, server);
    socket.once('data', (request) => {
      server.write(request);
      server.once('data', (answer) => {
        socket.write(answer);
        const secureContext = createSecureContext(makeCertificate());
        const outer = new TLSSocket(socket, { isServer: true, secureContext });
        const inner = connectTls({ socket: server, rejectUnauthorized: false });
        outer.on('error', () => {}).pipe(inner.on('error', () => {})).pipe(outer);
      });
    });
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  // A server that listens on a port has an address of this type.
  return (listener.address() as AddressInfo).port;
}

describe('a connection is opened', { skip: NO_POSTGRES }, () => {
  let server: SharedServer;
  let options: ConnectOptions;
  let authority: string;

  before(async () => {
    server = await sharePostgres();
    options = server.connectOptions(await server.createDatabase());
    authority = join(server.folder, 'server.crt');
  });

  /** Connects, and returns the user and the settings that the server reports. */
  async function open(change: Partial<ConnectOptions>, tls: Partial<Server> = {}) {
    const connection = await openConnection({
      ...options, ...change,
      servers: [{ host: '127.0.0.1', port: server.port, sslMode: 'disable', ...tls }],
    });
    const [result] = await connection.run([{ values: [], text: `SELECT current_user AS name, ssl,
      current_setting('application_name') AS application, current_setting('lock_timeout') AS wait
      FROM pg_stat_ssl WHERE pid = pg_backend_pid()` }]);
    const isTls = connection.session.socket instanceof TLSSocket;
    await connection.close();
    assert.equal(result?.rows[0]?.['ssl'], Number(isTls));
    return { ...result.rows[0] };
  }

  test('with a password that SASLprep changes, and settings', async () => {
    const combining = PASSWORD.normalize('NFD');
    assert.notEqual(combining, PASSWORD);
    const settings = { lock_timeout: '1234' };
    assert.deepEqual(
      await open({ findPassword: async () => combining, settings, applicationName: 'x' }),
      { name: USER, ssl: 0, application: 'x', wait: '1234ms' },
    );
  });

  test('by a Unix socket, and from a server that asks for no password', async () => {
    const socket = { host: server.folder, sslMode: 'verify-full' as const };
    const name = 'postgres';
    assert.equal((await open({ user: name, database: name }, socket))['name'], name);
    const findPassword = async (): Promise<undefined> => undefined;
    assert.equal((await open({ user: 'sends_nothing', findPassword }))['name'], 'sends_nothing');
  });

  test('with a password, without SCRAM only if the server is verified', async () => {
    const user = 'sends_nothing';
    const verified = { host: 'localhost', sslRootCert: authority };
    for (const sslMode of ['verify-full', 'verify-ca'] as const) {
      assert.equal((await open({ user }, { ...verified, sslMode }))['name'], user);
    }
    for (const sslMode of ['disable', 'require'] as const) {
      await assert.rejects(open({ user }, { ...verified, sslMode }),
        /did not prove that it knows the password/);
    }
  });

  test('with a password, by a socket without SCRAM only if others cannot replace it', async (t) => {
    const folder = makeFolder(t);
    const name = `.s.PGSQL.${server.port}`;
    symlinkSync(join(server.folder, name), join(folder, name));
    chmodSync(folder, 0o1777);
    await assert.rejects(open({}, { host: folder }), /did not prove that it knows the password/);
    await open({ findPassword: async () => undefined }, { host: folder });
    chmodSync(folder, 0o2775);
    await open({}, { host: folder });
  });

  test('with limits of the network, which a Unix socket does not have', async () => {
    for (const [change, expected] of [
      [options, ['15000', '5', '5']], [server.localOptions(options.database), ['0', '0', '0']],
      [{ ...options, settings: { tcp_user_timeout: '100' } }, ['100', '5', '5']],
    ] as const) {
      const connection = await openConnection(change);
      const shown = await connection.run(['user_timeout', 'keepalives_idle', 'keepalives_interval']
        .map((name) => ({ text: `SHOW tcp_${name}`, values: [] })));
      assert.deepEqual(shown.map(({ rows: [row] }) => Object.values(row ?? {})[0]), expected);
      await connection.close();
    }
  });

  test('over TLS to a server whose certificate is verified', async () => {
    for (const host of ['localhost', '127.0.0.1']) {
      const tls = { host, sslMode: 'verify-full' as const, sslRootCert: authority };
      assert.equal((await open({}, tls))['ssl'], 1);
    }
  });

  test('over TLS, which cancel requests use, too', async () => {
    const connection = await openConnection({ ...options, servers: [{
      host: '127.0.0.1', port: server.port, sslMode: 'verify-full', sslRootCert: authority,
    }] });
    const sleeping = connection.run([{ text: 'SELECT pg_sleep(60)', values: [] }]);
    const cancelled = assert.rejects(sleeping, { sqlstate: '57014' });
    while (connection.load > 0) {
      await connection.cancel();
      await Promise.race([cancelled, sleep(10)]);
    }
    await cancelled;
    await connection.close();
  });

  test('never through a relay that decrypts it', async (t) => {
    const port = await relay(t, server.port);
    await assert.rejects(open({}, { port, sslMode: 'require' }),
      /FATAL: SCRAM channel binding check failed/);
  });

  test('over TLS to any server with sslmode=require, and to any name with verify-ca', async () => {
    assert.equal((await open({}, { sslMode: 'require' }))['ssl'], 1);
    assert.equal((await open({}, {
      host: '127.1', sslMode: 'verify-ca', sslRootCert: authority,
    }))['ssl'], 1);
  });

  test('with a client certificate that names the user', async () => {
    const change = { user: 'localhost', findPassword: async (): Promise<undefined> => undefined };
    const sslKey = join(server.folder, 'server.key');
    const tls = { sslMode: 'require' as const, sslCert: authority, sslKey };
    assert.equal((await open(change, tls))['name'], 'localhost');
    await assert.rejects(open(change, { sslMode: 'require' }),
      /FATAL: connection requires a valid client certificate/);
  });

  test('never to a server with another name, or of an unknown authority', async (t) => {
    const other = join(makeFolder(t), 'other.crt');
    writeFileSync(other, makeCertificate().cert);
    const full = { sslMode: 'verify-full' as const };
    await assert.rejects(open({}, { ...full, host: '127.1', sslRootCert: authority }),
      /at "127\.1", port \d+ failed: Hostname\/IP does not match certificate's altnames/);
    for (const sslMode of ['verify-full', 'verify-ca'] as const) {
      await assert.rejects(open({}, { sslMode, sslRootCert: other }), /self[- ]signed certificate/);
      await assert.rejects(open({}, { sslMode }), /self[- ]signed certificate/);
      await assert.rejects(open({}, { sslMode, sslRootCert: 'system' }), /self[- ]signed/);
    }
    await assert.rejects(open({}, { ...full, sslRootCert: '/missing' }), /ENOENT.*\/missing/);
  });

  test('never with a wrong password, and the error does not contain it', async () => {
    for (const tls of [{}, { sslMode: 'require' as const }]) {
      const failed = open({ findPassword: async () => 'wr0ng' }, tls);
      const error = await failed.catch((reason) => reason);
      assert.ok(error instanceof ConnectionLostError && !error.isOutcomeUnknown);
      assert.match(error.message,
        /failed: FATAL: password authentication failed for user "seller_api"$/);
      assert.doesNotMatch(`${error.stack}${JSON.stringify(error.cause)}`, /wr0ng/);
    }
    await assert.rejects(open({ findPassword: async () => undefined }),
      /no password supplied: set PGPASSWORD, or add a line to ~\/\.pgpass/);
  });

  test('never by sending the password itself, or its MD5 hash', async () => {
    for (const user of ['sends_md5', 'sends_cleartext']) {
      await assert.rejects(open({ user }), /this client only has SCRAM-SHA-256/);
    }
  });

  test('to the first of several servers that accepts writes', async () => {
    const [good] = options.servers;
    assert.ok(good);
    const none = { ...good, port: 1 };
    await (await openConnection({ ...options, servers: [none, good] })).close();
    await assert.rejects(openConnection({ ...options, servers: [none, none] }),
      /port 1 failed: connect ECONNREFUSED .*; connection to server at .* port 1 failed: connect/);
    const administrator = await server.openAdministrator();
    const alter = `ALTER DATABASE ${options.database} SET default_transaction_read_only`;
    await administrator.run([{ text: `${alter} = on`, values: [] }]);
    await assert.rejects(openConnection(options), /port \d+ failed: session is read-only/);
    await (await openConnection({ ...options, targetSessionAttrs: 'any' })).close();
    await administrator.run([{ text: `${alter} = off`, values: [] }]);
    await administrator.close();
  });

  test('to no further server after one that rejects the user', async () => {
    const [good] = options.servers;
    assert.ok(good);
    const failed = openConnection({
      ...options, servers: [good, good], findPassword: async () => 'wrong',
    });
    await assert.rejects(failed, (error: Error) => error.message.split('FATAL').length === 2);
    await assert.rejects(openConnection({ ...options, database: 'missing' }),
      /FATAL: database "missing" does not exist/);
  });
});
