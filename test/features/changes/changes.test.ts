/** GET /api/v1/changes in pages: gapless, filtered, with long polling, and pruned history. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import type { Answer } from '../../support/http.ts';
import type { TestSeller } from '../../support/server.ts';
import { withoutImport } from '../../support/import-id.ts';
import { makeClock } from '../../support/clock.ts';
import { makeLongProduct } from '../../api/long-product.ts';
import { assertProblem, faultsOf } from '../../api/problem.ts';
import { CHANGES, openShop, sync } from '../../api/stock/stock.ts';
import { controlWaits } from './controlled-waits.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

async function read(seller: TestSeller, query = '') {
  const answer = await seller.send({ path: `${CHANGES}?${query}` });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers['cache-control'], 'no-store');
  return answer.json();
}

function positionsOf({ changes }: { changes: { position: number }[] }): number[] {
  return changes.map(({ position }) => position);
}

test('ends pages of very long products early, and continues with the next change', async (t) => {
  const { seller } = await openShop(t, {});
  for (let n = 1; n <= 80; n += 1) {
    assert.equal((await seller.create(makeLongProduct(`A${n}`))).status, 201);
  }
  const first = await read(seller, 'limit=1000');
  const count = first.changes.length;
  assert.ok(count > 50 && count < 80, String(count));
  assert.equal(first.next, count);
  const second = await read(seller, `limit=1000&after=${first.next}`);
  assert.deepEqual([...positionsOf(first), ...positionsOf(second)],
    Array.from({ length: 80 }, (_, index) => index + 1));
  assert.equal(second.next, 80);
});

test('returns every change with the product as it left it', async (t) => {
  const clock = makeClock();
  const { seller, ids } = await openShop(t, { A: 7 }, { clock });
  const path = `/api/v1/products/${ids['A']}`;
  const created = (await seller.send({ path })).json();
  await sync(seller, [{ sku: 'A', set: 5, sequence: 3 }], { source: 'erp', reason: 'sold' });
  clock.now += 1_000;
  await seller.send({
    method: 'PATCH', path, headers: { 'content-type': 'application/json' },
    body: '{"sku":"B","stock":9}',
  });
  const updated = (await seller.send({ path })).json();
  await seller.send({ method: 'DELETE', path });
  const { changes, next } = await read(seller);
  assert.equal(next, 4);
  const at = new Date(clock.now - 1_000).toISOString();
  const first = { product_id: ids['A'], sku: 'A', at, key_id: changes[0].key_id };
  const then = { ...first, sku: 'B', at: new Date(clock.now).toISOString() };
  assert.match(first.key_id, /^key_/);
  assert.deepEqual(changes.map(withoutImport), [
    { position: 1, type: 'created', ...first, data: created },
    {
      position: 2, type: 'stock', ...first,
      data: {
        before: 7, after: 5, delta: -2, reason: 'sold', source: 'erp', sequence: 3,
      },
    },
    { position: 3, type: 'updated', ...then, data: updated },
    { position: 4, type: 'deleted', ...then, data: updated },
  ]);
});

test('pages through the history without gaps during writes', async (t) => {
  const { seller } = await openShop(t, { A: 0 });
  await sync(seller, Array.from({ length: 2_500 }, (_, n) => ({ sku: 'A', set: n + 1 })));
  const positions: number[] = [];
  for (let page = await read(seller, 'limit=97'); page.changes.length > 0;) {
    assert.ok(page.changes.length <= 97);
    positions.push(...positionsOf(page));
    assert.equal(page.next, positions.at(-1));
    if (positions.length < 2_500) await sync(seller, [{ sku: 'A', adjust: 1 }]);
    page = await read(seller, `after=${page.next}&limit=97`);
  }
  assert.deepEqual(positions, Array.from({ length: positions.length }, (_, n) => n + 1));
  const end = positions.length;
  assert.deepEqual(await read(seller, `after=${end}`), { changes: [], next: end });
  assert.equal((await read(seller)).changes.length, 100);
  assert.equal((await read(seller, 'limit=1000')).changes.length, 1_000);
});

test('returns the requested types, and skips past the others', async (t) => {
  const { seller } = await openShop(t, { A: 0, B: 0 });
  await sync(seller, Array.from({ length: 5_400 }, (_, n) => ({ sku: 'A', set: n + 1 })));
  await seller.create({});
  assert.deepEqual(positionsOf(await read(seller, 'types=created&limit=2')), [1, 2]);
  const first = await read(seller, 'types=created,updated&after=2');
  assert.deepEqual(first.changes, []);
  assert.ok(first.next > 2 && first.next < 5_403, `${first.next}`);
  const second = await read(seller, `types=updated,created&after=${first.next}`);
  assert.deepEqual([positionsOf(second), second.next], [[5_403], 5_403]);
  const moved = await read(seller, 'types=stock&after=5000');
  assert.deepEqual([positionsOf(moved)[0], moved.next], [5_001, 5_100]);
  const all = await read(seller, 'types=deleted,stock,updated,created,stock&limit=3');
  assert.deepEqual(positionsOf(all), [1, 2, 3]);
});

test("returns only changes of the key's seller", async (t) => {
  const { server, seller } = await openShop(t, { A: 1 });
  const other = await server.makeSeller();
  assert.deepEqual(await read(other), { changes: [], next: 0 });
  await other.create({ sku: 'A' });
  const own = await read(other);
  assert.deepEqual(positionsOf(own), [1]);
  assert.notEqual(own.changes[0].product_id, (await read(seller)).changes[0].product_id);
});

test('rejects a position beyond the end, and invalid parameters', async (t) => {
  const { seller } = await openShop(t, { A: 1 });
  const beyond = await seller.send({ path: `${CHANGES}?after=2` });
  assert.match(assertProblem(beyond, 400, 'invalid-query').detail, /position 1.*export/s);
  assert.deepEqual(faultsOf(beyond), ['after range']);
  const query = 'after=-1&limit=0&types=stock,gone&wait=31';
  const invalid = await seller.send({ path: `${CHANGES}?${query}` });
  assertProblem(invalid, 400, 'invalid-query');
  assert.deepEqual(faultsOf(invalid), ['after range', 'limit range', 'types format', 'wait range']);
  for (const one of [
    'limit=1001', 'limit=010', 'after=01', 'after=1.5', 'after=', 'types=', 'wait=-1', 'wait=00',
    'cursor=x',
  ]) {
    assertProblem(await seller.send({ path: `${CHANGES}?${one}` }), 400, 'invalid-query');
  }
  const headers = { accept: 'text/csv' };
  assertProblem(await seller.send({ path: CHANGES, headers }), 406, 'not-acceptable');
});

test('says what to do if the requested history was pruned', async (t) => {
  const clock = makeClock();
  const { server, seller } = await openShop(t, { A: 1, B: 1 }, { clock });
  await sync(seller, [{ sku: 'A', set: 2 }, { sku: 'A', set: 3 }]);
  clock.now += 3 * DAY_MS;
  await sync(seller, [{ sku: 'B', set: 2 }]);
  await server.store.pruneHistory(clock.now - DAY_MS);
  for (const headers of [{}, { accept: 'text/event-stream' }]) {
    const gone = await seller.send({ path: `${CHANGES}?after=3`, headers });
    const { detail } = assertProblem(gone, 410, 'history-pruned');
    assert.match(detail, /begins after position 4\..*[Ee]xport/);
  }
  const resumed = await seller.send({
    path: CHANGES, headers: { accept: 'text/event-stream', 'last-event-id': '1' },
  });
  assertProblem(resumed, 410, 'history-pruned');
  assertProblem(await seller.send({ path: `${CHANGES}?wait=1` }), 410, 'history-pruned');
  assert.deepEqual(positionsOf(await read(seller, 'after=4')), [5]);
});

test('does not wait if there is a change, and waits only as long as requested', async (t) => {
  const { seller } = await openShop(t, { A: 1 });
  const waits = controlWaits(t);
  assert.deepEqual(positionsOf(await read(seller, 'wait=30')), [1]);
  assert.deepEqual(waits.timeoutsMs, []);
  t.mock.method(performance, 'now', () => 0);
  const waiting = read(seller, 'after=1&wait=7');
  await waits.untilStarted(1);
  assert.deepEqual(waits.timeoutsMs, [7_000]);
  waits.expire();
  assert.deepEqual(await waiting, { changes: [], next: 1 });
});

test('answers a waiting request soon after a change of its types', async (t) => {
  const { server, seller } = await openShop(t, { A: 1 });
  const other = await server.makeSeller();
  const waits = controlWaits(t);
  let isAnswered = false;
  const waiting = read(seller, 'after=1&wait=30&types=updated,deleted').then((page) => {
    isAnswered = true;
    return page;
  });
  await waits.untilStarted(1);
  await other.create({});
  for (let n = 2; n <= 10; n += 1) await sync(seller, [{ sku: 'A', set: n }]);
  assert.equal(isAnswered, false);
  await seller.send({ method: 'DELETE', path: '/api/v1/products/sku/A' });
  const page = await waiting;
  assert.deepEqual([positionsOf(page), page.next], [[11], 11]);
});

test('returns the position it has skipped to if a wait finds nothing', async (t) => {
  const { seller } = await openShop(t, { A: 1 });
  const waits = controlWaits(t);
  const waiting = read(seller, 'after=1&wait=1&types=deleted');
  await waits.untilStarted(1);
  await sync(seller, [{ sku: 'A', set: 2 }]);
  await waits.untilStarted(2);
  waits.expire();
  const page = await waiting;
  assert.deepEqual(page.changes, []);
  assert.equal(page.next, 2);
});

test('answers HEAD like GET, and also waits', async (t) => {
  const { seller } = await openShop(t, { A: 1 });
  const waits = controlWaits(t);
  const waiting = seller.send({ method: 'HEAD', path: `${CHANGES}?after=1&wait=30` });
  await waits.untilStarted(1);
  await sync(seller, [{ sku: 'A', set: 2 }]);
  const answer = await waiting;
  assert.deepEqual([answer.status, answer.text], [200, '']);
  assert.ok(Number(answer.headers['content-length']) > 100);
});

test('frees the slot of a waiting client that disconnects', async (t) => {
  const { server, seller } = await openShop(t, { A: 1 });
  const waits = controlWaits(t);
  const waiting = Array.from({ length: 50 }, () => {
    const outgoing = request({
      host: '127.0.0.1', port: server.port, path: `${CHANGES}?after=1&wait=30`, agent: false,
      headers: { 'x-api-key': seller.key },
    });
    outgoing.on('error', () => {});
    outgoing.end();
    return outgoing;
  });
  await waits.untilStarted(50);
  /** Waits until the request has been rejected, or waits itself; then its time is over. */
  const probe = async (): Promise<Answer> => {
    const started = waits.timeoutsMs.length;
    let isAnswered = false;
    const probing = seller.send({ path: `${CHANGES}?after=1&wait=30` })
      .finally(() => { isAnswered = true; });
    while (!isAnswered && waits.timeoutsMs.length === started) await turn();
    if (!isAnswered) waits.expire();
    return probing;
  };
  let answer = await probe();
  assertProblem(answer, 503, 'unavailable');
  for (const one of waiting) one.destroy();
  while (answer.status === 503) answer = await probe();
  assert.equal(answer.status, 200);
  assert.deepEqual(server.reports, []);
});
