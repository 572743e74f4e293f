/** How the client handles servers that fail, stall, redirect or disconnect. */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import {
  ApiError, ConnectionError, InvalidDataError, NotFoundError, RateLimitedError,
  ResyncRequiredError, SellerClient, TimeoutError, UnavailableError,
} from '../../src/client/index.ts';
import { breakOff, fail, KEY, MUG, serve, succeed } from './answers.ts';
import { mockTimers } from './timers.ts';

test('retries a change with the same Idempotency-Key until it succeeds', async (t) => {
  const { open, requests } = await serve(
    t, breakOff, fail(503, 'unavailable', { 'retry-after': '0' }), succeed);
  assert.equal((await open().products.create(MUG)).id, 'prd_1');
  const keys = requests.map(({ headers }) => headers['idempotency-key']);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  assert.match(String(keys[0]), /^"[0-9a-f-]{36}"$/);
});

test('sends the Idempotency-Key of the caller, and none with a read', async (t) => {
  const { open, requests } = await serve(t, succeed);
  await open().products.create(MUG, { idempotencyKey: 'order-7' });
  await open().products.get('prd_1');
  assert.deepEqual(requests.map(({ headers }) => headers['idempotency-key']),
    ['"order-7"', undefined]);
});

test('repeats a request as often as its caller allows', async (t) => {
  const { open, requests } = await serve(t, fail(503, 'unavailable', { 'retry-after': '0' }));
  await assert.rejects(open().products.get('prd_1', { retries: 0 }), UnavailableError);
  assert.equal(requests.length, 1);
  await assert.rejects(open({ retries: 0 }).products.create(MUG, { retries: 1 }), UnavailableError);
  assert.equal(requests.length, 3);
});

test('calls hooks with each request and response, but not with the key', async (t) => {
  const { open, requests } = await serve(
    t, fail(503, 'unavailable', { 'retry-after': '0' }), succeed);
  const seen: unknown[] = [];
  const shop = open({
    onRequest({ method, url, attempt, headers }) {
      seen.push(`${method} ${new URL(url).pathname} ${attempt} ${headers.get('x-api-key')}`);
      headers.set('traceparent', `trace-${attempt}`);
      headers.set('x-api-key', 'spk_of_a_hook');
    },
    onResponse: ({ status, headers }) => seen.push(status, headers.get('retry-after')),
  });
  await shop.products.get('prd_1', { onResponse: ({ attempt }) => seen.push(attempt) });
  const path = 'GET /api/v1/products/prd_1';
  assert.deepEqual(seen, [`${path} 1 null`, 503, '0', 1, `${path} 2 null`, 200, null, 2]);
  assert.deepEqual(requests.map(({ headers }) => [headers['traceparent'], headers['x-api-key']]),
    [['trace-1', KEY], ['trace-2', KEY]]);
});

test('ends a request with the error of a hook, and does not repeat it', async (t) => {
  const { open, requests } = await serve(t, succeed);
  const fault = new TypeError('A bug of the program');
  const hook = () => { throw fault; };
  await assert.rejects(open({ onRequest: hook }).products.get('prd_1'), (error) => error === fault);
  assert.equal(requests.length, 0);
  for (const call of [
    () => open({ onResponse: hook }).products.get('prd_1'),
    () => open().products.get('prd_1', { onResponse: hook }),
  ]) await assert.rejects(call, (error) => error === fault);
  assert.equal(requests.length, 2);
});

test('rejects options of a client that it does not know or cannot use', () => {
  const options = { baseUrl: 'https://shop.invalid', key: KEY };
  for (const [wrong, message] of [
    [{ ...options, timeout: 5 }, /timeout: Is not an option/],
    [{ ...options, timeout_ms: 5 }, /timeout_ms: .*Write timeoutMs\./],
    [{ ...options, timeoutMs: 2 ** 31 }, /timeoutMs: Must be whole milliseconds/],
    [{ ...options, retries: -1 }, /retries: Must be a whole number/],
    [{ ...options, baseUrl: 'ftp://x' }, /baseUrl: Must be an http or https URL/],
    [{ ...options, baseUrl: undefined }, /baseUrl: Must be/],
    [{ ...options, key: 'with space' }, /key: Must be an API key/],
    [{ baseUrl: options.baseUrl }, /key: Must be an API key/],
    [undefined, /options: Must be an object/],
  ] as const) {
    // The cast: as a program in JavaScript passes them.
    assert.throws(() => new SellerClient(wrong as never), (error) => {
      assert.ok(error instanceof InvalidDataError);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /with space/);
      return true;
    });
  }
});

test('waits for the Retry-After time', async (t) => {
  const { open, requests } = await serve(
    t, fail(429, 'rate-limited', { 'retry-after': '20' }), succeed);
  const timers = mockTimers(t);
  const reading = open().products.get('prd_1');
  const delayMs = await Promise.race([timers.find(20_000, 30_000), reading]);
  assert.equal(typeof delayMs, 'number', 'it does not wait');
  assert.equal(requests.length, 1);
  timers.pass(Number(delayMs));
  await reading;
  assert.equal(requests.length, 2);
});

