/** The `handle` of a shop in the program's own server: its cleanup, and its errors. */
import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createShop } from '../../src/embed/shop.ts';
import type { ShopOptions } from '../../src/embed/shop-options.ts';
import { BODY_LIMIT_BYTES } from '../../src/http/limits.ts';
import { makeDataFolder } from '../support/folder.ts';
import { type Request, send } from '../support/http.ts';
import { listenUntilEnd } from '../support/listening.ts';
import { makeProduct } from '../support/server.ts';

/** A shop inside a server; `prepare` represents other middleware. */
async function serveShop(
  t: TestContext, options: ShopOptions = {}, prepare: RequestListener = () => {},
) {
  const shop = await createShop({ folder: makeDataFolder(t) }, options);
  const url = await listenUntilEnd(t, (request, response) => {
    prepare(request, response);
    shop.handle(request, response);
  });
  t.after(() => shop.close());
  const { id } = await shop.sellers.create({ name: 'My shop' });
  const { key } = await shop.keys.create(id, { name: 'test' });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ask = (path: string, request: Partial<Request> = {}) => send(Number(new URL(url).port), {
    ...request, path: `/api/v1${path}`, agent, headers: { 'x-api-key': key, ...request.headers },
  });
  return { id, ask };
}

/** The numbers of listeners on a connection, and of timers of the process. */
function countHeld(socket: Socket) {
  return {
    listeners: socket.eventNames().map((name) => `${String(name)} ${socket.listenerCount(name)}`),
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
  };
}

test('leaves no listeners or timers on a keep-alive connection', async (t) => {
  const held: ReturnType<typeof countHeld>[] = [];
  const sockets = new Set<Socket>();
  const { ask } = await serveShop(t, { rateLimitPerMinute: 0 }, ({ socket }) => {
    sockets.add(socket);
    held.push(countHeld(socket));
  });
  const json = { 'content-type': 'application/json' };
  const product = (sku: string): string => JSON.stringify({ ...makeProduct(), sku });
  const tooLarge = ' '.repeat(BODY_LIMIT_BYTES + 1);
  const rounds = 20;
  for (let round = 0; round < rounds; round += 1) {
    const answers = [
      await ask('/products', { method: 'POST', headers: json, body: product(`A-${round}`) }),
      await ask('/products', { method: 'POST', headers: json, body: tooLarge }),
      await ask('/products', { headers: { 'x-api-key': '' } }),
      await ask('/products', { method: 'HEAD' }),
      await ask('/products', { headers: { accept: 'text/csv' } }),
      await ask('/products/import', {
        method: 'POST', body: gzipSync(product(`B-${round}`)),
        headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
      }),
    ];
    assert.deepEqual(answers.map(({ status }) => status), [201, 413, 401, 200, 200, 200]);
  }
  assert.equal(sockets.size, 1);
  const perRound = held.length / rounds;
  assert.deepEqual(held.slice(-perRound), held.slice(perRound, 2 * perRound));
});

test('authenticates with what other middleware has added to the request', async (t) => {
  const users = new WeakMap<IncomingMessage, { readonly seller: string }>();
  let seller = '';
  const { id, ask } = await serveShop(t, { authenticate: (request) => users.get(request) },
    (request) => {
      if (request.headers.cookie === 'session=mine') users.set(request, { seller });
    });
  seller = id;
  const statuses = ['session=mine', 'session=other'].map(async (cookie) =>
    (await ask('/products', { headers: { cookie, 'x-api-key': '' } })).status);
  assert.deepEqual(await Promise.all(statuses), [200, 401]);
});

test('returns 500, and reports the error that authenticate throws', async (t) => {
  const reported: unknown[] = [];
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', onRejection);
  t.after(() => process.off('unhandledRejection', onRejection));
  const [thrown, rejected] = [new Error('thrown'), new Error('rejected')];
  const { ask } = await serveShop(t, {
    report: ({ error }) => reported.push(error),
    onRequestComplete: () => { throw new Error('complete'); },
    authenticate: ({ headers }) => {
      if (headers.cookie === 'throw') throw thrown;
      return Promise.reject(rejected);
    },
  });
  for (const cookie of ['throw', 'reject']) {
    const { status, text } = await ask('/products', { headers: { cookie } });
    assert.equal(status, 500);
    assert.doesNotMatch(text, /thrown|rejected/);
  }
  assert.ok(reported.includes(thrown) && reported.includes(rejected));
  assert.deepEqual(rejections, []);
});
