/** Streamed responses of the whole app: shutdown, errors in the middle, and disconnects. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { App } from '../src/app.ts';
import { createApp } from '../src/features.ts';
import type { ErrorReport } from '../src/http/response/problem.ts';
import { listen } from '../src/http/server/listener.ts';
import type { Store } from '../src/store/store.ts';
import type { Product } from '../src/domain/catalogue/product-fields.ts';
import { send } from './support/http.ts';
import { startServer, type TestSeller } from './support/server.ts';
import { readToEnd, readUntil } from './http/raw.ts';

const EXPORT = '/api/v1/products?format=ndjson';

type Page = readonly Product[];

interface Exporting {
  readonly app: App;
  readonly port: number;
  readonly seller: TestSeller;
  readonly reports: ErrorReport[];
}

/** An app whose exports have these pages, created from a page with one product. */
async function serveExport(
  t: TestContext, makePages: (page: Page) => AsyncGenerator<Page, void, void>,
): Promise<Exporting> {
  const server = await startServer(t);
  const seller = await server.makeSeller();
  await seller.create({ name: 'The only one' });
  const query = { after: undefined, limit: 1 };
  const { products } = await server.store.listProducts(seller.sellerId, query);
  const exportProducts: Store['exportProducts'] = async () =>
    ({ position: 1, pages: makePages(products) });
  const reports: ErrorReport[] = [];
  const app = createApp({
    store: { ...server.store, exportProducts }, rateLimitPerMinute: 0,
    report: (entry) => reports.push(entry),
  });
  const listener = await listen((...both) => app.handle(...both), { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  return { app, port: listener.port, seller, reports };
}

async function ask(
  t: TestContext, { port, seller }: Exporting, method: string, ...fields: readonly string[]
): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  const key = `x-api-key: ${seller.key}`;
  socket.write([`${method} ${EXPORT} HTTP/1.1`, 'host: x', key, ...fields, '', ''].join('\r\n'));
  return socket;
}

test('counts a response as in flight until its stream has ended', async (t) => {
  const release = Promise.withResolvers<void>();
  const exporting = await serveExport(t, async function* (page) {
    yield page;
    await release.promise;
    yield page;
  });
  const socket = await ask(t, exporting, 'GET', 'connection: close');
  const begin = await readUntil(socket, 'The only one');
  let isClosed = false;
  const closed = exporting.app.close().then(() => { isClosed = true; });
  const { status } = await send(exporting.port, { path: EXPORT });
  assert.deepEqual([status, isClosed], [503, false]);
  release.resolve();
  const text = begin + await readToEnd(socket);
  assert.equal(text.split('The only one').length, 3);
  assert.ok(text.endsWith('0\r\n\r\n'), 'the stream has no end');
  await closed;
});

test('reports a stream that fails, and resets its connection in the middle', async (t) => {
  const error = new Error('a page is missing');
  const exporting = await serveExport(t, async function* (page) {
    yield page;
    throw error;
  });
  for (const fields of [[], ['accept-encoding: gzip']]) {
    const socket = await ask(t, exporting, 'GET', ...fields);
    await assert.rejects(readToEnd(socket), { code: 'ECONNRESET' });
  }
  assert.deepEqual(exporting.reports.map((report) => report.error), [error, error]);
  await exporting.app.close();
});

for (const fields of [[], ['accept-encoding: gzip']]) {
  const kind = fields.length === 0 ? 'plain' : 'compressed';

  test(`returns the ${kind} stream of a client that disconnects, and reports nothing`,
    async (t) => {
      const returned = Promise.withResolvers<void>();
      const exporting = await serveExport(t, async function* (page) {
        const pageOfMany = Array.from({ length: 1_000 }, () => page).flat();
        try {
          for (;;) yield pageOfMany;
        } finally {
          returned.resolve();
        }
      });
      const socket = await ask(t, exporting, 'GET', ...fields);
      await once(socket, 'data');
      socket.destroy();
      await returned.promise;
      await exporting.app.close(); // nothing is left in flight
      assert.deepEqual(exporting.reports, []);
    });

  test(`answers HEAD of a ${kind} stream with its fields and returns it`, async (t) => {
    const returned = Promise.withResolvers<void>();
    const exporting = await serveExport(t, async function* (page) {
      try {
        yield page;
        yield page;
      } finally {
        returned.resolve();
      }
    });
    const socket = await ask(t, exporting, 'HEAD', 'connection: close', ...fields);
    const text = await readToEnd(socket);
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.equal(/^content-encoding: gzip\r$/m.test(text), kind === 'compressed');
    assert.match(text, /^seller-position: 1\r$/m);
    assert.ok(text.endsWith('\r\n\r\n') && !text.includes('The only one'), text);
    await returned.promise;
    await exporting.app.close();
    assert.deepEqual(exporting.reports, []);
  });
}

test('compresses a stream for the clients that ask for it', async (t) => {
  const { port, seller } = await serveExport(t, async function* (page) {
    for (let n = 0; n < 3; n += 1) yield page;
  });
  const headers = { 'x-api-key': seller.key };
  const plain = await send(port, { path: EXPORT, headers });
  assert.equal(plain.headers['content-encoding'], undefined);
  const response = await fetch(`http://127.0.0.1:${port}${EXPORT}`, { headers });
  assert.equal(response.headers.get('content-encoding'), 'gzip');
  assert.match(response.headers.get('vary') ?? '', /accept-encoding/);
  assert.equal(await response.text(), plain.text);
  assert.equal(plain.text.split('\n').length, 4);
});
