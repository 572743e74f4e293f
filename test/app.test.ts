/** The app as its embedder sees it: mounting, stopping, a failing store, and disconnects. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import type { App } from '../src/app.ts';
import { generateApiKey } from '../src/domain/access/api-key.ts';
import { AppError } from '../src/domain/error.ts';
import { type AppOptions, createApp } from '../src/features.ts';
import type { ErrorReport } from '../src/http/response/problem.ts';
import { listen } from '../src/http/server/listener.ts';
import type { Store } from '../src/store/store.ts';
import { makeClock } from './support/clock.ts';
import { type Answer, type Request, send } from './support/http.ts';
import { makeProduct, startServer, type TestSeller } from './support/server.ts';
import { assertProblem } from './api/problem.ts';

const PRODUCTS = '/api/v1/products';
const JSON_TYPE = { 'content-type': 'application/json' };

interface Mounted {
  readonly app: App;
  readonly port: number;
  readonly reports: ErrorReport[];
  /** The URLs that were passed on to the other handler. */
  readonly passedOn: (string | undefined)[];
  /** Resolves when the next response or its connection has closed. */
  nextEnd(): Promise<void>;
}

/** Mounts an app beside a handler that answers 418 to everything. */
async function mount(t: TestContext, options: AppOptions, hasNext = false): Promise<Mounted> {
  const reports: ErrorReport[] = [];
  const passedOn: (string | undefined)[] = [];
  const app = createApp({
    rateLimitPerMinute: 0, report: (entry) => reports.push(entry), ...options,
  });
  let onEnd = (): void => {};
  const listener = await listen((request, response) => {
    response.once('close', () => onEnd());
    const next = (): void => {
      passedOn.push(request.url);
      response.writeHead(418).end('a teapot');
    };
    if (hasNext) app.handle(request, response, next);
    else app.handle(request, response);
  }, { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  return {
    app, port: listener.port, reports, passedOn,
    nextEnd: () => new Promise<void>((resolve) => { onEnd = resolve; }),
  };
}

function ask(mounted: Mounted, { key }: TestSeller, request: Request): Promise<Answer> {
  const headers = { 'x-api-key': key, ...request.headers };
  return send(mounted.port, { ...request, headers });
}

function create(mounted: Mounted, seller: TestSeller, prefix = ''): Promise<Answer> {
  const body = JSON.stringify(makeProduct());
  return ask(mounted, seller, {
    method: 'POST', path: prefix + PRODUCTS, headers: JSON_TYPE, body,
  });
}

/** A store that creates products only once its gate is opened. */
function gated(store: Store) {
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const createProduct: Store['createProduct'] = async (actor, product) => {
    reached.resolve();
    await gate.promise;
    return store.createProduct(actor, product);
  };
  return { store: { ...store, createProduct }, open: gate.resolve, reached: reached.promise };
}

/** Rejections that nobody handled, until the end of the test. */
function watchRejections(t: TestContext): unknown[] {
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown): void => { rejections.push(reason); };
  process.on('unhandledRejection', onRejection);
  t.after(() => process.off('unhandledRejection', onRejection));
  return rejections;
}

/** Sends the head of a create and this much of its body, on a connection that the test may end. */
async function sendPart(
  port: number, { key }: TestSeller, body: string, lengthBytes: number,
): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write([
    `POST ${PRODUCTS} HTTP/1.1`, 'host: localhost', `x-api-key: ${key}`,
    'content-type: application/json', `content-length: ${lengthBytes}`, '', body,
  ].join('\r\n'));
  return socket;
}

test('serves below the path of its base URL and leaves the rest to another', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  for (const baseUrl of ['http://localhost/shop', 'https://example.com/shop/']) {
    const mounted = await mount(t, { store, baseUrl }, true);
    assert.equal((await ask(mounted, seller, { path: `/shop${PRODUCTS}` })).status, 200);
    assertProblem(await ask(mounted, seller, { path: '/shop/nothing' }), 404, 'not-found');
    assert.deepEqual(mounted.passedOn, []);
    const others = [
      '/', PRODUCTS, `/shopping${PRODUCTS}`, '/shop', `/SHOP${PRODUCTS}`, '/x?/shop/',
    ];
    for (const path of others) {
      const answer = await ask(mounted, seller, { path });
      assert.equal(answer.status, 418);
      assert.equal(answer.text, 'a teapot');
    }
    assert.deepEqual(mounted.passedOn, others);
  }
});

test('responds 404 outside its path if there is no other handler', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  const mounted = await mount(t, { store, baseUrl: 'http://localhost/shop' });
  for (const path of ['/', PRODUCTS, '/shop', `/shopping${PRODUCTS}`]) {
    assertProblem(await ask(mounted, seller, { path }), 404, 'not-found');
  }
});

