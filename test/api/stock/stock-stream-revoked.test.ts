/** Streams of stock changes, which may run for hours, whose key is revoked. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { NDJSON, openShop, readPosition, STOCK } from './stock.ts';

const BATCH_ROWS = 1_000;

test('accepts no changes from 15 s after the key was revoked', async (t) => {
  const { server, seller } = await openShop(t, { A: 0 });
  let passedMs = 0;
  const now = performance.now.bind(performance);
  t.mock.method(performance, 'now', () => now() + passedMs);
  const call = request({
    host: '127.0.0.1', port: server.port, path: STOCK, method: 'POST', agent: false,
    headers: { 'x-api-key': seller.key, 'content-type': NDJSON },
  });
  const batch = '{"sku":"A","adjust":1}\n'.repeat(BATCH_ROWS);
  call.write(batch);
  const [answer] = await once(call, 'response') as [IncomingMessage];
  assert.equal(answer.statusCode, 200);
  let text = '';
  answer.setEncoding('utf8').on('data', (chunk: string) => { text += chunk; });
  const position = await readPosition(server, seller);
  assert.equal(position, 1 + BATCH_ROWS);
  await server.store.revokeKey(seller);
  passedMs = 15_000;
  call.end(batch.repeat(2));
  await once(answer, 'end');
  assert.equal(await readPosition(server, seller), position);
  const { problem } = JSON.parse(text.trim().split('\n').at(-1) ?? '');
  assert.equal(problem.status, 401);
  assert.equal(problem.summary.applied, BATCH_ROWS);
});
