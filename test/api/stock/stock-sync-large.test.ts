/** POST /api/v1/stock in JSON: many concurrent large requests, each of which uses memory. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { test, type TestContext } from 'node:test';
import { BODY_LIMIT_BYTES } from '../../../src/http/limits.ts';
import type { TestSeller } from '../../support/server.ts';
import { assertProblem } from '../problem.ts';
import { openShop, sendStock, STOCK, sync } from './stock.ts';

const CONCURRENCY_LIMIT = 8;
/** A large body with one change. */
const LARGE = `{"changes":[{"sku":"A","set":3}]${' '.repeat(BODY_LIMIT_BYTES)}}`;

/** Starts a request that does not end. */
function begin(t: TestContext, port: number, { key }: TestSeller, length?: number): ClientRequest {
  const call = request({
    host: '127.0.0.1', port, path: STOCK, method: 'POST', agent: false,
    headers: {
      'x-api-key': key, 'content-type': 'application/json',
      ...(length === undefined ? {} : { 'content-length': length }),
    },
  });
  call.on('error', () => {}); // the test aborts it
  call.write('{');
  t.after(() => call.destroy());
  return call;
}

test('rejects a ninth concurrent large request of a seller, until another one is aborted',
  async (t) => {
    const { server, seller } = await openShop(t, { A: 7 });
    const calls = Array.from({ length: CONCURRENCY_LIMIT }, (_, n) =>
      begin(t, server.port, seller, n % 2 === 0 ? BODY_LIMIT_BYTES + 1 : undefined));
    await Promise.all(calls.map((call) => once(call, 'socket')));
    let refused = await sendStock(seller, LARGE);
    while (refused.status === 200) refused = await sendStock(seller, LARGE);
    assertProblem(refused, 503, 'unavailable');
    assert.equal(refused.headers['retry-after'], '5');
    await sync(seller, [{ sku: 'A', set: 4 }]);
    const other = await server.makeSeller();
    assert.equal((await sendStock(other, LARGE)).status, 200);
    calls[0]?.destroy();
    let taken = await sendStock(seller, LARGE);
    while (taken.status === 503) taken = await sendStock(seller, LARGE);
    assert.equal(taken.status, 200);
    assert.equal(taken.json().results[0].previous, 4);
    for (const call of calls) call.destroy(); // or the server waits for them when it stops
  });
