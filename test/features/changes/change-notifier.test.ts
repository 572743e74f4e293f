/** The notifier that live streams share: waking clients, ending streams, and releasing watches. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { ChangeNotifier } from '../../../src/features/changes/change-notifier.ts';
import type { StockChange } from '../../../src/domain/catalogue/stock-change.ts';
import type { App } from '../../../src/app.ts';
import type { SellerId } from '../../../src/domain/id.ts';
import { createApp } from '../../../src/features.ts';
import { listen } from '../../../src/http/server/listener.ts';
import type { Store } from '../../../src/store/store.ts';
import { send } from '../../support/http.ts';
import type { TestSeller, TestServer } from '../../support/server.ts';
import { askForEvents, openEvents, readEvents } from './event-stream.ts';
import { CHANGES, openShop, sync } from '../../api/stock/stock.ts';

const HEARTBEAT_MS = 15_000;
/** Where timers are mocked: no other test may depend on them. */
const OWN_SERVER = {};

interface Serving extends AsyncDisposable {
  readonly app: App;
  readonly port: number;
  /** The responses to all requests so far. */
  readonly responses: ServerResponse[];
}

/** Declare it with `await using`: the app must close before its store. */
async function serveApp(store: Store): Promise<Serving> {
  const responses: ServerResponse[] = [];
  const app = createApp({ store, rateLimitPerMinute: 0 });
  const listener = await listen((request, response) => {
    responses.push(response);
    app.handle(request, response);
  }, { host: '127.0.0.1', port: 0 });
  return {
    app, port: listener.port, responses,
    async [Symbol.asyncDispose]() {
      await Promise.all([listener.stop(), app.close()]);
    },
  };
}

/** A store that counts the watches of catalogues. */
function countWatches(store: Store): { store: Store; count: () => number } {
  const watches = new Set<() => void>();
  const watch: Store['watch'] = (sellerId, after, listener) => {
    const stop = store.watch(sellerId, after, (position) => {
      watches.delete(stop);
      listener(position);
    });
    watches.add(stop);
    return () => {
      watches.delete(stop);
      stop();
    };
  };
  return { store: { ...store, watch }, count: () => watches.size };
}

test('reads again after a change, even within one event-loop iteration', async (t) => {
  const { server, seller, ids } = await openShop(t, { A: 7 });
  const live = new ChangeNotifier(server.store);
  const read = async (after: number): Promise<number> =>
    (await live.read(seller.sellerId, { after })).next;
  for (let stock = 8, position = 1; ; stock += 1, position += 1) {
    const sent = move(server, seller, { id: ids['A'] ?? '', set: stock });
    await turn(); // hands the change to the writer thread
    const seen = await read(position);
    // The commit happens concurrently, and its notice arrives in the iteration of that read.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    await sent;
    if (seen > position) continue; // the commit came before the read
    const { signal } = new AbortController();
    assert.equal(await live.wait(seller.sellerId, position, 5_000, signal), true);
    assert.equal(await read(position), position + 1);
    return;
  }
});

function move({ store }: TestServer, seller: TestSeller, change: StockChange) {
  const sent = { isAtomic: false, source: undefined, reason: undefined, completion: undefined };
  return store.syncStock(seller, { ...sent, changes: [change] }, false);
}

test('wakes clients that wait for this seller, not for another', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const other = await server.makeSeller();
  const { store, count } = countWatches(server.store);
  const live = new ChangeNotifier(store);
  const leave = new AbortController();
  const waits = [1, 1, 2].map((position) =>
    live.wait(seller.sellerId, position, 10_000, leave.signal));
  const foreign = live.wait(other.sellerId, 0, 10_000, leave.signal);
  assert.equal(count(), 2, 'one watch per seller');
  await sync(seller, [{ sku: 'A', set: 5 }]);
  assert.deepEqual(await Promise.all(waits.slice(0, 2)), [true, true]);
  assert.equal(count(), 2);
  leave.abort();
  assert.deepEqual(await Promise.all([waits[2], foreign]), [false, false]);
  assert.equal(count(), 0);
  assert.equal(await live.wait(seller.sellerId, 9, 10_000, leave.signal), false);
  assert.equal(await live.wait(seller.sellerId, 9, 1, new AbortController().signal), false);
  assert.equal(count(), 0);
});

test('watches a catalogue only while a client waits for changes', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const { store, count } = countWatches(server.store);
  await using serving = await serveApp(store);
  const { port, responses } = serving;
  const streams = await Promise.all([1, 2, 3].map(() => openEvents(t, port, seller)));
  for (const stream of streams) await stream.reach(1);
  while (count() === 0) await turn();
  await sync(seller, [{ sku: 'A', set: 5 }]);
  for (const stream of streams) await stream.reach(2);
  assert.equal(count(), 1);
  for (const stream of streams) stream.leave();
  while (count() > 0) await turn();
  assert.equal(responses.length, 3);
  for (const response of responses) {
    if (!response.closed) await once(response, 'close');
    assert.equal(response.listenerCount('drain'), 0);
  }
});

