/** How a stream ends, and that it always releases its slot and its source. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type ListenOptions } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { AppError } from '../../../src/domain/error.ts';
import {
  cutResponse, GuardedStream, resetConnection,
} from '../../../src/http/response/guarded-stream.ts';
import type { Reply } from '../../../src/http/response/reply.ts';
import { makeFolder } from '../../support/folder.ts';
import { readToEnd } from '../raw.ts';

const REVOKED = new AppError('key_unknown', 'Revoked.');

class FakeResponse extends EventEmitter {
  writableNeedDrain = false;
  isDestroyed = false;

  destroy(): this {
    this.isDestroyed = true;
    this.emit('close');
    return this;
  }
}

type Options = ConstructorParameters<typeof GuardedStream>[0];

/** A stream of an endless source, and a record of what happened to both. */
function makeStream(options: Partial<Options> = {}) {
  const response = new FakeResponse();
  const seen = { released: 0, closed: 0, cuts: [] as string[] };
  const stream = new GuardedStream({
    release: () => { seen.released += 1; },
    reauthorize: async () => {},
    reauthorizeIntervalMs: 60_000,
    durationLimitMs: undefined,
    whenCut: 'reset',
    // The cast: the stream uses nothing else of a response.
    response: response as unknown as Options['response'],
    onCut: ({ code }) => seen.cuts.push(code),
    ...options,
  });
  async function* generate(): AsyncGenerator<string, void, void> {
    for (;;) {
      await new Promise(setImmediate);
      yield 'x';
    }
  }
  const close = async (): Promise<void> => {
    assert.equal(seen.released, 0, 'the slot is released before the source is closed');
    seen.closed += 1;
  };
  return { response, seen, stream, open: () => stream.from(generate(), close) };
}

describe('releases its slot and closes its source once', () => {
  for (const pulls of [0, 1, 3]) {
    test(`when it is returned after ${pulls} chunks`, async () => {
      const { open, seen, response } = makeStream();
      const stream = open();
      for (let n = 0; n < pulls; n += 1) assert.equal((await stream.next()).value, 'x');
      await stream.return();
      await stream.return();
      assert.deepEqual([seen.released, seen.closed], [1, 1]);
      assert.equal((await stream.next()).done, true);
      assert.equal(response.listenerCount('close'), 0);
      assert.equal(stream.signal.aborted, true);
    });
  }

  test('when its client disconnects and nothing reads on', async () => {
    const { open, seen, response } = makeStream();
    const stream = open();
    await stream.next();
    response.emit('close');
    await stream.end();
    assert.deepEqual([seen.released, seen.closed, seen.cuts], [1, 1, []]);
  });

  test('when its client disconnects before it is opened', async () => {
    const { open, seen, response } = makeStream();
    response.emit('close');
    assert.equal((await open().next()).done, true);
    assert.deepEqual([seen.released, seen.closed], [1, 1]);
  });

  test('when its source fails', async () => {
    const { stream, seen } = makeStream();
    const failure = new Error('a page is missing');
    stream.from((async function* (): AsyncGenerator<string> { throw failure; })());
    await assert.rejects(stream.next(), failure);
    assert.equal(seen.released, 1);
  });
});

describe('a client that is no longer authorized', () => {
  const reauthorize = async (): Promise<void> => { throw REVOKED; };

  test('is cut off even if nothing reads', async () => {
    const { open, seen, response } = makeStream({ reauthorize, reauthorizeIntervalMs: 1 });
    const stream = open();
    while (!response.isDestroyed) await new Promise(setImmediate);
    await stream.end();
    assert.deepEqual([seen.cuts, seen.released, seen.closed], [['key_unknown'], 1, 1]);
  });

  test('gets no chunk even if the timer is late', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { open } = makeStream({ reauthorize, reauthorizeIntervalMs: 1 });
    const stream = open();
    const start = performance.now();
    t.mock.method(performance, 'now', () => start + 10);
    await assert.rejects(stream.next(), REVOKED);
  });

  test('gets a problem document if nothing was sent yet', async () => {
    const { stream, open, response, seen } = makeStream({ reauthorize, reauthorizeIntervalMs: 1 });
    await assert.rejects(stream.race(new Promise(() => {})), REVOKED);
    assert.throws(open, REVOKED);
    assert.equal(response.isDestroyed, false);
    await stream.end();
    assert.deepEqual([seen.released, seen.closed], [1, 1]);
  });

  test('sees the regular end of a stream that can be resumed', async () => {
    const options = { reauthorize, reauthorizeIntervalMs: 1, whenCut: 'end' } as const;
    const { open, response, seen } = makeStream(options);
    const chunks = await Array.fromAsync(open());
    assert.deepEqual(new Set(chunks).difference(new Set(['x'])), new Set());
    assert.deepEqual([response.isDestroyed, seen.released], [false, 1]);
  });
});

