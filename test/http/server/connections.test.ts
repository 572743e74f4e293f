/** Connection limits, and clients that read too slowly. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { limitConnections } from '../../../src/http/server/connections.ts';
import { SLOW_READER_CHECK_INTERVAL_MS, SLOW_READER_GRACE_MS } from '../../../src/http/limits.ts';
import { LingeringConnections } from '../../../src/http/server/lingering-close.ts';
import { listen } from '../../../src/http/server/listener.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { listenOnFreePort } from '../../support/listening.ts';
import { readToEnd, readUntil } from '../raw.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

async function serve(
  t: TestContext, limits: Parameters<typeof limitConnections>[2],
  handle: RequestListener = (_, response) => response.end('done'),
): Promise<number> {
  const server = createServer(handle);
  limitConnections(server, new LingeringConnections(), limits);
  return listenOnFreePort(t, server);
}

/** Connects from one of the many loopback addresses of this machine. */
async function openFrom(t: TestContext, port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Opens a connection, and waits until the server has accepted it. */
async function openTaken(t: TestContext, port: number, address: string): Promise<Socket> {
  const socket = await openFrom(t, port, address);
  socket.write(GET);
  await readUntil(socket, 'done');
  return socket;
}

function assertRejected(text: string): void {
  assert.match(text, /^HTTP\/1\.1 503 Service Unavailable\r\nConnection: close\r\n/);
  assert.match(text, /\r\nRetry-After: 5\r\n/);
  assert.match(text, /"detail":"This server has too many connections\."/);
}

describe('a connection', () => {
  test('over the limit of its address gets an error, and others are accepted', async (t) => {
    const port = await serve(t, { perAddress: 2, isProxy: () => false });
    const first = await openTaken(t, port, '127.0.0.2');
    await openTaken(t, port, '127.0.0.2');
    const third = await openFrom(t, port, '127.0.0.2');
    third.write(GET);
    assertRejected(await readToEnd(third));
    await openTaken(t, port, '127.0.0.3');
    // Its slot is free again once it has ended.
    first.end();
    await once(first.resume(), 'close');
    await openTaken(t, port, '127.0.0.2');
  });

  test('of a proxy counts toward the total only', async (t) => {
    const isProxy = (address: string): boolean => address === '127.0.0.2';
    const port = await serve(t, { total: 3, perAddress: 1, isProxy });
    for (let count = 0; count < 3; count += 1) await openTaken(t, port, '127.0.0.2');
    assertRejected(await readToEnd(await openFrom(t, port, '127.0.0.2')));
    assertRejected(await readToEnd(await openFrom(t, port, '127.0.0.3')));
  });

  test('that is reset while it is rejected does not affect others', async (t) => {
    const port = await serve(t, { total: 1 });
    await openTaken(t, port, '127.0.0.2');
    for (let round = 0; round < 20; round += 1) {
      const socket = await openFrom(t, port, '127.0.0.3');
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
    assertRejected(await readToEnd(await openFrom(t, port, '127.0.0.2')));
  });

  test('from this machine has no address limit if the server listens on loopback', async (t) => {
    const { port, stop } = await listen(
      (_, response) => response.end('done'), { host: '127.0.0.1', port: 0 },
    );
    t.after(() => stop());
    const opened = Array.from({ length: 300 }, () => openTaken(t, port, '127.0.0.2'));
    assert.equal((await Promise.all(opened)).length, 300);
  });
});

test('a TLS connection over the limit is closed before the handshake', async (t) => {
  const { cert, key } = makeCertificate();
  const server = createTlsServer({ cert, key }, (_, response) => response.end('done'));
  limitConnections(server, new LingeringConnections(), { perAddress: 1, isProxy: () => false });
  const port = await listenOnFreePort(t, server);
  const options = { port, host: '127.0.0.1', rejectUnauthorized: false };
  const first = connectTls(options);
  t.after(() => first.destroy());
  first.write(GET);
  assert.match(String((await once(first, 'data'))[0]), /^HTTP\/1\.1 200 /);
  const second = connectTls(options);
  t.after(() => second.destroy());
  await assert.rejects(once(second, 'secureConnect'), { code: 'ECONNRESET' });
});

describe('a client that reads', () => {
  const BODY = Buffer.alloc(8 * 1024 * 1024);

  /** A server with a large response and an injected clock. */
  async function serveLarge(t: TestContext) {
    let now = 0;
    t.mock.timers.enable({ apis: ['setInterval'] });
    t.mock.method(performance, 'now', () => now);
    const answered = Promise.withResolvers<Socket>();
    const port = await serve(t, {}, (request, response) => {
      response.end(BODY);
      answered.resolve(request.socket);
    });
    const client = await openFrom(t, port, '127.0.0.1');
    client.pause();
    client.write(GET);
    const pass = (ms: number): void => {
      now += ms;
      t.mock.timers.tick(SLOW_READER_CHECK_INTERVAL_MS);
    };
    return { client, socket: await answered.promise, pass };
  }

  const waitMs = SLOW_READER_GRACE_MS + BODY.length / 1024 * 1000;

  test('below the minimum rate is disconnected', async (t) => {
    const { client, socket, pass } = await serveLarge(t);
    pass(0);
    pass(waitMs);
    assert.equal(socket.destroyed, false);
    pass(1_000);
    await assert.rejects(readToEnd(client), { code: 'ECONNRESET' });
  });

  test('slowly, but above the minimum rate, gets the whole response', async (t) => {
    const { client, socket, pass } = await serveLarge(t);
    pass(0);
    pass(waitMs - 1);
    let seenBytes = 0;
    client.on('data', (chunk: Buffer) => { seenBytes += chunk.length; }).resume();
    while (seenBytes < BODY.length) await once(client, 'data');
    while (socket.writableLength > 0) await new Promise((resolve) => setImmediate(resolve));
    pass(2);
    pass(waitMs);
    assert.equal(socket.destroyed, false);
  });
});
