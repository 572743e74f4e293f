/** How the client handles broken responses, and errors in the middle of streams. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  ApiError, ConnectionError, ResyncRequiredError, SellerClient, TimeoutError,
} from '../../src/client/index.ts';
import { CSV_EXPORT, endRecord } from '../cli/transfer/fake-server.ts';
import { listenUntilEnd } from '../support/listening.ts';
import { startServer } from '../support/server.ts';
import {
  fail, KEY, MUG, PRODUCT, respond, serve, succeed, untilClosed,
} from './answers.ts';
import { mockTimers } from './timers.ts';

const CHUNK = new Uint8Array(64 * 1024).fill(0x61).fill(0x0a, -1);
/** More than sockets and streams buffer, and much less than a long transfer. */
const BUFFERED_LIMIT_BYTES = 32 * 1024 * 1024;

const isUnexpected = (error: unknown): boolean =>
  error instanceof ApiError && String(error.code) === 'unexpected_response';

test('retries a read whose response is cut off', async (t) => {
  const half: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-length': PRODUCT.length });
    response.write(PRODUCT.slice(0, 20), () => response.destroy());
  };
  const { open, requests } = await serve(t, half, succeed);
  assert.equal((await open().products.get('prd_1')).sku, 'MUG-1');
  assert.equal(requests.length, 2);
});

for (const [name, body] of [
  ['an HTML page', '<h1>Sign in</h1>'], ['truncated JSON', '{"id":'], ['a number', '7'],
] as const) {
  test(`explains ${name} with status 200, and does not retry`, async (t) => {
    const { open, requests } = await serve(t, respond(body));
    const shop = open();
    await assert.rejects(shop.products.get('prd_1'), isUnexpected);
    await assert.rejects(shop.products.list().next(), isUnexpected);
    await assert.rejects(shop.changes({ after: 0 }).next(), isUnexpected);
    const report = await shop.products.import('sku\n');
    await assert.rejects(report.summary(), isUnexpected);
    assert.equal(requests.length, 4);
  });
}

test('explains lists and changes without items, and an export without a position', async (t) => {
  const { open } = await serve(t, respond('{}'));
  await assert.rejects(open().webhooks.list().next(), isUnexpected);
  await assert.rejects(open().changes({ after: 0 }).next(), isUnexpected);
  await assert.rejects(open().products.export({ format: 'csv' }), isUnexpected);
});

for (const [what, rows] of [
  ['ends within a row', 'MUG'],
  ['ends after a row', 'MUG\r\n'],
  ['ends within its end record', 'MUG\r\n#end rows=1 posi'],
  ['lacks a row', `MUG\r\n${endRecord(2)}`],
  ['has a row too many', `MUG\r\nCUP\r\n${endRecord(1)}`],
  ['has the end record of another position', 'MUG\r\n#end rows=1 position=8\r\n'],
  ['goes on after its end record', `MUG\r\n${endRecord(1)}CUP\r\n`],
] as const) {
  test(`reports an export that ${what}`, async (t) => {
    const { open } = await serve(t, (_, response) => {
      response.writeHead(200, CSV_EXPORT).end(`sku\r\n${rows}`);
    });
    const file = await open().products.export({ format: 'csv' });
    await assert.rejects(Array.fromAsync(file), ConnectionError);
  });
}

test('passes on the rows of an export without its end record, however it is cut', async (t) => {
  const rows = 'sku\r\n"a ""b""\r\n#end rows=9 position=7"\r\nMUG\r\n';
  const whole = Buffer.from(rows + endRecord(2));
  let size = 1;
  const { open } = await serve(t, async (_, response) => {
    response.writeHead(200, CSV_EXPORT);
    for (let at = 0; at < whole.length; at += size) {
      await new Promise((resolve) => response.write(whole.subarray(at, at + size), resolve));
    }
    response.end();
  });
  for (; size <= whole.length; size += 5) {
    const chunks = await Array.fromAsync(await open().products.export({ format: 'csv' }));
    assert.equal(Buffer.concat(chunks).toString(), rows);
  }
});

test('retries a request to which a proxy responds with 502 in HTML', async (t) => {
  const { open, requests } = await serve(
    t, respond('<h1>Bad gateway</h1>', 502, 'text/html'), succeed);
  await open().products.create(MUG);
  assert.equal(requests.length, 2);
});

test("reads Retry-After as a date by the server's clock, and as any number", async (t) => {
  const date = (seconds: number): string => new Date(1e12 + seconds * 1000).toUTCString();
  for (const [sent, expected] of [
    [date(45), 45], [date(-9), 0], ['99999999999999999999', 1e20], ['soon', undefined],
    ['-5', undefined],
  ] as const) {
    const headers = { 'retry-after': sent, date: date(0) };
    const { open, requests } = await serve(t, fail(429, 'rate-limited', headers));
    await assert.rejects(open({ retries: 0 }).products.get('prd_1'), (error) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.retryAfterSeconds, expected, sent);
      return true;
    });
    assert.equal(requests.length, 1);
  }
});

