/** Streamed bodies: the minimum transfer rate, and the limit on gzip expansion. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../../src/domain/error.ts';
import { openBody } from '../../../src/http/request/body.ts';
import {
  BODY_MIN_RATE_BYTES_PER_SECOND, BODY_MIN_RATE_INTERVAL_MS as INTERVAL_MS,
  GZIP_RATIO_EXEMPT_BYTES, GZIP_RATIO_LIMIT,
} from '../../../src/http/limits.ts';
import { send } from '../../support/http.ts';
import { open, serve } from '../raw.ts';

const DUE_BYTES = INTERVAL_MS / 1000 * BODY_MIN_RATE_BYTES_PER_SECOND;

/** Reads a body with an injected clock. */
async function startReading(t: TestContext) {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let seenBytes = 0;
  const ended = Promise.withResolvers<unknown>();
  const chunkSeen: (() => void)[] = [];
  const port = await serve(t, async (request) => {
    try {
      for await (const chunk of openBody(request, ['text/csv']).chunks) {
        seenBytes += chunk.length;
        for (const resolve of chunkSeen.splice(0)) resolve();
      }
      ended.resolve(undefined);
    } catch (error) {
      ended.resolve(error);
    }
  });
  const socket = await open(t, port);
  socket.write('POST / HTTP/1.1\r\nHost: x\r\n'
    + 'Content-Type: text/csv\r\nContent-Length: 1000000\r\n\r\n');
  return {
    socket, ended: ended.promise,
    /** Sends this many bytes, and waits until they were read. */
    async write(sizeBytes: number): Promise<void> {
      const wanted = seenBytes + sizeBytes;
      socket.write(Buffer.alloc(sizeBytes));
      while (seenBytes < wanted) {
        await new Promise<void>((resolve) => { chunkSeen.push(resolve); });
      }
      await new Promise((resolve) => setImmediate(resolve)); // until the reader waits again
    },
    async pass(ms: number): Promise<void> {
      now += ms;
      t.mock.timers.tick(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('a body of any length', () => {
  test('that arrives too slowly is rejected with request_timeout', async (t) => {
    const { write, pass, ended } = await startReading(t);
    for (let second = 0; second < INTERVAL_MS / 1000; second += 1) {
      await write(1);
      await pass(1_000);
    }
    const error = await ended;
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'request_timeout');
  });

  test('that does not arrive is rejected with request_timeout', async (t) => {
    const { write, pass, ended } = await startReading(t);
    await write(1);
    await pass(INTERVAL_MS);
    assert.match(String(await ended), /less than 1024 bytes/);
  });

  test('that becomes too slow is rejected, however fast it was before', async (t) => {
    const { write, pass, ended } = await startReading(t);
    await write(DUE_BYTES * 10);
    await pass(INTERVAL_MS);
    await write(DUE_BYTES - 1);
    await pass(INTERVAL_MS);
    assert.match(String(await ended), /less than 1024 bytes/);
  });

  test('that arrives at the minimum rate is read without a time limit', async (t) => {
    const { write, pass, ended, socket } = await startReading(t);
    for (let round = 0; round < 20; round += 1) {
      await write(DUE_BYTES);
      await pass(INTERVAL_MS);
    }
    socket.write(Buffer.alloc(1_000_000 - 20 * DUE_BYTES));
    assert.equal(await ended, undefined);
  });
});

test('does not count the time in which the reader is busy', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const port = await serve(t, async (request, response) => {
    let seenBytes = 0;
    for await (const chunk of openBody(request, ['text/csv']).chunks) {
      seenBytes += chunk.length;
      now += 1_000 * INTERVAL_MS;
    }
    response.end(String(seenBytes));
  });
  const headers = { 'content-type': 'text/csv' };
  const request = { method: 'POST', path: '/', headers, body: Buffer.alloc(300_000) };
  assert.equal((await send(port, request)).text, '300000');
});

describe('gzip', () => {
  /** The size of the decompressed body, and the code of its error. */
  async function inflate(t: TestContext, body: Uint8Array): Promise<[number, string]> {
    const result = Promise.withResolvers<[number, string]>();
    const port = await serve(t, async (request, response) => {
      let madeBytes = 0;
      try {
        for await (const { length } of openBody(request, ['text/csv']).chunks) madeBytes += length;
        result.resolve([madeBytes, '']);
      } catch (error) {
        result.resolve([madeBytes, error instanceof AppError ? error.code : String(error)]);
      }
      response.end();
    });
    const headers = { 'content-type': 'text/csv', 'content-encoding': 'gzip' };
    await send(port, { method: 'POST', path: '/', headers, body });
    return result.promise;
  }

  test('that expands too far is rejected early', async (t) => {
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));
    const [madeBytes, code] = await inflate(t, bomb);
    assert.equal(code, 'body_too_large');
    const limitBytes = Math.max(GZIP_RATIO_EXEMPT_BYTES, GZIP_RATIO_LIMIT * bomb.length);
    assert.ok(madeBytes <= limitBytes + 65_536);
    assert.ok(madeBytes < 8 * 1024 * 1024, `${madeBytes}`);
  });

  test('of a small file is accepted, whatever its compression ratio', async (t) => {
    assert.deepEqual(await inflate(t, gzipSync(Buffer.alloc(GZIP_RATIO_EXEMPT_BYTES))), [
      GZIP_RATIO_EXEMPT_BYTES, '',
    ]);
  });

  test('of nearly identical rows is accepted', async (t) => {
    const rows = Array.from({ length: 40_000 }, (_, row) =>
      `SKU-${row},A mug of the same name in all of these rows,Kitchen,12.50,7,"<p>Text</p>"\n`);
    const text = rows.join('');
    assert.ok(text.length > 2 * GZIP_RATIO_EXEMPT_BYTES);
    assert.deepEqual(await inflate(t, gzipSync(text)), [text.length, '']);
  });
});
