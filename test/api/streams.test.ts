/**
 * Every streaming route ends its streams soon after their key is revoked; exports and live streams
 * also end at their maximum duration.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SPOOL_STEP_BYTES } from '../../src/api/limits.ts';
import { exchange, open } from '../http/raw.ts';
import { HELD_MS, holdTimers } from '../support/held-timers.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { STREAMS } from './long-streams.ts';
import type { AccessLogEntry as AnsweredRequest } from '../../src/http/request-record.ts';
import type { TestOptions, TestSeller, TestServer } from '../support/server.ts';
import { MOVEMENTS, openShop, STOCK } from './stock/stock.ts';

const PRODUCTS = '/api/v1/products';
/** One slot: the next stream opens only if the last one released it. */
const STREAM_LIMITS = {
  total: 1, perSeller: 1, perKey: 1, reauthorizeIntervalMs: 20, durationLimitMs: 60_000,
};
const BATCH_ROWS = 1_000;
const EXPORT = `${PRODUCTS}?format=csv`;

/** The part of a body that a client sends before it stops, by route and media type. */
const BODIES: Readonly<Record<string, string>> = {
  [`POST ${PRODUCTS}/import application/x-ndjson`]:
    '{"name":"Mug","category":"Kitchen","sku":"M","price":1,"stock":1}\n'.repeat(BATCH_ROWS),
  [`POST ${PRODUCTS}/import text/csv`]:
    `name,category,sku,price,stock\n${`${'Mug'.repeat(30)},K,M,1,1\n`.repeat(BATCH_ROWS + 200)}`,
  [`POST ${STOCK} application/x-ndjson`]: '{"sku":"A","adjust":1}\n'.repeat(BATCH_ROWS),
  [`POST ${STOCK} text/csv`]:
    `sku,adjust,reason\n${`A,1,${'x'.repeat(90)}\n`.repeat(BATCH_ROWS + 200)}`,
};

/** Whether cutting a stream destroys its connection rather than ending the response. */
const EXPORTS: Readonly<Record<string, boolean>> = {
  [`GET ${PRODUCTS} application/x-ndjson`]: true,
  [`GET ${PRODUCTS} text/csv`]: true,
  [`GET ${STOCK} application/x-ndjson`]: true,
  [`GET ${STOCK} text/csv`]: true,
  [`GET ${MOVEMENTS} application/x-ndjson`]: true,
  [`GET ${MOVEMENTS} text/csv`]: true,
  'GET /api/v1/changes text/event-stream': false,
};

/** A route that keeps writing long after a short body. */
const REVERTS = 'POST /api/v1/reverts application/x-ndjson';

interface Streaming {
  readonly server: TestServer;
  readonly seller: TestSeller;
  /** The requests whose responses ended or were cut off. */
  readonly entries: AnsweredRequest[];
}

async function startStreaming(
  t: TestContext, limits: TestOptions['streamLimits'] = {},
): Promise<Streaming> {
  const entries: AnsweredRequest[] = [];
  const { server, seller } = await openShop(t, { A: 1 }, {
    streamLimits: { ...STREAM_LIMITS, ...limits },
    onRequestComplete: (entry) => entries.push(entry),
  });
  makeEndless(t, server);
  return { server, seller, entries };
}

/** Makes every collection repeat one page endlessly. */
function makeEndless(t: TestContext, { store }: TestServer): void {
  const { exportProducts, listStockAt, listMovements, listChanges } = store;
  const repeat = <Item>(items: readonly Item[]): Item[] =>
    Array.from({ length: 500 }, () => items).flat();
  t.mock.method(store, 'exportProducts', async (...args: Parameters<typeof exportProducts>) => {
    const { position, pages } = await exportProducts(...args);
    const page = repeat((await pages.next()).value ?? []);
    await pages.return();
    return { position, pages: (async function* () { for (;;) yield page; })() };
  });
  t.mock.method(store, 'listStockAt', async (...args: Parameters<typeof listStockAt>) => {
    const { levels } = await listStockAt(args[0], args[1], { ...args[2], after: undefined });
    return { levels: repeat(levels), hasMore: true };
  });
  t.mock.method(store, 'listMovements', async (...args: Parameters<typeof listMovements>) => {
    const page = await listMovements(args[0], { ...args[1], after: 0 });
    return { ...page, movements: repeat(page.movements), next: 0 };
  });
  t.mock.method(store, 'listChanges', async (...args: Parameters<typeof listChanges>) => {
    const page = await listChanges(args[0], { ...args[1], after: 0 });
    const next = args[1].after + 1;
    return { changes: repeat(page.changes), next, position: next + 1 };
  });
}

