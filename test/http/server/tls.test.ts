/** The TLS server, over real sockets. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { Server } from 'node:https';
import { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import tls, { connect, type ConnectionOptions, TLSSocket } from 'node:tls';
import { HANDSHAKE_TIMEOUT_MS } from '../../../src/http/limits.ts';
import { cutResponse } from '../../../src/http/response/guarded-stream.ts';
import { listen, type Listener } from '../../../src/http/server/listener.ts';
import { makeCertificate, type TestCertificate } from '../../support/certificate.ts';
import { exchange, open, readToEnd, readUntil } from '../raw.ts';
import { startStopping } from './stopping.ts';

const ADDRESS = { host: '127.0.0.1', port: 0 };
const VERSION_REJECTED = { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' };
/** Options for the old versions, which OpenSSL rejects at its default security level. */
const OLD = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;

interface TlsServer extends Listener {
  readonly certificate: TestCertificate;
}

async function start(
  t: TestContext, handle: RequestListener = (_, response) => response.end('done'),
  certificate = makeCertificate(),
): Promise<TlsServer> {
  const listener = await listen(handle, ADDRESS, { certificate });
  t.after(() => listener.stop());
  return { ...listener, certificate };
}

/** Opens a connection, and waits for its handshake. */
async function openTls(
  t: TestContext, port: number, { cert }: TestCertificate, options: ConnectionOptions = {},
): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca: cert, ...options });
  t.after(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

function ask(socket: TLSSocket, host = 'shop.example'): Promise<string> {
  const answer = readUntil(socket, 'done');
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return answer;
}

test('supports TLS 1.3 and 1.2, and rejects older versions, whatever Node allows', async (t) => {
  const { DEFAULT_CIPHERS, DEFAULT_MIN_VERSION } = tls;
  t.after(() => { Object.assign(tls, { DEFAULT_CIPHERS, DEFAULT_MIN_VERSION }); });
  Object.assign(tls, { DEFAULT_CIPHERS: OLD.ciphers, DEFAULT_MIN_VERSION: OLD.minVersion });
  const { port, certificate, renew } = await start(t);
  const check = async (current: TestCertificate): Promise<void> => {
    for (const version of ['TLSv1.3', 'TLSv1.2'] as const) {
      const socket = await openTls(t, port, current, { maxVersion: version });
      assert.equal(socket.getProtocol(), version);
      assert.match(await ask(socket), /^HTTP\/1\.1 200 /);
    }
    await assert.rejects(openTls(t, port, current, OLD), VERSION_REJECTED);
  };
  await check(certificate);
  const renewed = makeCertificate();
  renew(renewed);
  await check(renewed);
});

test('accepts only ECDHE suites with an AEAD in TLS 1.2', async (t) => {
  for (const [type, authentication] of [['ec', 'ECDSA'], ['rsa', 'RSA']] as const) {
    const certificate = makeCertificate({ type });
    const { port, renew } = await start(t, undefined, certificate);
    const list = async (): Promise<string[]> => {
      const taken: string[] = [];
      for (const name of tls.getCiphers()) {
        const ciphers = `${name.toUpperCase()}:@SECLEVEL=0`;
        const options = { ciphers, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;
        await openTls(t, port, certificate, options).then((socket) => {
          taken.push(socket.getCipher().name);
        }, () => {}); // the server rejects it
      }
      return taken.sort();
    };
    const expected = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305']
      .map((name) => `ECDHE-${authentication}-${name}`);
    assert.deepEqual(await list(), expected);
    renew(certificate);
    assert.deepEqual(await list(), expected);
  }
});

test('does not renegotiate', async (t) => {
  const { port, certificate } = await start(t);
  const socket = await openTls(t, port, certificate, { maxVersion: 'TLSv1.2' });
  const error = await new Promise<Error | null>((resolve) => {
    socket.once('error', resolve);
    socket.renegotiate({}, resolve);
  });
  assert.match(String(error), /no renegotiation/i);
});

test('uses a renewed certificate for new connections, and keeps existing ones open', async (t) => {
  const { port, certificate, renew } = await start(t);
  const old = await openTls(t, port, certificate);
  await ask(old);
  const renewed = makeCertificate();
  renew(renewed);
  await ask(await openTls(t, port, renewed));
  await assert.rejects(openTls(t, port, certificate), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  assert.match(await ask(old), /^HTTP\/1\.1 200 /);
});

test('rejects a certificate without its key, and keeps the current one', async (t) => {
  const { port, certificate, renew } = await start(t);
  assert.throws(() => renew({ cert: makeCertificate().cert, key: certificate.key }));
  await ask(await openTls(t, port, certificate));
});

test('sends Strict-Transport-Security, but not for loopback names', async (t) => {
  const { port, certificate } = await start(t);
  const socket = await openTls(t, port, certificate);
  for (const host of ['shop.example', 'shop.example:8443', '192.0.2.1', 'localhost.example']) {
    assert.match(await ask(socket, host), /\r\nstrict-transport-security: max-age=31536000\r\n/);
  }
  for (const host of ['localhost', 'LOCALHOST:8443', '127.0.0.1:1', '[::1]']) {
    assert.doesNotMatch(await ask(socket, host), /strict-transport/i, host);
  }
});

test('responds to an unparsable request over TLS, too', async (t) => {
  const { port, certificate } = await start(t);
  const socket = await openTls(t, port, certificate);
  socket.write('NONSENSE\r\n\r\n');
  assert.match(await readToEnd(socket), /^HTTP\/1\.1 400 .*"status":400/s);
});

test('sends nothing to a client that does not use TLS', async (t) => {
  let handled = 0;
  const { port } = await start(t, () => { handled += 1; });
  assert.equal(await exchange(t, port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'), '');
  assert.equal(handled, 0);
});

test('closes a connection without a handshake', async (t) => {
  const { port } = await start(t);
  const limit = Promise.withResolvers<number>();
  const { setTimeout } = Socket.prototype;
  t.mock.method(TLSSocket.prototype, 'setTimeout',
    function shorten(this: TLSSocket, timeoutMs: number, onTimeout?: () => void) {
      limit.resolve(timeoutMs);
      return setTimeout.call(this, 1, onTimeout);
    });
  const socket = await open(t, port);
  assert.equal(await limit.promise, HANDSHAKE_TIMEOUT_MS);
  assert.equal(await readToEnd(socket), '');
});

test('resets a connection whose response is cut: a close_notify would come first', async (t) => {
  const { port, certificate } = await start(t, (_, response) => {
    response.write('a part', () => cutResponse(response));
  });
  for (const version of ['TLSv1.3', 'TLSv1.2'] as const) {
    const socket = await openTls(t, port, certificate, { maxVersion: version });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await readUntil(socket, 'a part');
    await assert.rejects(readToEnd(socket), { code: 'ECONNRESET' });
  }
});

test('stops while connections are idle or have sent no request', async (t) => {
  // Nothing else closes them.
  t.mock.method(Socket.prototype, 'setTimeout', function ignore(this: Socket) { return this; });
  const { mock } = t.mock.method(Server.prototype, 'listen');
  const { port, certificate, stop } = await start(t);
  const server = mock.calls[0]?.this;
  assert.ok(server instanceof Server);
  server.headersTimeout = 0;
  const used = await openTls(t, port, certificate);
  await ask(used);
  const unused = await openTls(t, port, certificate);
  const silent = await open(t, port);
  const closed = [used, unused, silent].map((socket) => once(socket.resume(), 'close'));
  await startStopping(t, stop).assertStops();
  await Promise.all(closed);
});