test('ends streams and answers waiting requests when the app is closed', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const { store, count } = countWatches(server.store);
  await using serving = await serveApp(store);
  const { app, port } = serving;
  const headers = { 'x-api-key': seller.key };
  const waiting = send(port, { path: `${CHANGES}?after=1&wait=30`, headers });
  while (count() === 0) await turn();
  const stream = await openEvents(t, port, seller);
  await stream.reach(1);
  await app.close();
  const answer = await waiting;
  assert.deepEqual([answer.status, answer.text], [200, '{"changes":[],"next":1}']);
  await stream.ended;
  assert.equal(stream.response.complete, true);
  assert.equal(count(), 0);
  assert.equal((await send(port, { path: CHANGES, headers })).status, 503);
});

test('waits for a change no longer than the given time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let watches = 0;
  const watch = (): () => void => {
    watches += 1;
    return () => { watches -= 1; };
  };
  // The casts: it reads no other member of a store, and the seller needs only a legal id.
  const notifier = new ChangeNotifier({ watch } as unknown as Store);
  let isWoken: boolean | undefined;
  const waiting = notifier.wait(1 as SellerId, 7, 1_000, new AbortController().signal)
    .then((woken) => { isWoken = woken; });
  t.mock.timers.tick(999);
  await turn();
  assert.deepEqual([isWoken, watches], [undefined, 1]);
  t.mock.timers.tick(1);
  await waiting;
  assert.deepEqual([isWoken, watches], [false, 0]);
});

test('sends a heartbeat every 15 s', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 }, OWN_SERVER);
  const passTime = mockTime(t);
  const stream = await openEvents(t, server.port, seller);
  await stream.reach(1);
  await passTime(HEARTBEAT_MS - 1);
  assert.equal(stream.comments.length, 1);
  await Promise.race([stream.until(() => stream.comments.length === 2), keepPassing(passTime, 1)]);
  assert.equal(stream.comments[1], ': still here');
  await sync(seller, [{ sku: 'A', set: 1 }]);
  await stream.reach(2);
  stream.leave();
});

test('ends the stream of a revoked key at its next heartbeat', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 }, OWN_SERVER);
  const passTime = mockTime(t);
  const streams = [await openEvents(t, server.port, seller)];
  streams.push(await openEvents(t, server.port, seller, { query: 'types=stock' }));
  for (const stream of streams) await stream.reach(1);
  await server.store.revokeKey(seller);
  await passTime(HEARTBEAT_MS - 1);
  assert.deepEqual(streams.map(({ response }) => response.closed), [false, false]);
  const ended = Promise.all(streams.map((stream) => stream.ended));
  await Promise.race([ended, keepPassing(passTime, HEARTBEAT_MS)]);
  await ended;
  assert.deepEqual(streams.map(({ response }) => response.complete), [true, true]);
  assert.deepEqual(server.reports, []);
});

test('ends the stream of a revoked key within 15 s of its last change', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 }, OWN_SERVER);
  const passTime = mockTime(t);
  const stream = await openEvents(t, server.port, seller);
  await stream.reach(1);
  await passTime(HEARTBEAT_MS - 1_000);
  await sync(seller, [{ sku: 'A', set: 8 }]);
  await stream.reach(2);
  await server.store.revokeKey(seller);
  await passTime(HEARTBEAT_MS - 1);
  await Promise.race([stream.ended, keepPassing(passTime, 0)]);
  assert.equal(stream.response.complete, true);
});

test('buffers at most one page of the history for a client that does not read', async (t) => {
  const { server, seller } = await openShop(t, { A: 0 });
  await using serving = await serveApp(server.store);
  const { port, responses } = serving;
  const reason = 'r'.repeat(200);
  const fill = (from: number) => sync(seller, Array.from({ length: 10_000 }, (_, n) =>
    ({ sku: 'A', set: from + n })), { reason });
  for (const from of [1, 10_001, 20_001]) await fill(from);
  const response = await askForEvents(t, port, seller);
  const [answering] = responses;
  assert.ok(answering);
  let [writes, mostBytes] = [0, 0];
  const write = answering.write.bind(answering);
  answering.write = (...chunk: [never]): boolean => {
    writes += 1;
    const isTaken = write(...chunk);
    mostBytes = Math.max(mostBytes, answering.writableLength);
    return isTaken;
  };
  for (let quiet = 0, seen = 0; quiet < 200; quiet += 1) {
    await turn();
    if (writes > seen) [quiet, seen] = [0, writes];
  }
  assert.equal(answering.writableNeedDrain, true);
  const writesBefore = writes;
  await fill(30_001);
  assert.equal(writes, writesBefore);
  const stream = readEvents(response);
  await stream.reach(40_001);
  assert.deepEqual(stream.events.map(({ change }) => change?.position),
    Array.from({ length: 40_001 }, (_, n) => n + 1));
  assert.ok(mostBytes < 1024 * 1024, `${mostBytes} bytes`);
  stream.leave();
});

/** Mocks timers and `performance.now`; the result advances both. */
function mockTime(t: TestContext): (ms: number) => Promise<void> {
  let passedMs = 0;
  const start = performance.now(); // time now advances by `passedMs` only
  t.mock.method(performance, 'now', () => start + passedMs);
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  return async (ms) => {
    for (let n = 0; n < 20; n += 1) await turn(); // lets all timers start
    passedMs += ms;
    t.mock.timers.tick(ms);
    for (let n = 0; n < 20; n += 1) await turn();
  };
}

async function keepPassing(passTime: (ms: number) => Promise<void>, ms: number): Promise<void> {
  for (let n = 0; n < 100; n += 1) await passTime(ms);
}