test('puts its path into Location and Link', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  const mounted = await mount(t, { store, baseUrl: 'http://localhost/a/shop' }, true);
  const created = await create(mounted, seller, '/a/shop');
  const { location = '' } = created.headers;
  assert.equal(location, `/a/shop${PRODUCTS}/${created.json().id}`);
  assert.equal((await ask(mounted, seller, { path: location })).text, created.text);
  const second = await create(mounted, seller, '/a/shop');
  const list = await ask(mounted, seller, { path: `/a/shop${PRODUCTS}?limit=1` });
  const [, next = ''] = /^<(.+)>; rel="next"$/.exec(String(list.headers['link'])) ?? [];
  assert.ok(next.startsWith(`/a/shop${PRODUCTS}?`), next);
  const page = await ask(mounted, seller, { path: next });
  assert.deepEqual(page.json().products, [second.json()]);
});

test('shares one store with another app', async (t) => {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  const mounted = await mount(t, { store: server.store });
  assert.equal((await ask(mounted, seller, { path: PRODUCTS })).headers['etag'], '"0"');
  const created = await seller.create();
  const list = await ask(mounted, seller, { path: PRODUCTS });
  assert.deepEqual(list.json().products, [created.json()]);
});

test('allows 6,000 requests a minute by default', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const app = createApp({ store });
  const listener = await listen((...both) => app.handle(...both), { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  const { key } = await makeSeller();
  const { headers } = await send(listener.port, { path: PRODUCTS, headers: { 'x-api-key': key } });
  assert.equal(headers['ratelimit-policy'], '"requests";q=6000;w=60');
});

test('completes requests in flight while it closes, and rejects new ones', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  const slow = gated(store);
  const mounted = await mount(t, { store: slow.store, baseUrl: 'http://localhost/shop' }, true);
  const inFlight = create(mounted, seller, '/shop');
  await slow.reached;
  let isClosed = false;
  const closed = mounted.app.close().then(() => { isClosed = true; });
  for (const path of [`/shop${PRODUCTS}`, '/shop/nothing']) {
    const rejected = await ask(mounted, seller, { path });
    assertProblem(rejected, 503, 'unavailable');
    assert.match(rejected.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  }
  assert.equal((await ask(mounted, seller, { path: '/elsewhere' })).status, 418);
  assert.equal(isClosed, false);
  slow.open();
  assert.equal((await inFlight).status, 201);
  await closed;
  assertProblem(await ask(mounted, seller, { path: `/shop${PRODUCTS}` }), 503, 'unavailable');
});

test('closes immediately if nothing is in flight', async (t) => {
  const { store } = await startServer(t);
  const { app } = await mount(t, { store });
  await app.close();
  await app.close();
});

test('resolves every close when several wait for the same request', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  const slow = gated(store);
  const busy = await mount(t, { store: slow.store });
  const inFlight = create(busy, seller);
  await slow.reached;
  const closings = [busy.app.close(), busy.app.close()];
  slow.open();
  await Promise.all(closings);
  assert.equal((await inFlight).status, 201);
});

test('keeps the cause of an unknown error from the client and reports it by its id', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  const cause = new Error('SELECT secret FROM cellar');
  const fail = async (): Promise<never> => { throw cause; };
  const mounted = await mount(t, {
    store: { ...store, createProduct: fail, listProducts: fail, findProduct: fail },
  });
  const { location = '' } = (await seller.create()).headers;
  const answers = [
    await create(mounted, seller), await ask(mounted, seller, { path: PRODUCTS }),
    await ask(mounted, seller, { path: location }),
  ];
  for (const [index, answer] of answers.entries()) {
    const { instance = '' } = assertProblem(answer, 500, 'internal');
    assert.match(instance, /^urn:uuid:[0-9a-f-]{36}$/);
    assert.ok(!(answer.text + JSON.stringify(answer.headers)).includes('cellar'));
    const report = mounted.reports[index];
    assert.equal(`urn:uuid:${report?.id}`, instance);
    assert.equal(report?.error, cause);
  }
  assert.equal(mounted.reports.length, answers.length);
});

test('shows no text of an error that is marked as internal', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  const error = new AppError('internal', 'The cellar is open.', { cause: new Error('cellar') });
  const mounted = await mount(t, { store: { ...store, findGrant: async () => { throw error; } } });
  const answer = await ask(mounted, seller, { path: PRODUCTS });
  assertProblem(answer, 500, 'internal');
  assert.ok(!answer.text.includes('cellar'));
  assert.deepEqual(mounted.reports.map((report) => report.error), [error]);
});

