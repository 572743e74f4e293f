/** The access log entry of each request: its route, its result, and nothing more. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { routes } from './support/routes.ts';
import { routes as pages } from '../src/features/portal/routes.ts';
import { formatKeyId, formatSellerId } from '../src/domain/id.ts';
import { makeClock } from './support/clock.ts';
import { startServer } from './support/server.ts';
import { makeWitness } from './support/witness.ts';

const PRODUCTS = '/api/v1/products';

async function start(t: TestContext) {
  const witness = makeWitness();
  const clock = makeClock();
  const server = await startServer(
    t, { onRequestComplete: witness.onRequestComplete, portal: true, clock },
  );
  return { ...server, witness, clock };
}

async function open(t: TestContext, port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {}); // a server may end it
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

test('logs every route under its pattern, whatever the path contains', async (t) => {
  const { send, witness, clock } = await start(t);
  const all = [
    ...routes,
    ...pages.map(({ method, path }) => ({
      method, path: path === '/' ? '/portal' : `/portal${path}`,
    })),
  ];
  for (const [index, { method, path }] of all.entries()) {
    clock.now += 1_000; // within the rate limit of pages
    await send({ method, path: path.replaceAll(/\{\w+\}/g, 'canary') });
    const entry = witness.entries[index];
    assert.deepEqual([entry?.method, entry?.route], [method, path]);
  }
  assert.equal(witness.entries.length, all.length);
});

test('logs unknown paths and unusual methods under one name each', async (t) => {
  const { send, witness } = await start(t);
  await send({ path: '/canary' });
  await send({ path: '/api/v1/canary?canary' });
  await send({ path: '/portal/canary' });
  await send({ method: 'PROPFIND', path: PRODUCTS });
  await send({ method: 'DELETE', path: PRODUCTS });
  assert.deepEqual(witness.entries.map(({ method, route, status, code }) =>
    [method, route, status, code]), [
    ['GET', 'unknown', 404, 'not_found'],
    ['GET', 'unknown', 404, 'not_found'],
    ['GET', 'unknown', 404, 'not_found'],
    ['OTHER', 'unknown', 405, 'method_not_allowed'],
    ['DELETE', 'unknown', 405, 'method_not_allowed'],
  ]);
});

test('names the seller, the address and the outcome', async (t) => {
  const { makeSeller, send, witness } = await start(t);
  const seller = await makeSeller();
  const created = await seller.create();
  const [entry] = witness.entries;
  assert.equal(entry?.status, 201);
  assert.equal(entry?.code, undefined);
  assert.equal(entry?.isComplete, true);
  assert.equal(entry?.sentBytes, Buffer.byteLength(created.text));
  assert.equal(entry?.address, '127.0.0.1');
  assert.deepEqual([entry?.sellerId, entry?.keyId],
    [formatSellerId(seller.sellerId), formatKeyId(seller)]);
  assert.ok(entry !== undefined && entry.durationMs > 0);
  const rejected = await send({ path: PRODUCTS });
  const [, second] = witness.entries;
  assert.deepEqual([second?.status, second?.code], [401, 'key_missing']);
  assert.equal(second?.sellerId, undefined);
  assert.equal(second?.sentBytes, Buffer.byteLength(rejected.text));
  const head = await seller.send({ method: 'HEAD', path: PRODUCTS });
  assert.equal(head.status, 200);
  assert.equal(witness.entries[2]?.sentBytes, 0);
});

test('continues the trace that a request names', async (t) => {
  const { send, witness } = await start(t);
  const [traceId, parentSpanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  await send({ path: PRODUCTS, headers: { traceparent: `00-${traceId}-${parentSpanId}-01` } });
  await send({ path: PRODUCTS, headers: { traceparent: 'canary' } });
  const [known, begun] = witness.entries;
  assert.deepEqual([known?.traceId, known?.parentSpanId], [traceId, parentSpanId]);
  assert.match(begun?.traceId ?? '', /^[0-9a-f]{32}$/);
  assert.equal(begun?.parentSpanId, undefined);
});

test('logs a stream when it ends, with its bytes', async (t) => {
  const { makeSeller, witness } = await start(t);
  const seller = await makeSeller();
  for (let n = 0; n < 20; n += 1) await seller.create();
  const answer = await seller.send({ path: `${PRODUCTS}?format=csv` });
  await witness.wait(21);
  const entry = witness.entries[20];
  assert.equal(entry?.isComplete, true);
  assert.equal(entry?.sentBytes, Buffer.byteLength(answer.text));
});

test('logs a request once if its client disconnects', async (t) => {
  const { makeSeller, port, send, witness } = await start(t);
  const { key } = await makeSeller();
  const head = `Host: 127.0.0.1\r\nx-api-key: ${key}\r\n`;
  const live = await open(t, port,
    `GET /api/v1/changes HTTP/1.1\r\n${head}Accept: text/event-stream\r\n\r\n`);
  await once(live, 'data');
  live.destroy();
  await witness.wait(1);
  const half = await open(t, port, `POST ${PRODUCTS} HTTP/1.1\r\n${head}`
    + 'Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n');
  await once(half, 'data'); // the server has started to process the request
  half.end('{');
  half.destroy();
  await witness.wait(2);
  await send({ path: '/canary' });
  assert.deepEqual(witness.entries.map(({ route, isComplete, address }) =>
    [route, isComplete, address]), [
    ['/api/v1/changes', false, '127.0.0.1'],
    [PRODUCTS, false, '127.0.0.1'],
    ['unknown', true, '127.0.0.1'],
  ]);
});

test('logs a response as complete that was sent before the whole request arrived', async (t) => {
  const { makeSeller, port, witness } = await start(t);
  const { key } = await makeSeller();
  const socket = await open(t, port, `POST ${PRODUCTS} HTTP/1.1\r\nHost: 127.0.0.1\r\n`
    + `x-api-key: ${key}\r\nConnection: close\r\nContent-Type: application/json\r\n`
    + 'Content-Length: 1000000\r\n\r\n{');
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 413 /);
  await witness.wait(1);
  const [entry] = witness.entries;
  assert.deepEqual([entry?.status, entry?.code, entry?.isComplete], [413, 'body_too_large', true]);
});

test('logs no text from a client', async (t) => {
  const { makeSeller, witness } = await start(t);
  const seller = await makeSeller();
  const canary = 'canary0123456789';
  const headers = {
    authorization: `Bearer ${canary}`, cookie: `${canary}=${canary}`, 'user-agent': canary,
    referer: `http://${canary}/`, 'x-forwarded-for': canary, tracestate: `${canary}=1`,
    traceparent: canary, 'idempotency-key': canary, 'content-type': 'application/json',
  };
  const body = JSON.stringify({ name: canary, category: canary, sku: canary, price: 1, stock: 1 });
  await seller.send({ method: 'POST', path: PRODUCTS, headers, body });
  await seller.send({ path: `${PRODUCTS}?q=${canary}`, headers });
  await seller.send({ path: `${PRODUCTS}/sku/${canary}?${canary}=${canary}`, headers });
  await seller.send({ path: `/${canary}`, headers: { 'x-api-key': `${seller.key}${canary}` } });
  await seller.send({ path: `/portal/${canary}?code=${canary}`, headers });
  assert.equal(witness.entries.length, 5);
  assert.equal(witness.entries[0]?.status, 201);
  const logged = JSON.stringify(witness.entries);
  assert.ok(!logged.includes(canary), logged);
  assert.ok(!logged.includes(seller.key));
});

test('responds although the listener throws, and reports the error', async (t) => {
  const server = await startServer(t, { onRequestComplete: () => { throw new Error('full'); } });
  assert.equal((await server.send({ path: PRODUCTS })).status, 401);
  assert.deepEqual(server.reports.map(({ id }) => id), ['answered']);
});
