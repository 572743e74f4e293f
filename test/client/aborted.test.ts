/** What the client does once the signal of a request is aborted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { SellerClient } from '../../src/client/index.ts';
import { CSV_EXPORT } from '../cli/transfer/fake-server.ts';
import { MUG, respond, serve, untilClosed } from './answers.ts';

for (const [stage, use] of Object.entries<
  (shop: SellerClient, signal: AbortSignal, abort: () => void) => Promise<unknown>
>({
  async 'while it waits for the response'(shop, signal) {
    await shop.products.get('silent', { signal });
  },
  async 'while it sends'(shop, signal, abort) {
    const rows = async function* () {
      yield MUG;
      abort();
      for (;;) yield MUG;
    };
    await shop.products.import(rows(), { signal });
  },
  async 'while it reads a file'(shop, signal, abort) {
    for await (const _ of await shop.products.export({ format: 'csv', signal })) abort();
  },
  async 'while it follows changes'(shop, signal, abort) {
    for await (const _ of shop.changes({ after: 0, live: true, signal })) abort();
  },
})) {
  test(`frees the socket of a request that is aborted ${stage}`, async (t) => {
    const stop = new AbortController();
    const reason = new Error('enough');
    const abort = (): void => stop.abort(reason);
    const { open, requests } = await serve(t, (request, response) => {
      if (request.method === 'POST') return;
      if (request.url?.includes('silent')) return abort();
      response.writeHead(200, CSV_EXPORT);
      response.write('id: 1\ndata: {}\n\n');
    });
    await assert.rejects(use(open(), stop.signal, abort), reason);
    await untilClosed(requests);
    assert.ok(requests.length <= 1);
  });
}

test('reads the source of an aborted import no further', { timeout: 10_000 }, async (t) => {
  const { open } = await serve(t, () => {});
  const stop = new AbortController();
  const ended = Promise.withResolvers<number>();
  const rows = async function* () {
    let count = 0;
    try {
      for (; ; count += 1) {
        yield MUG;
        if (count === 2) stop.abort(new Error('enough'));
        await setTimeout(5); // a slow source
      }
    } finally {
      ended.resolve(count);
    }
  };
  await assert.rejects(open().products.import(rows(), { signal: stop.signal }), /enough/);
  assert.ok(await ended.promise < 100);
});

test('sends nothing once the signal is aborted, also between pages', async (t) => {
  const page = JSON.stringify({ products: [{ sku: 'A' }], next_cursor: 'more' });
  const { open, requests } = await serve(t, respond(page));
  const signal = AbortSignal.abort(new Error('enough'));
  await assert.rejects(open().products.get('x', { signal }), /enough/);
  assert.equal(requests.length, 0);
  const stop = new AbortController();
  await assert.rejects(async () => {
    for await (const _ of open().products.list({ signal: stop.signal })) {
      stop.abort(new Error('enough'));
    }
  }, /enough/);
  assert.equal(requests.length, 1);
});