test('tells a client when to retry if the store cannot write now', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  for (const [code, status, seconds, expected] of [
    ['unavailable', 503, 9, '9'], ['unavailable', 503, undefined, '5'],
    ['storage_full', 507, undefined, '5'],
  ] as const) {
    const cause = new Error('what the disk said');
    const details = seconds === undefined ? { cause } : { cause, retryAfterSeconds: seconds };
    const error = new AppError(code, 'Not now, please.', details);
    const mounted = await mount(t, {
      store: { ...store, createProduct: async () => { throw error; } },
    });
    const answer = await create(mounted, seller);
    assertProblem(answer, status, code.replace('_', '-'));
    assert.equal(answer.headers['retry-after'], expected);
    assert.deepEqual(mounted.reports.map((report) => report.error), [error]);
  }
});

test('does not throttle clients if the store cannot look up keys', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  const error = new AppError('unavailable', 'The database is busy.');
  const mounted = await mount(t, {
    store: { ...store, findGrant: async () => { throw error; } }, clock: makeClock(),
  });
  for (let n = 0; n < 70; n += 1) {
    assertProblem(await ask(mounted, seller, { path: PRODUCTS }), 503, 'unavailable');
  }
});

test('continues if the last use of a key cannot be written', async (t) => {
  const rejections = watchRejections(t);
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  const cause = new Error('no room for the last use');
  const mounted = await mount(t, {
    store: { ...store, noteKeyUse: async () => { throw cause; } },
  });
  assert.equal((await create(mounted, seller)).status, 201);
  assert.equal((await ask(mounted, seller, { path: PRODUCTS })).status, 200);
  assert.deepEqual(mounted.reports.map(({ error }) => error), [cause]);
  assert.deepEqual(rejections, []);
});

test('does not look up a malformed key', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const { key } = await makeSeller();
  let lookUps = 0;
  const findGrant: Store['findGrant'] = (hash) => {
    lookUps += 1;
    return store.findGrant(hash);
  };
  const mounted = await mount(t, { store: { ...store, findGrant } });
  const last = key.endsWith('0') ? '1' : '0';
  for (const text of ['', 'x', key.slice(0, -1) + last, `spk_${'0'.repeat(36)}`]) {
    const answer = await send(mounted.port, { path: PRODUCTS, headers: { 'x-api-key': text } });
    assert.equal(answer.status, 401);
  }
  assert.equal(lookUps, 0);
  for (const text of [key, generateApiKey()]) {
    await send(mounted.port, { path: PRODUCTS, headers: { 'x-api-key': text } });
  }
  assert.equal(lookUps, 2); // one for each request
});

test('tolerates a client that disconnects in the middle of a body', async (t) => {
  const rejections = watchRejections(t);
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  const reached = Promise.withResolvers<void>();
  const findGrant: Store['findGrant'] = async (hash) => {
    const grant = await store.findGrant(hash);
    reached.resolve();
    return grant;
  };
  const mounted = await mount(t, { store: { ...store, findGrant } });
  const ended = mounted.nextEnd();
  const socket = await sendPart(mounted.port, seller, '{"name":', 100);
  await reached.promise;
  socket.destroy();
  await ended;
  assert.equal((await create(mounted, seller)).headers['etag'], '"1"');
  await mounted.app.close(); // nothing is left in flight
  assert.deepEqual(mounted.reports, []);
  assert.deepEqual(rejections, []);
});

test('tolerates a client that disconnects before its response', async (t) => {
  const rejections = watchRejections(t);
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  const slow = gated(store);
  const mounted = await mount(t, { store: slow.store });
  const ended = mounted.nextEnd();
  const body = JSON.stringify({ ...makeProduct(), name: 'Nobody waits' });
  const socket = await sendPart(mounted.port, seller, body, Buffer.byteLength(body));
  await slow.reached;
  socket.destroy();
  await ended;
  slow.open();
  // The change was in flight and takes effect: a later request finds it.
  assert.equal((await create(mounted, seller)).headers['etag'], '"2"');
  const [first] = (await ask(mounted, seller, { path: PRODUCTS })).json().products;
  assert.equal(first.name, 'Nobody waits');
  await mounted.app.close();
  assert.deepEqual(mounted.reports, []);
  assert.deepEqual(rejections, []);
});

test('reports to standard error by default, one line each', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const seller = await makeSeller();
  const fail = async (): Promise<never> => { throw new Error('line one\nline two'); };
  const app = createApp({ store: { ...store, listProducts: fail }, rateLimitPerMinute: 0 });
  const listener = await listen((...both) => app.handle(...both), { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  const log = t.mock.method(console, 'error', () => {});
  const headers = { 'x-api-key': seller.key };
  const answer = await send(listener.port, { path: PRODUCTS, headers });
  const { instance } = assertProblem(answer, 500, 'internal');
  assert.equal(log.mock.callCount(), 1);
  const line = String(log.mock.calls[0]?.arguments[0]);
  assert.ok(!line.includes('\n'));
  const entry = JSON.parse(line);
  assert.equal(`urn:uuid:${entry.id}`, instance);
  assert.match(entry.error, /line one\nline two/);
  assert.ok(!inspect(entry).includes(seller.key));
});
