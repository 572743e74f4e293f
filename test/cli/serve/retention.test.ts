/** `serve --history-days`: what is removed, what is kept, and which values are rejected. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import {
  generateApiKey, parseNewApiKey, toStoredSecret,
} from '../../../src/domain/access/api-key.ts';
import { parseNewSeller } from '../../../src/domain/access/seller.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import type { Actor as Author } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import { run, startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { type Answer, send } from '../../support/http.ts';
import { makeNewProduct } from '../../store/contract/fixture.ts';
import { readRows } from '../../store/sqlite/engine/read-file.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const CHANGES = '/api/v1/changes';
const POLL_MS = 20;

interface Past {
  readonly folder: string;
  readonly headers: { readonly 'x-api-key': string };
  readonly actor: Author;
}

/** A folder with 1,200 changes from this many days ago, lived through since, and one from today. */
async function makePast(t: TestContext, days: number): Promise<Past> {
  const folder = makeFolder(t);
  const clock = makeClock(Date.now() - days * DAY_MS);
  const store = await openSqliteStore({ folder, clock });
  const { id: sellerId } = await store.createSeller(parseNewSeller('A shop', 'EUR'));
  const key = generateApiKey();
  const made = await store.createKey(sellerId, toStoredSecret(key), parseNewApiKey({
    name: 'test', scopes: [], addressRanges: [], expiresAt: undefined,
  }));
  const actor = { sellerId, keyId: made.id };
  const product = makeNewProduct({ stock: 0 });
  await store.createProduct(actor, product);
  const sync = { isAtomic: false, source: undefined, reason: undefined, completion: undefined };
  const changes = Array.from({ length: 1_199 }, (_, n) => ({ sku: product.sku, set: n + 1 }));
  await store.syncStock(actor, { ...sync, changes }, false);
  for (const step of [...Array(2).fill(DAY_MS), (days - 2) * DAY_MS]) {
    await store.keepLivedTime();
    clock.now += step;
  }
  await store.keepLivedTime();
  await store.createProduct(actor, makeNewProduct({}));
  await store.close();
  return { folder, headers: { 'x-api-key': key }, actor };
}

/** Repeats a request until it returns this status. */
async function waitFor(ask: () => Promise<Answer>, status: number): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status === status) return answer;
    await turn();
  }
}

test('removes old history, and keeps the rest', async (t) => {
  const { folder, headers } = await makePast(t, 3);
  const { port } = await startServing(t, ['--data', folder, '--history-days', '1']);
  const read = (after: number) => send(port, { path: `${CHANGES}?after=${after}`, headers });
  const gone = await waitFor(() => read(1_199), 410);
  assert.match(gone.json().detail, /begins after position 1200/);
  const kept = await read(1_200);
  assert.equal(kept.status, 200);
  assert.deepEqual(kept.json().changes.map(({ type }: { type: string }) => type), ['created']);
  const stock = await send(port, { path: '/api/v1/stock', headers });
  const levels: { stock: number }[] = stock.json().stock;
  assert.deepEqual(levels.map((level) => level.stock), [1_199, 7]);
});

test('reads the days from a variable, and ends streams of pruned history',
  async (t) => {
    const { folder, headers } = await makePast(t, 3);
    const { port } = await startServing(t, ['--data', folder], { SELLER_API_HISTORY_DAYS: '2' });
    const gone = await waitFor(() => send(port, { path: `${CHANGES}?after=5`, headers }), 410);
    assert.equal(gone.json().type, 'urn:problem-type:seller-product-api:history-pruned');
    const stream = await waitFor(() => send(port, {
      path: CHANGES, headers: { ...headers, accept: 'text/event-stream', 'last-event-id': '5' },
    }), 410);
    assert.equal(stream.headers['content-type'], 'application/problem+json');
  });

for (const [days, flags] of [
  ['forever', ['--history-days', '0']], ['5 days', ['--history-days', '5']], ['by default', []],
] as const) {
  test(`keeps all history within the retention: ${days}`, async (t) => {
    const { folder, headers, actor } = await makePast(t, days === 'forever' ? 5_000 : 3);
    const serving = await startServing(t, ['--data', folder, ...flags]);
    // A server starts pruning immediately; these requests outlast many of its small steps.
    for (let n = 0; n < 30; n += 1) {
      const answer = await send(serving.port, { path: `${CHANGES}?limit=1000`, headers });
      assert.equal(answer.json().changes.length, 1_000);
    }
    assert.equal(await serving.stop('SIGTERM'), 0);
    const store = await openSqliteStore({ folder });
    t.after(() => store.close());
    const page = await store.listChanges(actor.sellerId, { after: 0, limit: 1_000 });
    assert.deepEqual([page.changes.length, page.position], [1_000, 1_201]);
  });
}

test('removes old idempotency records, however long the history is kept',
  async (t) => {
    const { folder, actor } = await makePast(t, 3);
    const clock = makeClock(Date.now() - 3 * DAY_MS);
    const store = await openSqliteStore({ folder, clock });
    const write = (key: string) =>
      store.createProduct({ ...actor, idempotency: { key, part: 0 } }, makeNewProduct({}));
    await write('old');
    clock.now += 3 * DAY_MS;
    await write('new');
    await store.keepLivedTime();
    await store.close();
    await startServing(t, ['--data', folder, '--history-days', '0']);
    const list = () => readRows(folder, 'SELECT at FROM idempotency').map(({ at }) => at);
    while (list().length > 1) await wait(POLL_MS);
    assert.deepEqual(list(), [clock.now]);
  });

test('stops immediately while it removes old history', async (t) => {
  const { folder } = await makePast(t, 3);
  const serving = await startServing(t, ['--data', folder, '--history-days', '1']);
  assert.equal(await serving.stop('SIGTERM'), 0);
  assert.doesNotMatch(serving.notes(), /could not be removed/);
});

for (const value of ['-1', '1.5', 'ever', '36501', '1e3']) {
  test(`rejects --history-days=${value} with exit status 2`, async (t) => {
    const { status, out, notes } = await run([
      'serve', `--history-days=${value}`, '--data', makeFolder(t),
    ]);
    assert.deepEqual([status, out], [2, '']);
    assert.match(notes, /^--history-days takes a whole number from 0 to 36500, not "[^\n]+\n$/);
  });
}

test('rejects an invalid SELLER_API_HISTORY_DAYS with exit status 2', async (t) => {
  const { status, notes } = await run(['serve', '--data', makeFolder(t)], {
    SELLER_API_HISTORY_DAYS: 'ever',
  });
  assert.equal(status, 2);
  assert.match(notes, /^--history-days takes .*"ever"/);
});
