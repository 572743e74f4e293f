/** Lingering close: clients that are still sending can read early responses, within limits. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { DISCARD_LIMIT_BYTES } from '../../../src/http/limits.ts';
import { LingeringConnections } from '../../../src/http/server/lingering-close.ts';
import { sendReply } from '../../../src/http/response/reply.ts';
import { exchange, serve } from '../raw.ts';

const CHUNK = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`;
const LONG = `Content-Length: ${1024 * DISCARD_LIMIT_BYTES}`;

/** Responds to every request with 403 and its target, without reading its body. */
async function serveRejection(t: TestContext, limits: Limits = {}) {
  const lingering = new LingeringConnections(limits);
  t.after(() => lingering.stop());
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const port = await serve(t, ({ url = '', socket }: IncomingMessage, response) => {
    seen.push(url);
    sockets.add(socket);
    const reply = { status: 403, headers: {}, body: url };
    lingering.lingerAfter(response, reply);
    void sendReply(response, reply);
  });
  return { port, seen, sockets, lingering };
}

type Limits = ConstructorParameters<typeof LingeringConnections>[0];

/** Opens a connection that can still send after the server has closed its side. */
async function openHalf(t: TestContext, port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  t.after(() => socket.destroy());
  socket.on('error', () => {}); // the server may destroy it
  await once(socket, 'connect');
  return socket;
}

function post(target: string, ...fields: readonly string[]): string {
  return [`POST ${target} HTTP/1.1`, 'Host: x', ...fields, '', ''].join('\r\n');
}

/** Reads until the server closes its side; the side of the client stays open. */
async function readUntilFin(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => { text += chunk.toString(); });
  await once(socket, 'end');
  return text;
}

/** Sends until the server destroys the connection. */
async function sendForever(socket: Socket): Promise<void> {
  while (!socket.destroyed) {
    await new Promise<void>((resolve) => {
      socket.write(CHUNK, () => resolve()); // also called if it is destroyed
    });
  }
}

describe('the rest of a rejected body', () => {
  test('is discarded if it is short, and the connection stays open', async (t) => {
    const { port } = await serveRejection(t);
    const body = 'x'.repeat(DISCARD_LIMIT_BYTES / 2);
    const last = post('/second', 'Connection: close', 'Content-Length: 0');
    const first = post('/first', `Content-Length: ${body.length}`) + body;
    assert.match(await exchange(t, port, first + last), /403 .*\/first.*403 .*\/second$/s);
  });

  test('is empty for a request without a body, and the connection stays open', async (t) => {
    const { port } = await serveRejection(t);
    const second = 'GET /second HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const text = await exchange(t, port, `GET /first HTTP/1.1\r\nHost: x\r\n\r\n${second}`);
    assert.match(text, /403 .*keep-alive.*\/first.*403 .*\/second$/is);
  });

  for (const [kind, framing] of [
    ['long', LONG], ['of unknown length', 'Transfer-Encoding: chunked'],
  ] as const) {
    test(`causes the connection to be closed after the response if it is ${kind}`, async (t) => {
      const { port } = await serveRejection(t);
      const socket = await openHalf(t, port);
      socket.write(post('/first', framing));
      const text = await readUntilFin(socket);
      assert.match(text, /^HTTP\/1\.1 403 .*\r\nconnection: close\r\n.*first$/is);
    });
  }

  test('causes the connection to be closed if it does not arrive in time', async (t) => {
    const { port } = await serveRejection(t, { discardTimeoutMs: 20 });
    const socket = await openHalf(t, port);
    socket.write(`${post('/first', 'Content-Length: 10')}{"a`);
    assert.match(await readUntilFin(socket), /^HTTP\/1\.1 403 .*first$/s);
  });
});

describe('a connection that lingers', () => {
  test('accepts no further request', async (t) => {
    const { port, seen } = await serveRejection(t);
    const socket = await openHalf(t, port);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`${post('/first', 'Content-Length: 10', 'Connection: close')}xxx`);
    assert.match(await readUntilFin(socket), /first$/);
    socket.end(`xxxxxxx${post('/second', 'Content-Length: 0')}`);
    await closed;
    assert.deepEqual(seen, ['/first']);
  });

  test('is read until its client closes it', async (t) => {
    const { port } = await serveRejection(t);
    const socket = await openHalf(t, port);
    socket.write(post('/first', LONG));
    await readUntilFin(socket);
    for (let count = 0; count < 200; count += 1) {
      if (!socket.write(CHUNK)) await once(socket, 'drain');
    }
    socket.end();
    assert.equal(await new Promise((resolve) => socket.once('close', resolve)), false);
  });

  test('counts toward the limit, even if many are closed at once', async (t) => {
    const lingering = new LingeringConnections({ connections: 2 });
    t.after(() => lingering.stop());
    const sockets: Socket[] = [];
    const port = await serve(t, ({ socket }) => sockets.push(socket));
    for (let n = 0; n < 10; n += 1) (await openHalf(t, port)).write(post('/', LONG));
    while (sockets.length < 10) await setImmediate();
    for (const socket of sockets) lingering.close(socket);
    assert.equal(sockets.filter(({ destroyed }) => !destroyed).length, 2);
  });

  for (const [kind, limits] of Object.entries({
    'has lingered for too long': { timeoutMs: 50 },
    'is over the limit': { connections: 0 },
  })) {
    test(`is destroyed if it ${kind}`, async (t) => {
      const { port } = await serveRejection(t, limits);
      const socket = await openHalf(t, port);
      socket.write(post('/first', LONG));
      await sendForever(socket);
    });
  }

  test('is destroyed if its client stops sending', async (t) => {
    const { port } = await serveRejection(t, { idleTimeoutMs: 50 });
    const socket = await openHalf(t, port);
    socket.write(post('/first', LONG));
    await readUntilFin(socket);
    socket.write('x');
    // The server has destroyed it once the sent data is reset.
    await sendForever(socket);
  });

  test('is destroyed when the server stops', async (t) => {
    const { port, lingering } = await serveRejection(t);
    const socket = await openHalf(t, port);
    socket.write(post('/first', LONG));
    await readUntilFin(socket);
    lingering.stop();
    await sendForever(socket);
  });

  test('is read no faster than its limit', async (t) => {
    const { port, sockets } = await serveRejection(t, { bytesPerSecond: 1 });
    const socket = await openHalf(t, port);
    socket.write(post('/first', LONG));
    await readUntilFin(socket);
    const [taken] = sockets;
    assert.ok(taken);
    const events = Promise.all([once(taken, 'pause'), once(taken, 'resume')]);
    socket.end(CHUNK);
    await events;
  });
});
