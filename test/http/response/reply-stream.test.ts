/** Streamed responses: slow readers, readers that disconnect, and errors in the middle. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { AppError } from '../../../src/domain/error.ts';
import { type Chunks, sendReply } from '../../../src/http/response/reply.ts';
import { send } from '../../support/http.ts';
import { exchange, open, readUntil, serve } from '../raw.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const CHUNK = Buffer.alloc(64 * 1024, 'x');

interface Streaming {
  readonly port: number;
  /** How the first response ended: undefined, or the error. */
  readonly ended: Promise<unknown>;
  /** Resolves when the server knows that the connection of a response is closed. */
  readonly gone: Promise<void>;
}

/** Responds to every request with these chunks. */
async function serveStream(t: TestContext, makeChunks: () => Chunks): Promise<Streaming> {
  const { promise: ended, resolve } = Promise.withResolvers<unknown>();
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
  const port = await serve(t, (_, response) => {
    const reply = { status: 200, headers: { 'content-type': 'text/csv' }, body: makeChunks() };
    response.once('close', leave);
    Promise.resolve(sendReply(response, reply)).then(() => resolve(undefined), resolve);
  });
  return { port, ended, gone };
}

/** An endless stream that records how many chunks were read, and whether it was closed. */
function makeEndless(firstChunk: string | Uint8Array = CHUNK) {
  const seen = { pulled: 0, isReturned: false };
  async function* generate(): AsyncGenerator<string | Uint8Array> {
    try {
      for (;;) {
        seen.pulled += 1;
        yield seen.pulled === 1 ? firstChunk : CHUNK;
      }
    } finally {
      seen.isReturned = true;
    }
  }
  return { seen, generate };
}

test('sends text and bytes in order, without a length', async (t) => {
  const { port, ended } = await serveStream(t, async function* () {
    yield 'é';
    yield Buffer.from('😀');
    yield 'end';
  });
  const { headers, text } = await send(port, { path: '/' });
  assert.equal(text, 'é😀end');
  assert.equal(headers['content-length'], undefined);
  assert.equal(headers['transfer-encoding'], 'chunked');
  assert.equal(headers['content-type'], 'text/csv');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(await ended, undefined);
});

test('sends an empty stream as an empty body', async (t) => {
  const { port, ended } = await serveStream(t, async function* () {});
  const { status, text } = await send(port, { path: '/' });
  assert.deepEqual([status, text], [200, '']);
  assert.equal(await ended, undefined);
});

test('sends a chunk before the next one is generated', async (t) => {
  const read = Promise.withResolvers<void>();
  const { port } = await serveStream(t, async function* () {
    yield 'first line';
    await read.promise;
    yield 'second line';
  });
  const socket = await open(t, port);
  socket.write(GET);
  await readUntil(socket, 'first line');
  read.resolve();
  await readUntil(socket, 'second line');
});

test('sends only headers to HEAD, and closes the stream', async (t) => {
  const { seen, generate } = makeEndless();
  let answers = 0;
  const { port, ended } = await serveStream(t, () => {
    answers += 1;
    return answers === 1 ? generate() : (async function* () { yield 'second'; })();
  });
  const head = GET.replace('GET', 'HEAD');
  const get = GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  const text = await exchange(t, port, head + get);
  const [, first = '', second = ''] = text.split('HTTP/1.1 200 OK\r\n');
  assert.ok(first.endsWith('\r\n\r\n') && /^content-type: text\/csv\r$/m.test(first), first);
  assert.match(second, /second/);
  assert.equal(await ended, undefined);
  assert.deepEqual(seen, { pulled: 1, isReturned: true });
});

test('generates no more than its client reads', async (t) => {
  const readBytes = 10 * 1024 * 1024;
  const wholeBytes = 512 * 1024 * 1024;
  let madeBytes = 0;
  const { port, ended } = await serveStream(t, async function* () {
    for (; madeBytes < wholeBytes; madeBytes += CHUNK.length) yield CHUNK;
  });
  const socket = await open(t, port);
  socket.write(GET);
  let seenBytes = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    seenBytes += chunk.length;
    if (seenBytes >= readBytes) break; // which ends the connection
  }
  // The operating system buffers far less per connection.
  assert.ok(madeBytes < readBytes + 64 * 1024 * 1024, `generated ${madeBytes} bytes`);
  assert.equal(await ended, undefined);
  assert.ok(madeBytes < wholeBytes);
});

describe('a client that disconnects', () => {
  async function ask(t: TestContext, port: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    socket.write(GET);
    return socket;
  }

  test('in the middle causes the stream to be closed', async (t) => {
    const { seen, generate } = makeEndless('the beginning');
    const { port, ended } = await serveStream(t, generate);
    const socket = await ask(t, port);
    await readUntil(socket, 'the beginning');
    socket.destroy();
    assert.equal(await ended, undefined);
    assert.equal(seen.isReturned, true);
  });

  test('while a chunk is generated causes the stream to be closed after it', async (t) => {
    const left = Promise.withResolvers<void>();
    let [isReturned, isGoingOn] = [false, false];
    const { port, ended, gone } = await serveStream(t, async function* () {
      try {
        yield 'first';
        await left.promise;
        yield 'second';
        isGoingOn = true;
      } finally {
        isReturned = true;
      }
    });
    const socket = await ask(t, port);
    await readUntil(socket, 'first');
    socket.destroy();
    await gone;
    left.resolve();
    assert.equal(await ended, undefined);
    assert.deepEqual([isReturned, isGoingOn], [true, false]);
  });

  for (const [kind, error, isReported] of [
    ['is no error', new AppError('invalid_data', 'The body broke off.'), false],
    ['does not hide a bug', new TypeError('a bug'), true],
  ] as const) {
    test(kind, async (t) => {
      const { port, ended } = await serveStream(t, async function* () {
        try {
          yield 'first';
          for (;;) yield CHUNK;
        } finally {
          throw error;
        }
      });
      const socket = await ask(t, port);
      await readUntil(socket, 'first');
      socket.destroy();
      assert.equal(await ended, isReported ? error : undefined);
    });
  }
});

test('destroys the connection if a stream fails: no part seems whole', async (t) => {
  for (const error of [new Error('a bug'), new AppError('unavailable', 'Not now.')]) {
    const { port, ended } = await serveStream(t, async function* () {
      yield 'a part';
      throw error;
    });
    await assert.rejects(send(port, { path: '/' }), { code: 'ECONNRESET' });
    assert.equal(await ended, error);
  }
});