test('does not retry connection errors that are permanent', async () => {
  let calls = 0;
  for (const code of ['ENOTFOUND', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'EPROTO']) {
    const shop = new SellerClient({
      baseUrl: 'https://shop.invalid', key: KEY,
      async fetch() {
        calls += 1;
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('No'), { code }) });
      },
    });
    await assert.rejects(shop.products.get('x'), { name: 'ConnectionError', code });
  }
  assert.equal(calls, 4);
});

test('explains a port that fetch never uses', async () => {
  const shop = new SellerClient({ baseUrl: 'http://127.0.0.1:6000', key: KEY });
  await assert.rejects(shop.products.get('x'), /127\.0\.0\.1:6000: `fetch` never uses this port/);
});

test('applies a change once if the connection breaks after its commit', async (t) => {
  const server = await startServer(t);
  const { key } = await server.makeSeller();
  const keys: unknown[] = [];
  const baseUrl = await listenUntilEnd(t, async (request, response) => {
    const body = await new Response(request).text();
    const answer = await fetch(`http://127.0.0.1:${server.port}${request.url}`, {
      method: 'POST', body, headers: {
        'content-type': 'application/json', 'x-api-key': key,
        'idempotency-key': String(request.headers['idempotency-key']),
      },
    });
    if (keys.push(request.headers['idempotency-key']) === 1) response.destroy();
    else response.end(await answer.text());
  });
  const created = await new SellerClient({ baseUrl, key }).products.create(MUG);
  assert.equal(created.position, 1);
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
  // Without retries the caller can repeat the request, also from another process.
  keys.length = 0;
  const shop = new SellerClient({ baseUrl, key, retries: 0 });
  const create = () =>
    shop.products.create({ ...MUG, sku: 'MUG-2' }, { idempotencyKey: 'order-7' });
  await assert.rejects(create, ConnectionError);
  assert.equal((await create()).position, 2);
});

test('ends with the error of the source, before and within the report', async (t) => {
  const failure = new RangeError('The disk failed.');
  const report: RequestListener = (request, response) => {
    request.on('error', () => {}).resume();
    response.write('{"line":2,"sku":"A","status":"failed"}\n');
  };
  const source = async function* (count: number) {
    for (let n = 0; n < count; n += 1) yield CHUNK;
    throw failure;
  };
  const silent = await serve(t, (request) => request.on('error', () => {}).resume());
  await assert.rejects(silent.open().products.import(source(0)), failure);
  await assert.rejects(silent.open().products.import(source(1)), failure);
  const { open } = await serve(t, report);
  await assert.rejects(async () => {
    const gate = Promise.withResolvers<void>();
    const rows = async function* () {
      yield CHUNK;
      await gate.promise;
      throw failure;
    };
    for await (const _ of await open().products.import(rows())) gate.resolve();
  }, failure);
});

test('cancels the upload when the consumer of the report stops', async (t) => {
  const ended = Promise.withResolvers<void>();
  const rows = async function* () {
    try {
      for (;;) yield MUG;
    } finally {
      ended.resolve();
    }
  };
  const { open, requests } = await serve(t, (_, response) => {
    response.write('{"line":2,"sku":"A","status":"failed"}\n');
  });
  for await (const _ of await open().products.import(rows())) break;
  await ended.promise;
  await untilClosed(requests);
});

/** Waits until a count has grown, and no longer does. */
async function settle(count: () => number): Promise<number> {
  while (count() === 0) await wait(5);
  for (let before = -1; ; before = count()) {
    await wait(150);
    if (before === count()) return before;
  }
}

test('reads a source only as fast as the server accepts it', async (t) => {
  let bytes = 0;
  const file = async function* () {
    for (;; bytes += CHUNK.length) yield CHUNK;
  };
  const { open } = await serve(t, (request) => request.pause());
  const stop = new AbortController();
  const importing = open().products.import(file(), { signal: stop.signal });
  const buffered = await settle(() => bytes);
  stop.abort(new Error('enough'));
  await assert.rejects(importing, /enough/);
  assert.ok(buffered < BUFFERED_LIMIT_BYTES, `${buffered}`);
});

/** Writes as fast as the client reads, until it disconnects. */
async function pour(response: ServerResponse, onWrite: (bytes: number) => void): Promise<void> {
  const closed = once(response, 'close');
  for (; !response.destroyed; onWrite(CHUNK.length)) {
    if (!response.write(CHUNK)) await Promise.race([once(response, 'drain'), closed]);
  }
}