function ask(
  t: TestContext, { server }: Streaming, { key }: Pick<TestSeller, 'key'>, name: string,
): ClientRequest {
  const [method = '', path = '', type = ''] = name.split(' ');
  const outgoing = request({
    host: '127.0.0.1', port: server.port, method, path, agent: false,
    headers: { 'x-api-key': key, [method === 'GET' ? 'accept' : 'content-type']: type },
  });
  outgoing.on('error', () => {}); // the server may destroy the connection
  t.after(() => outgoing.destroy());
  return outgoing;
}

/** The response, before its body is read. */
async function readHead(outgoing: ClientRequest): Promise<IncomingMessage> {
  const [response] = await once(outgoing, 'response') as [IncomingMessage];
  response.on('error', () => {});
  return response;
}

async function readRest(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (!response.closed) await new Promise<void>((resolve) => response.once('close', resolve));
  return Buffer.concat(chunks).toString();
}

async function untilAnswered({ entries }: Streaming, path: string): Promise<AnsweredRequest> {
  for (;;) {
    const found = entries.find(({ route }) => route === path);
    if (found) return found;
    await new Promise(setImmediate);
  }
}

test('has a case for every route that sends or accepts a stream', () => {
  const cases = [...Object.keys(EXPORTS), ...Object.keys(BODIES), REVERTS];
  assert.deepEqual(cases.toSorted(), STREAMS.toSorted());
});

for (const [name, isDestroyed] of Object.entries(EXPORTS)) {
  test(`ends the stream of a revoked key whose client does not read: ${name}`, async (t) => {
    const streaming = await startStreaming(t);
    const { server, seller } = streaming;
    const response = await readHead(ask(t, streaming, seller, name).end());
    assert.equal(response.statusCode, 200);
    const other = await server.makeSeller();
    const refused = await readHead(ask(t, streaming, other, name).end());
    assert.deepEqual([refused.statusCode, refused.headers['retry-after']], [503, '5']);
    refused.resume();
    const [, path = ''] = name.split(' ');
    streaming.entries.length = 0;
    await server.store.revokeKey(seller);
    const { code, status } = await untilAnswered(streaming, path);
    assert.deepEqual([status, code], [200, 'key_unknown']);
    await readRest(response);
    if (isDestroyed) assert.equal(response.complete, false, 'the stream seems complete');
    const next = await readHead(ask(t, streaming, other, name).end());
    assert.equal(next.statusCode, 200, 'the slot was not released');
    next.destroy();
    assert.deepEqual(server.reports, []);
  });

  test(`ends a stream at its maximum duration: ${name}`, async (t) => {
    const timers = holdTimers(t);
    const streaming = await startStreaming(t, { durationLimitMs: HELD_MS });
    const { server, seller } = streaming;
    const response = await readHead(ask(t, streaming, seller, name).end());
    response.once('data', () => timers.run());
    const text = await readRest(response);
    assert.equal(response.complete, !isDestroyed);
    assert.ok(text.length > 0);
    assert.equal((await seller.send({ path: PRODUCTS })).status, 200);
    assert.deepEqual(server.reports, []);
  });
}

for (const [name, body] of Object.entries(BODIES)) {
  test(`ends the request of a revoked key whose client stops sending: ${name}`, async (t) => {
    const streaming = await startStreaming(t);
    const { server, seller } = streaming;
    const outgoing = ask(t, streaming, seller, name);
    outgoing.write(body);
    const response = await readHead(outgoing);
    assert.equal(response.statusCode, 200);
    const position = (await server.store.findSeller(seller.sellerId))?.position;
    await server.store.revokeKey(seller);
    const text = await readRest(response);
    assert.equal(response.complete, true);
    const { problem } = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
    assert.equal(problem.status, 401);
    assert.equal(problem.type, 'urn:problem-type:seller-product-api:key-unknown');
    outgoing.end(body);
    assert.equal((await server.store.findSeller(seller.sellerId))?.position, position);
    assert.deepEqual(server.reports, []);
  });

  test(`rejects a revoked key whose body has not begun: ${name}`, async (t) => {
    const streaming = await startStreaming(t);
    const { server, seller } = streaming;
    const outgoing = ask(t, streaming, seller, name);
    outgoing.flushHeaders();
    const answered = readHead(outgoing); // it may be there before the revocation resolves
    await once(outgoing, 'socket');
    await server.store.revokeKey(seller);
    const response = await answered;
    assert.equal(response.statusCode, 401);
    assert.equal(response.headers['content-type'], 'application/problem+json');
  });
}

