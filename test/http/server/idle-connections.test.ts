/** Which idle connections are closed to make room, over real sockets. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { IDLE_CLOSE_AFTER_MS, KEEP_ALIVE_TIMEOUT_MS } from '../../../src/http/limits.ts';
import { limitConnections } from '../../../src/http/server/connections.ts';
import { LingeringConnections } from '../../../src/http/server/lingering-close.ts';
import { listen } from '../../../src/http/server/listener.ts';
import { handleRequests } from '../../../src/http/server/request-rejections.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { listenOnFreePort } from '../../support/listening.ts';
import { readToEnd, readUntil } from '../raw.ts';

type Limits = Parameters<typeof limitConnections>[2];

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** Answers at once, except on `/wait`, which it answers when a later request asks for `/go`. */
function answer(): RequestListener {
  const waiting: (() => void)[] = [];
  return (request, response) => {
    if (request.url === '/wait') {
      response.write('waiting');
      waiting.push(() => response.end(' done'));
      return;
    }
    if (request.url === '/go') for (const end of waiting.splice(0)) end();
    response.end('done');
  };
}

async function serve(
  t: TestContext, limits: Limits, server: Server = createServer(),
): Promise<number> {
  return (await serveCounted(t, limits, server)).port;
}

async function serveCounted(t: TestContext, limits: Limits, server: Server = createServer()) {
  const lingering = new LingeringConnections();
  const connections = limitConnections(server, lingering, { isProxy: () => false, ...limits });
  handleRequests(server, answer(), { lingering, ...connections });
  server.keepAliveTimeout = 0; // nothing else closes idle connections
  const port = await listenOnFreePort(t, server);
  return {
    port,
    async waitUntil(
      isReached: (metrics: ReturnType<typeof connections.readMetrics>) => boolean,
    ): Promise<void> {
      while (!isReached(connections.readMetrics())) await wait(1, undefined, t);
    },
  };
}

/** Sends at once, before the server can have accepted the connection. */
function open(t: TestContext, port: number, path: string, localAddress = '127.0.0.2'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(get(path));
  return socket;
}

async function openIdle(t: TestContext, port: number, address?: string): Promise<Socket> {
  const socket = open(t, port, '/', address);
  await readUntil(socket, 'done');
  return socket;
}

async function assertIdle(socket: Socket): Promise<void> {
  socket.write(get('/'));
  assert.match(await readUntil(socket, 'done'), /^HTTP\/1\.1 200 /);
}

async function assertClosed(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket.resume(), 'close');
}

const timeout = 20_000;

describe('a connection over a limit replaces the longest idle one', { timeout }, () => {
  test('in total', async (t) => {
    const port = await serve(t, { total: 3 });
    const [first, second, third] =
      [await openIdle(t, port), await openIdle(t, port), await openIdle(t, port)];
    await assertIdle(first); // so the second one is idle for the longest time
    await openIdle(t, port, '127.0.0.3');
    await assertClosed(second);
    await assertIdle(first);
    await assertIdle(third);
  });

  test('of its address', async (t) => {
    const port = await serve(t, { perAddress: 2 });
    const other = await openIdle(t, port, '127.0.0.3');
    const [first, second] = [await openIdle(t, port), await openIdle(t, port)];
    await openIdle(t, port);
    await assertClosed(first);
    await assertIdle(second);
    await assertIdle(other);
  });

  test('as many as arrive at the same time', async (t) => {
    const port = await serve(t, { total: 20 });
    for (let round = 0; round < 3; round += 1) {
      const opened = Array.from({ length: 20 }, () => openIdle(t, port));
      assert.equal((await Promise.all(opened)).length, 20);
    }
  });

  test('with TLS', async (t) => {
    const { cert, key } = makeCertificate();
    const port = await serve(t, { total: 2 }, createTlsServer({ cert, key }));
    const openTls = async (): Promise<Socket> => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
      t.after(() => socket.destroy());
      socket.write(get('/'));
      await readUntil(socket, 'done');
      return socket;
    };
    const [busy, idle] = [await openTls(), await openTls()];
    busy.write(get('/wait'));
    await readUntil(busy, 'waiting');
    const answered = readUntil(busy, ' done');
    const other = await openTls();
    await assertClosed(idle);
    other.write(get('/go'));
    await answered;
  });
});

