/** Faults around the server: a log that fails, and text that is crafted to be slow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApp } from '../src/features.ts';
import { listen } from '../src/http/server/listener.ts';
import { send } from './support/http.ts';
import { startServer } from './support/server.ts';

test('responds 500 although the error report fails, and continues', async (t) => {
  const { store } = await startServer(t);
  t.mock.method(console, 'error', () => undefined);
  const failing = { ...store, findGrant: () => Promise.reject(new Error('broken')) };
  const report = (): never => { throw new Error('the log is broken too'); };
  const app = createApp({ store: failing, report });
  const listener = await listen(app.handle, { host: '127.0.0.1', port: 0 });
  t.after(() => listener.stop());
  const headers = { 'x-api-key': 'spk_uBPx7imV3fuskuuAElIxxXxRxxPgI80CUdDS' };
  for (const path of ['/api/v1/products', '/api/v1/products?limit=2']) {
    const answer = await send(listener.port, { path, headers });
    assert.equal(answer.status, 500, answer.text);
    assert.doesNotMatch(answer.text, /broken/);
  }
});

test('rejects a long text of only escaped quotes', async (t) => {
  const seller = await (await startServer(t)).makeSeller();
  const answer = await seller.send({
    method: 'POST', path: '/api/v1/products', headers: { 'content-type': 'application/json' },
    body: `"${'\\"'.repeat(32_000)}`,
  });
  assert.equal(answer.status, 400);
  assert.match(answer.json().type, /invalid-json$/);
});
