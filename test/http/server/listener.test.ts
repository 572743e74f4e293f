/** The HTTP server around a handler, over raw sockets. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import {
  CONNECTIONS_CHECK_INTERVAL_MS, HEADER_COUNT_LIMIT, HEADER_LIMIT_BYTES, HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS, STALL_TIMEOUT_MS, STOP_TIMEOUT_MS,
} from '../../../src/http/limits.ts';
import { listen, type Listener } from '../../../src/http/server/listener.ts';
import { send } from '../../support/http.ts';
import { exchange, open, readToEnd, readUntil } from '../raw.ts';
import { startStopping } from './stopping.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

async function start(
  t: TestContext, handle: RequestListener = (_, response) => response.end('done'),
): Promise<Listener> {
  const listener = await listen(handle, { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  return listener;
}

/** The server of Node in a listener. Its timeouts can be changed. */
async function startServer(
  t: TestContext, handle?: RequestListener,
): Promise<Listener & { readonly server: Server }> {
  const { mock } = t.mock.method(Server.prototype, 'listen');
  const listener = await start(t, handle);
  const server = mock.calls[0]?.this;
  mock.restore();
  assert.ok(server instanceof Server);
  return { ...listener, server };
}

/** Asserts that an unparsable request got a problem document, and that the connection closes. */
function assertProblem(text: string, status: number): void {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} \\w+`));
  assert.match(head, /\r\nConnection: close(\r\n|$)/i);
  assert.match(head, /\r\nContent-Type: application\/problem\+json(\r\n|$)/i);
  assert.match(head, new RegExp(`\r\nContent-Length: ${Buffer.byteLength(body)}(\r\n|$)`, 'i'));
  const problem = JSON.parse(body);
  assert.equal(problem.status, status);
  assert.ok(head.startsWith(`HTTP/1.1 ${status} ${problem.title}\r\n`));
}

test('listens on a free port for port 0, and passes requests to the handler', async (t) => {
  const { port } = await start(t, ({ method, url }, response) => response.end(`${method} ${url}`));
  assert.ok(port > 0);
  assert.equal((await send(port, { path: '/a?b' })).text, 'GET /a?b');
});

test('limits the time of every phase of a connection', async (t) => {
  const { server } = await startServer(t);
  const { headersTimeout, requestTimeout, keepAliveTimeout, timeout } = server;
  assert.deepEqual({ headersTimeout, requestTimeout, keepAliveTimeout, timeout }, {
    headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    timeout: STALL_TIMEOUT_MS,
  });
  // The cast: the types of Node lack this option of a server.
  const { connectionsCheckingInterval } = server as Server & {
    readonly connectionsCheckingInterval?: number;
  };
  assert.equal(connectionsCheckingInterval, CONNECTIONS_CHECK_INTERVAL_MS);
});

test('rejects if the port is in use', async (t) => {
  const { port } = await start(t);
  await assert.rejects(listen(() => {}, { host: '127.0.0.1', port }), { code: 'EADDRINUSE' });
  assert.equal((await send(port, { path: '/' })).text, 'done', 'the first server still listens');
});

test('rejects if the address does not belong to this machine', async () => {
  await assert.rejects(listen(() => {}, { host: '192.0.2.1', port: 0 }), { code: 'EADDRNOTAVAIL' });
});

describe('returns 400 and closes the connection:', () => {
  const requests = {
    'a malformed request line': 'NONSENSE\r\n\r\n',
    'binary junk': '\x16\x03\x01\x02\x00',
    'a header without a colon': 'GET / HTTP/1.1\r\nHost: x\r\nBroken\r\n\r\n',
    'a space before the colon': 'GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n',
    'a control character in a header': 'GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n',
    'two content lengths':
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    'a length beside chunks':
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n'
      + 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'a negative length': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    'a folded header': 'GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n',
  };
  for (const [kind, bytes] of Object.entries(requests)) {
    test(kind, async (t) => {
      let handled = 0;
      const { port } = await start(t, (_, response) => {
        handled += 1;
        response.end();
      });
      assertProblem(await exchange(t, port, bytes), 400);
      assert.equal(handled, 0);
    });
  }

  test('a chunk without a size', async (t) => {
    const { port } = await start(t, (request) => request.resume());
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    assertProblem(await exchange(t, port, `${head}zz\r\n`), 400);
  });
});

describe('headers', () => {
  test('just below the limit are accepted', async (t) => {
    const { port } = await start(t);
    const headers = { a: 'x'.repeat(HEADER_LIMIT_BYTES - 500) };
    assert.equal((await send(port, { path: '/', headers })).status, 200);
  });

  test('over the size limit get 431', async (t) => {
    const { port } = await start(t);
    const bytes = `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(HEADER_LIMIT_BYTES)}\r\n\r\n`;
    assertProblem(await exchange(t, port, bytes), 431);
  });

  test('over the count limit get 431', async (t) => {
    const { port } = await start(t);
    const lines = Array.from({ length: HEADER_COUNT_LIMIT + 1 }, (_, n) => `H${n}: x\r\n`).join('');
    const bytes = `GET / HTTP/1.1\r\nHost: x\r\n${lines}Connection: close\r\n\r\n`;
    assertProblem(await exchange(t, port, bytes), 431);
  });

  test('that do not arrive in time get 408', async (t) => {
    const { port, server } = await startServer(t);
    server.headersTimeout = 1;
    assertProblem(await exchange(t, port, 'GET / HTTP/1.1\r\nHost: x\r\n'), 408);
  });
});

test('returns 413 for endless chunk extensions', async (t) => {
  const { port } = await start(t, (request) => request.resume());
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  assertProblem(await exchange(t, port, `${head}1;${'x'.repeat(HEADER_LIMIT_BYTES + 1)}`), 413);
});

test('continues to serve after clients that disconnect early', async (t) => {
  const { port } = await start(t);
  for (const bytes of ['', 'GET', 'GET / HTTP/1.1\r\nHost', 'NONSENSE\r\n\r\n']) {
    const socket = await open(t, port);
    if (bytes) socket.write(bytes);
    socket.resetAndDestroy();
    await once(socket, 'close');
  }
  assert.equal((await send(port, { path: '/' })).text, 'done');
});

test('resets a connection that stalls within a response, and ends one that is idle', async (t) => {
  const sockets: Socket[] = [];
  const { port } = await start(t, ({ url, socket }, response) => {
    sockets.push(socket);
    response.write('a part');
    if (url === '/whole') response.end();
  });
  for (const [request, end] of [
    [GET, /ECONNRESET/], [GET.replace('/', '/whole'), /^$/],
  ] as const) {
    const socket = await open(t, port);
    socket.write(request);
    await readUntil(socket, end.test('') ? '\r\n0\r\n\r\n' : 'a part');
    sockets.at(-1)?.emit('timeout');
    assert.match(await readToEnd(socket).catch(String), end);
  }
});

describe('stop', () => {
  test('lets a request in flight finish, and accepts no more', async (t) => {
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const { port, stop, server } = await startServer(t, (_, response) => {
      begun.resolve();
      void release.promise.then(() => response.end('finished'));
    });
    server.keepAliveTimeout = 0; // only the stop closes the connection
    const socket = await open(t, port);
    socket.write(GET);
    await begun.promise;
    const { state, assertStops } = startStopping(t, stop);
    await assert.rejects(send(port, { path: '/' }), { code: 'ECONNREFUSED' });
    assert.equal(state.isStopped, false);
    release.resolve();
    assert.match(await readUntil(socket, 'finished'), /^HTTP\/1\.1 200 /);
    await assertStops();
  });

  test('closes connections that are idle or have sent no request', async (t) => {
    const { port, stop, server } = await startServer(t);
    // Nothing else closes them.
    Object.assign(server, { keepAliveTimeout: 0, headersTimeout: 0 });
    const used = await open(t, port);
    used.write(GET);
    await readUntil(used, 'done');
    const unused = await open(t, port);
    const closed = [used, unused].map((socket) => once(socket.resume(), 'close'));
    await startStopping(t, stop).assertStops();
    await Promise.all(closed);
  });

  test('answers requests on connections that it has accepted, and closes them then', async (t) => {
    const { port, stop, server } = await startServer(t);
    Object.assign(server, { keepAliveTimeout: 0, headersTimeout: 0 });
    const used = await open(t, port);
    used.write(GET);
    await readUntil(used, 'done');
    const accepted = once(server, 'connection');
    const unused = await open(t, port);
    await accepted;
    const { assertStops } = startStopping(t, stop);
    for (const socket of [used, unused]) {
      socket.write(GET);
      const answer = await readToEnd(socket);
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*done$/);
    }
    await assertStops();
  });

  test('resets a request that does not finish, after 8 s', async (t) => {
    const { port, stop } = await start(t, (_, response) => response.write('a part'));
    const socket = await open(t, port);
    socket.write(GET);
    await readUntil(socket, 'a part');
    const closed = assert.rejects(once(socket.resume(), 'close'), { code: 'ECONNRESET' });
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    const stopped = stop();
    t.mock.timers.tick(STOP_TIMEOUT_MS - 1);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(socket.closed, false);
    t.mock.timers.tick(1);
    await Promise.all([stopped, closed]);
  });

  test('may be called twice', async (t) => {
    const { stop } = await start(t);
    await Promise.all([stop(), stop()]);
    await stop();
  });
});
