/** The app inside another program: behind its body parsers, and without connections. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { IncomingMessage } from 'node:http';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { buffer } from 'node:stream/consumers';
import { createApp } from '../src/features.ts';
import { createPortal } from '../src/features/portal/portal.ts';
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

const CAUSE = /The request body was read before app\.handle.*express\.json/;

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

test('leaves no timer after requests without a connection', { timeout: 30_000 }, async (t) => {
  const script = new URL('injected-requests.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script, makeFolder(t)]);
  // The cast: the script prints it.
  const { statuses, resources } = JSON.parse(stdout) as Outcome;
  assert.deepEqual(statuses, [200, 201, 413, 413, 401, 401, 200, 200, 200]);
  assert.ok(!resources.includes('Timeout'), resources.join(', '));
});
