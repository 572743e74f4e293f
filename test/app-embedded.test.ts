/** The app inside another program: behind its body parsers, and without connections. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { IncomingMessage } from 'node:http';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createApp } from '../src/features.ts';
import { createPortal } from '../src/features/portal/portal.ts';
import { BODY_LIMIT_BYTES } from '../src/http/limits.ts';
import type { ErrorReport } from '../src/http/response/problem.ts';
import { listen } from '../src/http/server/listener.ts';
import { assertProblem } from './api/problem.ts';
import type { Outcome } from './injected-requests.ts';
import { makeFolder } from './support/folder.ts';
import { send } from './support/http.ts';
import { makeProduct, startServer } from './support/server.ts';

/** Serves an app behind middleware that reads from each request. */
async function serveAfter(t: TestContext, read: (request: IncomingMessage) => Promise<unknown>) {
  const { store, makeSeller } = await startServer(t);
  const { key } = await makeSeller();
  const reports: ErrorReport[] = [];
  const report = (entry: ErrorReport) => reports.push(entry);
  const app = createApp({ store, report, rateLimitPerMinute: 0, portal: createPortal() });
  const listener = await listen(async (request, response) => {
    await read(request);
    app.handle(request, response);
  }, { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  return { key, port: listener.port, reports };
}

const CAUSE = /The request body was read before shop\.handle.*express\.json/;

for (const [path, type] of [
  ['/api/v1/products', 'application/json'], ['/api/v1/products/import', 'text/csv'],
  ['/api/v1/stock', 'application/json'], ['/api/v1/stock', 'application/x-ndjson'],
  ['/portal/sign-in', 'application/x-www-form-urlencoded'],
] as const) {
  test(`answers 500 if middleware has read the ${type} body of ${path}`, async (t) => {
    const { key, port, reports } = await serveAfter(t, buffer);
    const sender = path.startsWith('/portal') ? { 'sec-fetch-site': 'same-origin' }
      : { 'x-api-key': key };
    const answer = await send(port, {
      method: 'POST', path, body: JSON.stringify(makeProduct()),
      headers: { 'content-type': type, ...sender },
    });
    assert.equal(answer.status, 500);
    const [{ error } = { error: undefined }] = reports;
    assert.match(String(error), CAUSE);
    assert.doesNotMatch(answer.text, /express/);
  });
}

test('answers 500 if middleware has read part of a body', async (t) => {
  const { key, port, reports } = await serveAfter(t, async (request) => {
    await new Promise((resolve) => request.once('data', resolve));
    request.pause();
  });
  const answer = await send(port, {
    method: 'POST', path: '/api/v1/products', body: JSON.stringify(makeProduct()),
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
  });
  assertProblem(answer, 500, 'internal');
  assert.match(String(reports[0]?.error), CAUSE);
});

test('leaves no timer after requests without a connection', async (t) => {
  const script = new URL('injected-requests.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script, makeFolder(t)]);
  // The cast: the script prints it.
  const { statuses, resources } = JSON.parse(stdout) as Outcome;
  assert.deepEqual(statuses, [200, 201, 413, 413, 401, 401, 200, 200, 200]);
  assert.ok(!resources.includes('Timeout'), resources.join(', '));
});

for (const member of ['rawBody', 'body']) {
  test(`uses the bytes that middleware has kept as request.${member}`, async (t) => {
    const { key, port } = await serveAfter(t, async (request) => {
      const bytes = await buffer(request);
      const isGzip = request.headers['content-encoding'] === 'gzip'; // which parsers decompress
      Object.assign(request, { body: {}, [member]: isGzip ? gunzipSync(bytes) : bytes });
    });
    const post = (path: string, type: string, body: string | Buffer, encoding?: string) =>
      send(port, {
        method: 'POST', path: `/api/v1/${path}`, body,
        headers: {
          'x-api-key': key, 'content-type': type, ...(encoding && { 'content-encoding': encoding }),
        },
      });
    assert.equal((await post('products', 'application/json', product('A'))).status, 201);
    assertProblem(await post('products', 'application/json', '{"sku":"A","sku":"B"}'),
      400, 'invalid-json');
    assertProblem(await post('products', 'application/json', ' '.repeat(BODY_LIMIT_BYTES + 1)),
      413, 'body-too-large');
    const imported = await post('products/import', 'application/x-ndjson',
      gzipSync(`${product('B')}\n${product('C')}\n`), 'gzip');
    assert.match(imported.text, /"created":2/);
  });
}

test('leaves unknown paths and the start page of the host to its program', async (t) => {
  const { store } = await startServer(t);
  const app = createApp({ store, portal: createPortal() });
  const listener = await listen((request, response) => {
    app.handle(request, response, () => response.end('mine'));
  }, { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  const ask = async (path: string) => (await send(listener.port, { path })).text;
  for (const path of ['/', '/about', '/api/v1/nothing']) assert.equal(await ask(path), 'mine');
  assert.match(await ask('/api/v1/products'), /key-missing/);
  assert.match(await ask('/portal/nothing'), /<html/);
});

test('links below the mount path of a framework', async (t) => {
  const { store, makeSeller } = await startServer(t);
  const { key } = await makeSeller();
  const app = createApp({ store, portal: createPortal() });
  const listener = await listen((request, response) => {
    const { url = '' } = request;
    app.handle(Object.assign(request, { originalUrl: url, url: url.replace(/^\/\w+/, '') || '/' }),
      response, () => response.end('mine'));
  }, { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  const ask = (path: string) => send(listener.port, { path, headers: { 'x-api-key': key } });
  for (const sku of ['A', 'B']) {
    const { headers } = await send(listener.port, {
      method: 'POST', path: '/shop/api/v1/products', body: product(sku),
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
    });
    assert.match(headers.location ?? '', /^\/shop\/api\/v1\/products\/prd_/);
  }
  for (const mount of ['/shop', '/store']) { // whose pages are cached separately
    const list = await ask(`${mount}/api/v1/products?limit=1`);
    assert.ok(String(list.headers['link']).startsWith(`<${mount}/api/v1/products?`));
  }
  const { servers } = (await ask('/shop/api/v1/openapi.json')).json();
  assert.equal(new URL(servers[0].url, 'http://x/shop/api/v1/openapi.json').pathname, '/shop/');
  assert.equal((await ask('/shop')).headers.location, '/shop/portal');
  const page = await ask('/shop/portal/products?q=mug');
  assert.equal(page.headers.location, '/shop/portal/sign-in?to=%2Fproducts%3Fq%3Dmug');
  assertProblem(await ask('/shop/nothing'), 404, 'not-found');
});

function product(sku: string): string {
  return JSON.stringify({ ...makeProduct(), sku });
}
