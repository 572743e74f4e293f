/** GET /api/v1/changes as a live stream: its events, where it starts, and who may read it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { askForEvents, type EventStream, openEvents, readEvents } from './event-stream.ts';
import { assertProblem } from '../../api/problem.ts';
import { CHANGES, openShop, readPosition, sync } from '../../api/stock/stock.ts';

const STREAM = { accept: 'text/event-stream' };

/** Asserts that a stream has sent each position in `(after, upTo]` exactly once. */
function assertGapless({ events }: EventStream, after: number, upTo: number): void {
  const positions = events.map(({ change }) => change?.position);
  assert.deepEqual(positions, Array.from({ length: upTo - after }, (_, n) => after + n + 1));
  assert.deepEqual(events.map(({ id }) => id), positions);
}

test('streams past and new changes, each event with its position', async (t) => {
  const { server, seller, ids } = await openShop(t, { A: 7 });
  const stream = await openEvents(t, server.port, seller);
  const { headers, statusCode } = stream.response;
  assert.equal(statusCode, 200);
  assert.equal(headers['content-type'], 'text/event-stream');
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['x-accel-buffering'], 'no');
  assert.equal(headers['content-length'], undefined);
  await stream.reach(1);
  assert.deepEqual(stream.comments, ['retry: 1000']);
  await sync(seller, [{ sku: 'A', set: 5 }], { reason: 'sold', source: 'erp' });
  await stream.reach(2);
  await seller.send({ method: 'DELETE', path: '/api/v1/products/sku/A' });
  await stream.reach(3);
  const page = (await seller.send({ path: CHANGES })).json();
  assert.deepEqual(stream.events.map(({ change }) => change), page.changes);
  const [created, moved, deleted] = page.changes;
  assert.deepEqual([created.type, moved.type, deleted.type], ['created', 'stock', 'deleted']);
  assert.deepEqual([created.data.id, deleted.data.id], [ids['A'], ids['A']]);
  assert.deepEqual(moved.data, {
    before: 7, after: 5, delta: -2, reason: 'sold', source: 'erp', sequence: null,
  });
  assertGapless(stream, 0, 3);
});

test('resumes after Last-Event-ID, which takes precedence over `after`', async (t) => {
  const { server, seller } = await openShop(t, { A: 1, B: 2, C: 3, D: 4 });
  const begun = async (query: string, id?: string): Promise<EventStream> => {
    const headers = id === undefined ? {} : { 'last-event-id': id };
    const stream = await openEvents(t, server.port, seller, { query, headers });
    await stream.reach(4);
    return stream;
  };
  assertGapless(await begun('after=2'), 2, 4);
  assertGapless(await begun('after=1', '3'), 3, 4);
  assertGapless(await begun('', '0'), 0, 4);
  assertGapless(await begun('after=1', ''), 1, 4);
});

test('rejects a malformed Last-Event-ID, and positions beyond the history', async (t) => {
  const { seller } = await openShop(t, { A: 1 });
  for (const id of ['x', '-1', '1.5', '1e3', '9'.repeat(17), '1, 2']) {
    const headers = { ...STREAM, 'last-event-id': id };
    assertProblem(await seller.send({ path: CHANGES, headers }), 400, 'invalid-data');
  }
  for (const [path, id] of [[`${CHANGES}?after=2`, ''], [CHANGES, '2']] as const) {
    const headers = { ...STREAM, 'last-event-id': id };
    assertProblem(await seller.send({ path, headers }), 400, 'invalid-query');
  }
});

test('skips changes of other types, and moves the id past them', async (t) => {
  const { server, seller } = await openShop(t, { A: 1, B: 2 });
  const stream = await openEvents(t, server.port, seller, { query: 'types=stock' });
  await stream.reach(2);
  assert.deepEqual(stream.events.map(({ change }) => change), [undefined]);
  await sync(seller, [{ sku: 'A', set: 5 }]);
  await stream.reach(3);
  await seller.create({});
  await stream.reach(4);
  assert.deepEqual(stream.events.map(({ id, change }) => [id, change?.type]), [
    [2, undefined], [3, 'stock'], [4, undefined],
  ]);
});

test('catches up with a long history and goes live during writes', async (t) => {
  const { server, seller } = await openShop(t, { A: 0 });
  const setAll = (from: number) => Array.from({ length: 4_500 }, (_, n) =>
    ({ sku: 'A', set: from + n }));
  await sync(seller, setAll(1));
  const streams = await Promise.all(Array.from({ length: 3 }, () =>
    openEvents(t, server.port, seller)));
  for (let n = 0; n < 40; n += 1) await sync(seller, [{ sku: 'A', set: 10_000 + n }]);
  await sync(seller, setAll(20_000));
  const last = await readPosition(server, seller);
  assert.equal(last, 9_041);
  for (const stream of streams) {
    await stream.reach(last);
    assertGapless(stream, 0, last);
  }
});

test('sends changes that another store on the same folder makes', async (t) => {
  const { server, seller } = await openShop(t, { A: 0 });
  const stream = await openEvents(t, server.port, seller);
  await stream.reach(1);
  const other = await openSqliteStore({ folder: server.folder });
  t.after(() => other.close());
  for (let n = 1; n <= 20; n += 1) {
    const { products: [product] } = await other.listProducts(seller.sellerId, {
      after: undefined, limit: 1,
    });
    assert.ok(product);
    const changes = [{ sku: product.sku, set: n }];
    await other.syncStock(seller, {
      changes, isAtomic: false, source: undefined, reason: undefined, completion: undefined,
    }, false);
    if (n % 5 === 0) await stream.reach(n + 1);
    if (n % 4 === 0) await seller.create({});
  }
  await stream.reach(26);
  assertGapless(stream, 0, 26);
});