test('ends a revert whose key is revoked', async (t) => {
  const { server, seller } = await startStreaming(t);
  const id = (await server.store.listProducts(seller.sellerId, { after: undefined, limit: 1 }))
    .products[0]?.id ?? assert.fail();
  const states = { closed: 0 };
  const one = { id, sku: undefined, status: 'unchanged', position: 1 } as const;
  t.mock.method(server.store, 'startRevert', async () => ({
    importId: undefined, isReplay: false, finish: async () => 1,
    async next() {
      await nextTurn();
      return [one];
    },
    [Symbol.dispose]: () => { states.closed += 1; },
  }));
  const outgoing = request({
    host: '127.0.0.1', port: server.port, method: 'POST', path: '/api/v1/reverts', agent: false,
    headers: { 'x-api-key': seller.key, 'content-type': 'application/json' },
  });
  t.after(() => outgoing.destroy());
  const response = await readHead(outgoing.end('{"after":0,"up_to":1}'));
  assert.equal(response.statusCode, 200);
  const rest = readRest(response);
  await server.store.revokeKey(seller);
  const { problem } = JSON.parse((await rest).trimEnd().split('\n').at(-1) ?? '');
  assert.equal(problem.status, 401);
  assert.ok(problem.summary.unchanged > 0);
  assert.equal(states.closed, 1);
  assert.deepEqual(server.reports, []);
});

describe('an export over HTTP/1.0', () => {
  const format = ({ key }: TestSeller, method = 'GET', fields = ''): string =>
    `${method} ${EXPORT} HTTP/1.0\r\nhost: x\r\nx-api-key: ${key}\r\n${fields}\r\n`;

  test('has a length, and is not compressed', async (t) => {
    const { server, seller } = await openShop(t, { A: 1, B: 2 }, { streamLimits: STREAM_LIMITS });
    const { text } = await seller.send({ path: EXPORT });
    const bytes = format(seller, 'GET', 'accept-encoding: gzip\r\n');
    const [head = '', body] = (await exchange(t, server.port, bytes)).split('\r\n\r\n');
    assert.equal(body, text);
    assert.match(head, new RegExp(`^content-length: ${text.length}$`, 'm'));
    assert.match(head, /^vary: accept, accept-encoding$/m);
  });

  for (const limit of ['spoolTotalBytes', 'spoolPerSellerBytes'] as const) {
    test(`gets 503 before its first byte beyond ${limit}`, async (t) => {
      const limits = { [limit]: 3 * SPOOL_STEP_BYTES };
      const { server, seller } = await startStreaming(t, limits);
      for (let round = 0; round < 2; round += 1) {
        const text = await exchange(t, server.port, format(seller));
        assert.match(text, /^HTTP\/1\.1 503 .*\r\nretry-after: 5\r\n/s);
        assert.match(text, /proxy_http_version 1\.1/);
      }
      assert.deepEqual(server.reports, []);
    });
  }

  test('gets 503 before its first byte if the disk is full', async (t) => {
    const folder = mountSmallDisk(t, '1m');
    if (folder === undefined) return;
    const { TMPDIR } = process.env;
    t.after(() => {
      if (TMPDIR === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = TMPDIR;
    });
    const { server, seller } = await startStreaming(t);
    process.env['TMPDIR'] = folder;
    const text = await exchange(t, server.port, format(seller));
    assert.match(text, /^HTTP\/1\.1 503 .*proxy_http_version 1\.1/s);
    assert.equal(server.reports.length, 1); // the operator sees the cause
  });

  test('gives its room back, and takes only what it needs', async (t) => {
    const limits = { spoolTotalBytes: SPOOL_STEP_BYTES };
    const { server, seller } = await openShop(t, { A: 1 }, { streamLimits: limits });
    for (let round = 0; round < 3; round += 1) {
      assert.match(await exchange(t, server.port, format(seller)), /^HTTP\/1\.1 200 /);
    }
  });

  test('gets 401 if its key is revoked before its first byte', async (t) => {
    const { server, seller } = await startStreaming(t);
    const answer = exchange(t, server.port, format(seller));
    await server.store.revokeKey(seller);
    assert.match(await answer, /^HTTP\/1\.1 401 /);
    assert.deepEqual(server.reports, []);
  });

  test('ends when its client disconnects before its first byte', async (t) => {
    const { server, seller, entries } = await startStreaming(t);
    const socket = await open(t, server.port);
    socket.write(format(seller));
    // Until it has the slot.
    while ((await seller.send({ path: EXPORT })).status !== 503) await nextTurn();
    socket.destroy();
    while (!entries.some(({ code }) => code === 'invalid_data')) await nextTurn();
    assert.match(await exchange(t, server.port, format(seller, 'HEAD')), /^HTTP\/1\.1 200 /);
    assert.deepEqual(server.reports, []);
  });
});