test('does not wait longer than 30 s, but leaves the retry to the caller', async (t) => {
  const { open, requests } = await serve(t, fail(429, 'rate-limited', { 'retry-after': '31' }));
  await assert.rejects(open().products.get('prd_1'), (error) => {
    assert.ok(error instanceof RateLimitedError);
    assert.equal(error.retryAfterSeconds, 31);
    return true;
  });
  assert.equal(requests.length, 1);
});

test('does not retry permanent errors', async (t) => {
  for (const [status, code, expected] of [
    [400, 'invalid-data', InvalidDataError], [404, 'not-found', NotFoundError],
    [410, 'history-pruned', ResyncRequiredError], [500, 'internal', ApiError],
  ] as const) {
    const { open, requests } = await serve(t, fail(status, code));
    await assert.rejects(open().products.create(MUG), expected);
    assert.equal(requests.length, 1);
  }
});

test('gives up after the given number of retries', async (t) => {
  const { open, requests } = await serve(t, breakOff);
  await assert.rejects(open({ retries: 1 }).products.create(MUG), ConnectionError);
  assert.equal(requests.length, 2);
});

test('sends a stream only once', async (t) => {
  const { open, requests } = await serve(t, breakOff);
  const rows = async function* () { yield MUG; };
  await assert.rejects(open().products.import(rows()), ConnectionError);
  assert.equal(requests.length, 1);
});

test('times out if the server does not respond, or the response stalls', async (t) => {
  const stall: RequestListener = (_, response) => { response.write('{'); };
  for (const answer of [() => {}, stall]) {
    const { open } = await serve(t, answer);
    await assert.rejects(
      open({ timeoutMs: 50, retries: 0 }).products.get('prd_1'), TimeoutError);
  }
});

test('ends immediately when the caller aborts, also between retries', async (t) => {
  const { open } = await serve(t, fail(503, 'unavailable', { 'retry-after': '20' }));
  const timers = mockTimers(t);
  const stop = new AbortController();
  let error: unknown;
  open().products.get('prd_1', { signal: stop.signal })
    .catch((reason: unknown) => { error = reason; });
  await timers.find(20_000, 30_000);
  stop.abort(new Error('enough'));
  await nextIteration();
  assert.match(String(error), /enough/);
});

test('follows no redirect, which would receive the key', async (t) => {
  const other = await serve(t, succeed);
  const { open } = await serve(t, (_, response) => {
    response.writeHead(308, { location: `${other.baseUrl}/api/v1/products/prd_1` }).end();
  });
  await assert.rejects(open().products.get('prd_1'), /redirects to .* use it as baseUrl/);
  assert.equal(other.requests.length, 0);
});

test('explains a response that is not from this API', async (t) => {
  const { open } = await serve(t, (_, response) => {
    response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not here</h1>');
  });
  await assert.rejects(open().products.get('prd_1'), (error) => {
    assert.ok(error instanceof NotFoundError);
    assert.match(error.message, /status 404, but not like a Seller Product API server/);
    return true;
  });
});

test('includes the key in no error', async (t) => {
  const { open, baseUrl } = await serve(t, breakOff);
  const error = await open({ retries: 0 }).products.get('x').catch((thrown: unknown) => thrown);
  assert.doesNotMatch(String(error) + JSON.stringify(error), /spk_/);
  assert.throws(() => new SellerClient({ baseUrl, key: `${KEY}\n` }), (thrown: unknown) => {
    assert.doesNotMatch(String(thrown), /aaaa/);
    return true;
  });
});

test('throws for a report that is cut off, and for one that ends with a problem', async (t) => {
  const half: RequestListener = (_, response) => {
    response.write('{"line":2,"sku":"A","status":"failed"}\n', () => response.destroy());
  };
  const problem = { type: 'urn:problem-type:seller-product-api:invalid-data', title: 'Invalid' };
  const ended: RequestListener = (_, response) => response.end(`${JSON.stringify({
    problem: { ...problem, status: 400, detail: 'Not UTF-8.', summary: { created: 7 } },
  })}\n`);
  const { open } = await serve(t, half, ended);
  const first = await open().products.import('sku\nA\n');
  await assert.rejects(first.summary(), ConnectionError);
  const second = await open().products.import('sku\nA\n');
  await assert.rejects(second.summary(), (error) => {
    assert.ok(error instanceof InvalidDataError);
    assert.deepEqual(error.problem['summary'], { created: 7 });
    return true;
  });
});

test('continues a live stream after its last change, however it ends', async (t) => {
  const event = (position: number) =>
    `id: ${position}\ndata: {"position":${position},"type":"stock","data":{}}\n\n`;
  const { open, requests } = await serve(
    t,
    (_, response) => { response.write(`: hello\n\n${event(5)}`, () => response.destroy()); },
    (_, response) => response.end(`${event(6)}id: 9\n\n`),
    breakOff,
    (_, response) => { response.write(event(10)); },
  );
  const positions: (number | string)[] = [];
  const stop = new AbortController();
  const changes = open().changes({ after: 4, live: true, signal: stop.signal });
  for await (const { position } of changes) {
    positions.push(position);
    if (position === 10) break;
  }
  assert.deepEqual(positions, [5, 6, 10]);
  assert.deepEqual(requests.map(({ url }) => new URL(url ?? '', 'http://x').search),
    ['?after=4', '?after=5', '?after=9', '?after=9']);
});