test('receives an export only as fast as it is read', async (t) => {
  let bytes = 0;
  const { open, requests } = await serve(t, (_, response) =>
    pour(response.writeHead(200, CSV_EXPORT), (count) => { bytes += count; }));
  for await (const _ of await open().products.export({ format: 'csv' })) {
    const buffered = await settle(() => bytes);
    assert.ok(buffered < BUFFERED_LIMIT_BYTES, `${buffered}`);
    break;
  }
  await untilClosed(requests);
});

for (const [status, type, options] of [
  [200, 'application/json', {}],
  [200, 'application/json', { responseLimitCharacters: 1_000 }],
  [409, 'application/problem+json', { responseLimitCharacters: 1_000 }],
] as const) {
  const limit = 'responseLimitCharacters' in options ? 1_000 : 32_000_000;
  test(`reads no more than ${limit} characters of a response with status ${status}`, async (t) => {
    let bytes = 0;
    const { open, requests } = await serve(t, (_, response) =>
      pour(response.writeHead(status, { 'content-type': type }), (count) => { bytes += count; }));
    await assert.rejects(open(options).products.get('prd_1'), (error: Error) => {
      assert.ok(isUnexpected(error), error.message);
      assert.match(error.message, new RegExp(`more than ${limit} .*responseLimitCharacters`));
      return true;
    });
    await untilClosed(requests);
    assert.ok(bytes < limit + BUFFERED_LIMIT_BYTES, `${bytes}`);
  });
}

test('rejects with an ApiError whatever the type of a problem is called', async (t) => {
  const { open } = await serve(t, (_, response) => {
    response.writeHead(409, { 'content-type': 'application/problem+json' });
    response.end('{"type":"urn:problem-type:seller-product-api:constructor","title":"No"}');
  });
  await assert.rejects(open().products.get('prd_1'), ApiError);
});

test('does not time out while it sends a slow source', async (t) => {
  const timers = mockTimers(t);
  const rows = async function* () {
    for (let n = 0; n < 12; n += 1) {
      timers.pass(399);
      yield MUG;
    }
  };
  const { open } = await serve(t, (request, response) => {
    request.on('end', () => response.end('{"summary":{"created":1}}\n'));
  });
  const report = await open({ timeoutMs: 400 }).products.import(rows());
  assert.equal((await report.summary()).created, 1);
});

test('times out on a stalled report, and reconnects a stalled live stream', async (t) => {
  const stall: RequestListener = (_, response) => { response.write(': hello\n\n'); };
  const { open } = await serve(t, (_, response) => { response.write(' '); });
  const timers = mockTimers(t);
  const report = await open({ timeoutMs: 50_000 }).products.import('sku\n');
  await timers.find(50_000);
  const reading = report.summary();
  await timers.find(50_000);
  timers.pass(50_000);
  await assert.rejects(reading, TimeoutError);
  const live = await serve(t, stall, (_, response) => {
    response.write('id: 5\ndata: {"position":5}\n\n');
  });
  const changes = live.open({ timeoutMs: 50_000 }).changes({ after: 4, live: true });
  const following = changes.next();
  await timers.find(50_000); // for the response
  await timers.find(50_000); // for its body
  timers.pass(50_000);
  timers.pass(await timers.find(1, 100));
  assert.equal((await following).value?.position, 5);
  await changes.return();
  assert.equal(live.requests.length, 2);
});

test('ends a live stream if the history has been pruned', async (t) => {
  const { open } = await serve(t, (_, response) => response.end(), fail(410, 'history-pruned'));
  await assert.rejects(open().changes({ after: 4, live: true }).next(), ResyncRequiredError);
});

test('continues live changes after the server was unavailable', async (t) => {
  const event = (n: number): string => `id: ${n}\ndata: {"position":${n}}\n\n`;
  const listener: RequestListener = ({ url }, response) => {
    response.write(event(Number(new URL(url ?? '', 'http://x').searchParams.get('after')) + 1));
  };
  const first = createServer(listener).listen(0, '127.0.0.1');
  await once(first, 'listening');
  const { port } = first.address() as AddressInfo; // it listens on a port
  const second = createServer(listener);
  t.after(() => {
    second.close();
    second.closeAllConnections();
  });
  const shop = new SellerClient({
    baseUrl: `http://127.0.0.1:${port}`, key: KEY,
    async fetch(...request) {
      try {
        return await fetch(...request);
      } catch (error) {
        if (!second.listening) second.listen(port, '127.0.0.1');
        throw error;
      }
    },
  });
  for await (const { position } of shop.changes({ after: 6, live: true })) {
    if (position === 8) break;
    first.close();
    first.closeAllConnections();
  }
  assert.ok(second.listening, 'it was reached again');
});