describe('a connection is not closed for another one', { timeout }, () => {
  const assertRejected = async (socket: Socket): Promise<void> =>
    assert.match(await readToEnd(socket), /^HTTP\/1\.1 503 /);

  test('while a request is in flight', async (t) => {
    const { port, waitUntil } = await serveCounted(t, { total: 2 });
    const busy = open(t, port, '/wait');
    await readUntil(busy, 'waiting');
    const idle = await openIdle(t, port);
    const third = open(t, port, '/wait');
    await readUntil(third, 'waiting');
    await assertClosed(idle);
    await assertRejected(open(t, port, '/'));
    await waitUntil(({ open: count }) => count === 2);
    third.destroy();
    await waitUntil(({ open: count }) => count === 1);
    const fourth = await openIdle(t, port);
    fourth.write(get('/go'));
    await Promise.all([readUntil(fourth, 'done'), readUntil(busy, ' done')]);
    await openIdle(t, port); // and then it counts as idle again
    await openIdle(t, port);
    await assertClosed(busy);
  });

  test('while a request arrives', async (t) => {
    const { port, waitUntil } = await serveCounted(t, { total: 1 });
    const socket = await openIdle(t, port);
    socket.write('GET / HTTP');
    await waitUntil(({ receivedBytes }) => receivedBytes > get('/').length);
    const other = await readToEnd(open(t, port, '/'));
    assert.match(other, /^HTTP\/1\.1 503 /);
    socket.write('/1.1\r\nHost: x\r\n\r\n');
    await readUntil(socket, 'done');
  });

  test('while the rest of a request is read after its response', async (t) => {
    const port = await serve(t, { total: 1 });
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab');
    await readUntil(socket, 'done');
    await assertRejected(open(t, port, '/'));
  });

  test('of another address, if its own address is at its limit', async (t) => {
    const port = await serve(t, { total: 2, perAddress: 1 });
    const other = await openIdle(t, port, '127.0.0.3');
    const busy = open(t, port, '/wait');
    await readUntil(busy, 'waiting');
    await assertRejected(open(t, port, '/'));
    await assertIdle(other);
  });
});

test('a connection that is reset while it waits for room affects no other', async (t) => {
  const server = createServer();
  const port = await serve(t, { total: 1 }, server);
  const idle = await openIdle(t, port);
  const late = new Socket();
  server.emit('connection', late);
  late.destroy(new Error('reset'));
  await assertClosed(idle);
  await openIdle(t, port);
});

test('more idle connections than the limit are closed once they were idle for a while',
  { timeout }, async (t) => {
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    const port = await serve(t, { idle: 2 });
    const opened = [];
    for (let count = 0; count < 4; count += 1) opened.push(await openIdle(t, port));
    const [first, second, third, fourth] = opened;
    assert.ok(first && second && third && fourth);
    now = IDLE_CLOSE_AFTER_MS - 1;
    await assertIdle(fourth);
    await assertIdle(first);
    now += 1;
    await assertIdle(fourth);
    await assertClosed(second);
    await assertClosed(third);
    await assertIdle(first);
    await assertIdle(fourth);
  });

test('announces its timeout, and keeps a connection for longer than for headers', async (t) => {
  const start = async (options: object): Promise<Socket> => {
    const { port, stop } = await listen((_, response) => response.end('done'),
      { host: '127.0.0.1', port: 0 }, options);
    t.after(() => stop());
    return open(t, port, '/');
  };
  assert.equal(KEEP_ALIVE_TIMEOUT_MS, 75_000);
  assert.match(await readUntil(await start({}), 'done'), /\r\nKeep-Alive: timeout=75(?:,|\r)/);
  const socket = await start({ keepAliveTimeoutMs: 600_000 });
  assert.match(await readUntil(socket, 'done'), /\r\nKeep-Alive: timeout=600(?:,|\r)/);
});