test('sends every change to all streams of its seller, and to no others', async (t) => {
  const { server, seller } = await openShop(t, { A: 0 });
  const stranger = await server.makeSeller();
  const foreign = await openEvents(t, server.port, stranger);
  const streams = await Promise.all(Array.from({ length: 20 }, () =>
    openEvents(t, server.port, seller)));
  for (let n = 1; n <= 30; n += 1) await sync(seller, [{ sku: 'A', set: n }]);
  for (const stream of streams) {
    await stream.reach(31);
    assertGapless(stream, 0, 31);
  }
  await stranger.create({ name: 'Own' });
  await foreign.reach(1);
  assertGapless(foreign, 0, 1);
  assert.deepEqual(foreign.comments, ['retry: 1000']);
});

test('answers HEAD with the headers of GET, and opens no stream', async (t) => {
  const { server, seller } = await openShop(t, { A: 0 });
  for (let n = 0; n < 60; n += 1) {
    const answer = await seller.send({ method: 'HEAD', path: CHANGES, headers: STREAM });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-type'], 'text/event-stream');
    assert.equal(answer.text, '');
  }
  assert.deepEqual(server.reports, []);
});

test('compresses no stream, even if the client accepts compression', async (t) => {
  const { server, seller } = await openShop(t, { A: 0 });
  const stream = await openEvents(t, server.port, seller, {
    headers: { 'accept-encoding': 'gzip, br' },
  });
  assert.equal(stream.response.headers['content-encoding'], undefined);
  await stream.reach(1);
  assertGapless(stream, 0, 1);
});

test('rejects a stream without a key, and one whose key lacks the scope', async (t) => {
  const { server } = await openShop(t, {});
  assertProblem(await server.send({ path: CHANGES, headers: STREAM }), 401, 'key-missing');
  const limited = await server.makeSeller({
    scopes: ['products:read', 'products:write', 'stock:write', 'webhooks:write'],
  });
  const answer = await limited.send({ path: CHANGES, headers: STREAM });
  assertProblem(answer, 403, 'scope-missing');
});

test('rejects more than 50 streams per key, and frees a slot when a client disconnects',
  async (t) => {
    const { server, seller } = await openShop(t, { A: 0 });
    const streams = await Promise.all(Array.from({ length: 50 }, () =>
      openEvents(t, server.port, seller)));
    const rejected = await seller.send({ path: CHANGES, headers: STREAM });
    assertProblem(rejected, 503, 'unavailable');
    assert.equal(rejected.headers['retry-after'], '5');
    const waiting = await seller.send({ path: `${CHANGES}?after=1&wait=30` });
    assertProblem(waiting, 503, 'unavailable');
    assert.equal((await seller.send({ path: CHANGES })).status, 200);
    const other = await openEvents(t, server.port, await server.makeSeller());
    assert.equal(other.response.statusCode, 200);
    streams[0]?.leave();
    let response = await askForEvents(t, server.port, seller);
    while (response.statusCode === 503) {
      response.resume();
      response = await askForEvents(t, server.port, seller);
    }
    assert.equal(response.statusCode, 200);
    response.destroy();
    for (const stream of [other, ...streams]) stream.leave();
  });

test('sends events in order to a client that pauses and resumes reading', async (t) => {
  const { server, seller } = await openShop(t, { A: 0 });
  const reason = 'r'.repeat(200);
  const changes = Array.from({ length: 10_000 }, (_, n) => ({ sku: 'A', set: n + 1 }));
  for (const part of [changes, changes]) await sync(seller, part, { reason });
  const response = await askForEvents(t, server.port, seller);
  await once(response, 'readable');
  await sync(seller, changes.slice(0, 9_000), { reason });
  const stream = readEvents(response);
  await stream.reach(29_001);
  assertGapless(stream, 0, 29_001);
});

test('answers 405 to other methods', async (t) => {
  const { seller } = await openShop(t, {});
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await seller.send({ method, path: CHANGES });
    assertProblem(answer, 405, 'method-not-allowed');
    assert.equal(answer.headers.allow, 'GET, HEAD');
  }
});

test('keeps no stream open for a client that disconnects before it starts', async (t) => {
  const { server, seller } = await openShop(t, { A: 0 });
  for (let n = 0; n < 120; n += 1) {
    const outgoing = request({
      host: '127.0.0.1', port: server.port, path: CHANGES, agent: false,
      headers: { 'x-api-key': seller.key, ...STREAM },
    });
    outgoing.on('error', () => {});
    outgoing.end();
    await once(outgoing, 'socket');
    await once(outgoing.socket ?? outgoing, 'connect');
    if (n % 2 === 0) await sync(seller, [{ sku: 'A', set: n }]);
    outgoing.destroy();
  }
  let answer = await askForEvents(t, server.port, seller);
  while (answer.statusCode === 503) {
    answer.resume();
    answer = await askForEvents(t, server.port, seller);
  }
  answer.destroy();
  assert.deepEqual(server.reports, []);
});