test('reads no more once it is cut, and drops a chunk that arrives later', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { stream } = makeStream({ durationLimitMs: 100, whenCut: 'end' });
  let pulls = 0;
  const pending = Promise.withResolvers<IteratorResult<string>>();
  const next = (): Promise<IteratorResult<string>> => {
    pulls += 1;
    return pulls === 1 ? pending.promise : Promise.resolve({ done: false, value: 'y' });
  };
  stream.from({ [Symbol.asyncIterator]: () => ({ next }) });
  const first = stream.next();
  await new Promise(setImmediate);
  t.mock.timers.tick(100);
  pending.resolve({ done: false, value: 'x' });
  assert.deepEqual(await first, { done: true, value: undefined });
  const cut = makeStream({ durationLimitMs: 100, whenCut: 'end' }).stream;
  cut.from({ [Symbol.asyncIterator]: () => ({ next }) });
  t.mock.timers.tick(100);
  assert.deepEqual(await cut.next(), { done: true, value: undefined });
  assert.equal(pulls, 1);
});

test('ends after its maximum duration, whether or not it is read', async () => {
  const { open, response, seen } = makeStream({ durationLimitMs: 1 });
  const stream = open();
  while (!response.isDestroyed) await new Promise(setImmediate);
  await stream.end();
  assert.deepEqual([seen.cuts, seen.released], [['unavailable'], 1]);
});

test('reauthorizes repeatedly, one check at a time', async () => {
  let [calls, concurrent] = [0, 0];
  const { open } = makeStream({
    reauthorizeIntervalMs: 1,
    async reauthorize() {
      concurrent += 1;
      assert.equal(concurrent, 1);
      await new Promise(setImmediate);
      concurrent -= 1;
      calls += 1;
    },
  });
  const stream = open();
  while (calls < 5) await stream.next();
  await stream.return();
});

test('is the only type of stream that a handler can return', () => {
  async function* forge(): AsyncGenerator<string> { yield 'x'; }
  // @ts-expect-error The compiler rejects any other stream.
  const forged: Reply = { status: 200, headers: {}, body: forge() };
  const guarded: Reply = { status: 200, headers: {}, body: makeStream().open() };
  assert.ok(forged.body !== guarded.body);
});

describe('a response that is cut', () => {
  /** How the client's connection ends: its error code, or `end`. */
  async function cut(
    t: TestContext, address: ListenOptions, handle: RequestListener,
  ): Promise<string> {
    const server = createServer(handle).listen(address);
    t.after(() => server.close());
    await once(server, 'listening');
    const bound = server.address();
    const socket = typeof bound === 'string' ? connect(bound)
      : connect(bound?.port ?? 0, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    return readToEnd(socket).then(() => 'end', ({ code }) => String(code));
  }
  const cutAfter = (_: unknown, response: ServerResponse): void => {
    response.write('a part', () => cutResponse(response));
  };

  test('resets its connection', async (t) => {
    assert.equal(await cut(t, { host: '127.0.0.1', port: 0 }, cutAfter), 'ECONNRESET');
  });

  test('closes a Unix socket, which has no reset', async (t) => {
    assert.equal(await cut(t, { path: join(makeFolder(t), 's') }, cutAfter), 'end');
  });

  test('may be cut again, and while its connection shuts down', async (t) => {
    const outcome = await cut(t, { host: '127.0.0.1', port: 0 }, (_, response) => {
      response.end('all', () => {
        response.req.socket.end();
        cutResponse(response);
        resetConnection(response.req.socket);
      });
    });
    assert.equal(outcome, 'end');
  });
});
