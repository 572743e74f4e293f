/** POST /api/v1/stock in JSON: the outcome of changes, their order, and their movements. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClock } from '../../support/clock.ts';
import { withoutImport } from '../../support/import-id.ts';
import {
  openShop, readLedger, readPosition, readStocks, sendStock, statusesOf, sync,
} from './stock.ts';

test('sets and adjusts stock, by SKU and by id, with results in request order', async (t) => {
  const { seller, ids } = await openShop(t, { A: 7, B: 7, C: 7 });
  const answer = await sendStock(seller, {
    changes: [{ id: ids['C'], set: 1 }, { sku: 'A', adjust: -2 }, { sku: 'B', adjust: 3 }],
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.deepEqual(withoutImport(answer.json()), {
    results: [
      { sku: 'C', id: ids['C'], status: 'ok', previous: 7, stock: 1, position: 4 },
      { sku: 'A', id: ids['A'], status: 'ok', previous: 7, stock: 5, position: 5 },
      { sku: 'B', id: ids['B'], status: 'ok', previous: 7, stock: 10, position: 6 },
    ],
    applied: 3, failed: 0, position: 6,
  });
  assert.deepEqual(await readStocks(seller), { A: 5, B: 10, C: 1 });
});

test('reports the result of each change by its status', async (t) => {
  const { seller, ids } = await openShop(t, { A: 7, B: 7 });
  await sync(seller, [{ sku: 'B', set: 8, sequence: 5 }], { source: 'erp' });
  const body = await sync(seller, [
    { sku: 'A', set: 7 },
    { sku: 'none', set: 1 },
    { sku: 'A', set: 9, expect: 6 },
    { sku: 'B', set: 1, sequence: 5 },
    { sku: 'A', adjust: -8 },
    { sku: 'A', set: -1 },
    { sku: 'A', adjust: 999_999_994 },
    { sku: 'A', set: 9, expect: 7 },
  ], { source: 'erp' });
  const a = { sku: 'A', id: ids['A'], previous: 7, stock: 7, position: 1 };
  const nothing = { previous: null, stock: null, position: null };
  const [unchanged, missing, conflict, stale, insufficient, invalid, tooMuch, ok] = body.results;
  assert.deepEqual(unchanged, { ...a, status: 'unchanged' });
  assert.deepEqual(missing, { sku: 'none', id: null, status: 'not_found', ...nothing });
  assert.deepEqual(conflict, { ...a, status: 'conflict' });
  assert.deepEqual(stale, {
    sku: 'B', id: ids['B'], status: 'stale', previous: 8, stock: 8, position: 3,
  });
  assert.deepEqual(insufficient, { ...a, status: 'insufficient' });
  assert.equal(invalid.errors[0].pointer, '/set');
  assert.deepEqual({ ...invalid, errors: [] }, {
    sku: 'A', id: null, status: 'invalid', ...nothing, errors: [],
  });
  assert.deepEqual([tooMuch.status, tooMuch.errors[0].code], ['invalid', 'range']);
  assert.deepEqual(ok, { ...a, status: 'ok', stock: 9, position: 4 });
  assert.deepEqual([body.applied, body.failed, body.position], [1, 6, 4]);
});

test('applies several changes to one product in order, by SKU or by id',
  async (t) => {
    const { seller, ids } = await openShop(t, { A: 7 });
    const body = await sync(seller, [
      { sku: 'A', adjust: -7 }, { id: ids['A'], adjust: -1 }, { sku: 'A', set: 5, expect: 0 },
      { id: ids['A'], adjust: 2 }, { sku: 'A', set: 7 },
    ]);
    assert.deepEqual(statusesOf(body), ['ok', 'insufficient', 'ok', 'ok', 'unchanged']);
    const numbers = body.results.map((one: { previous: number; stock: number }) =>
      [one.previous, one.stock]);
    assert.deepEqual(numbers, [[7, 0], [0, 0], [0, 5], [5, 7], [7, 7]]);
    assert.deepEqual(await readLedger(seller), ['A 0 7', 'A 7 0', 'A 0 5', 'A 5 7']);
  });

test('never takes stock below 0, however many requests subtract concurrently', async (t) => {
  const { server, seller } = await openShop(t, { A: 10 });
  const bodies = await Promise.all(Array.from({ length: 25 }, () =>
    sync(seller, [{ sku: 'A', adjust: -1 }])));
  const statuses = bodies.flatMap(statusesOf);
  assert.equal(statuses.filter((status) => status === 'ok').length, 10);
  assert.equal(statuses.filter((status) => status === 'insufficient').length, 15);
  assert.deepEqual(await readStocks(seller), { A: 0 });
  assert.equal(await readPosition(server, seller), 11);
});

test('tracks the sequence of each source and product separately', async (t) => {
  const { seller } = await openShop(t, { A: 7, B: 7 });
  const first = await sync(seller, [
    { sku: 'A', set: 1, sequence: 3 }, { sku: 'A', set: 2, sequence: 2 },
    { sku: 'A', set: 3, sequence: 4 }, { sku: 'B', set: 1, sequence: 0 },
    { sku: 'A', set: 4 },
  ], { source: 'erp' });
  assert.deepEqual(statusesOf(first), ['ok', 'stale', 'ok', 'ok', 'ok']);
  const other = await sync(seller, [{ sku: 'A', set: 5, sequence: 1 }], { source: 'till' });
  assert.deepEqual(statusesOf(other), ['ok']);
  const again = await sync(seller, [
    { sku: 'A', set: 6, sequence: 4 }, { sku: 'A', set: 5, sequence: 5 },
    { sku: 'A', set: 6, sequence: 5 },
  ], { source: 'erp' });
  assert.deepEqual(statusesOf(again), ['stale', 'unchanged', 'stale']);
});

test('accepts a failed change again with the same sequence', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const change = { sku: 'A', adjust: -9, sequence: 1 };
  assert.deepEqual(statusesOf(await sync(seller, [change], { source: 's' })), ['insufficient']);
  await sync(seller, [{ sku: 'A', set: 9 }]);
  assert.deepEqual(statusesOf(await sync(seller, [change], { source: 's' })), ['ok']);
  assert.deepEqual(statusesOf(await sync(seller, [change], { source: 's' })), ['stale']);
});

test('applies all changes of an atomic request, or none', async (t) => {
  const { server, seller } = await openShop(t, { A: 7, B: 7 });
  const changes = [{ sku: 'A', set: 1 }, { sku: 'B', adjust: -8 }, { sku: 'A', adjust: 1 }];
  const answer = await sendStock(seller, { changes, atomic: true });
  assert.equal(answer.status, 409);
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  const problem = answer.json();
  assert.equal(problem.type, 'urn:problem-type:seller-product-api:sync-refused');
  assert.match(problem.detail, /^1 of 3 changes failed.*Nothing was changed\.$/);
  assert.deepEqual(statusesOf(problem), ['ok', 'insufficient', 'ok']);
  assert.deepEqual([problem.applied, problem.failed, problem.position], [0, 1, 2]);
  assert.deepEqual(await readStocks(seller), { A: 7, B: 7 });
  assert.equal(await readPosition(server, seller), 2);
  const made = await sync(seller, [{ sku: 'A', set: 1 }, { sku: 'B', set: 7 }], { atomic: true });
  assert.deepEqual([made.applied, made.failed, made.position], [1, 0, 3]);
});

test('rejects an atomic call with one invalid change, and changes nothing', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const changes = [{ sku: 'A', set: 1 }, { sku: 'A', set: '2' }];
  for (const members of [{}, { complete: true }]) {
    const answer = await sendStock(seller, { changes, atomic: true, ...members });
    assert.equal(answer.status, 409);
    const problem = answer.json();
    assert.deepEqual(statusesOf(problem), ['ok', 'invalid']);
    assert.equal(problem.results[1].errors[0].pointer, '/set');
    assert.deepEqual([problem.applied, problem.failed, problem.position], [0, 1, 1]);
  }
  assert.equal(await readPosition(server, seller), 1);
});

test('stores no sequence if nothing was changed', async (t) => {
  const { seller } = await openShop(t, { A: 7 });
  const source = { source: 'erp' };
  const change = { sku: 'A', set: 1, sequence: 9 };
  const refused = await sendStock(seller, {
    changes: [change, { sku: 'none', set: 1 }], atomic: true, ...source,
  });
  assert.equal(refused.status, 409);
  await sync(seller, [change], source, { query: 'dry_run=true' });
  assert.deepEqual(statusesOf(await sync(seller, [change], source)), ['ok']);
});

test('zeroes products that a stocktake does not name, with its reason and source', async (t) => {
  const { server, seller } = await openShop(t, { A: 7, B: 7, C: 7, D: 0 });
  const body = await sync(seller, [{ sku: 'A', set: 6 }, { sku: 'B', set: 7 }], {
    complete: true, reason: 'count', source: 'erp',
  });
  assert.deepEqual([body.applied, body.failed, body.zeroed, body.position], [1, 0, 1, 6]);
  assert.equal(await readPosition(server, seller), 6);
  assert.deepEqual(await readStocks(seller), { A: 6, B: 7, C: 0, D: 0 });
  assert.deepEqual(await readLedger(seller, '&reason=count&source=erp'), ['A 7 6', 'C 7 0']);
  const again = await sync(seller, [{ sku: 'A', set: 6 }, { sku: 'B', set: 7 }], {
    complete: true,
  });
  assert.deepEqual([again.applied, again.zeroed, again.position], [0, 0, 6]);
});

test('rejects a stocktake that would zero more than its limit, unless forced',
  async (t) => {
    const { server, seller } = await openShop(t, { A: 7, B: 7, C: 7, D: 0 });
    const changes = [{ sku: 'A', set: 6 }, { sku: 'D', set: 2 }];
    for (const members of [{}, { zero_limit: 66 }, { zero_limit: 66.6 }, { force: false }]) {
      const answer = await sendStock(seller, { changes, complete: true, ...members });
      assert.equal(answer.status, 409);
      const problem = answer.json();
      assert.match(problem.detail, /^2 products are not named .*zero_limit or set force to true/);
      assert.deepEqual(statusesOf(problem), ['ok', 'ok']);
      assert.deepEqual([problem.applied, problem.zeroed, problem.position], [0, 0, 4]);
    }
    assert.equal(await readPosition(server, seller), 4);
    const limited = await sync(seller, changes, { complete: true, zero_limit: 66.7 });
    assert.deepEqual([limited.applied, limited.zeroed, limited.position], [2, 2, 8]);
    const forced = await sync(seller, [], { complete: true, zero_limit: 0, force: true });
    assert.deepEqual([forced.applied, forced.zeroed, forced.position], [0, 2, 10]);
    assert.deepEqual(await readStocks(seller), { A: 0, B: 0, C: 0, D: 0 });
  });

test('does not zero a product that a stocktake names in an invalid change', async (t) => {
  const { seller, ids } = await openShop(t, { A: 7, B: 7, C: 7, D: 7 });
  const body = await sync(seller, [
    { sku: 'A', set: '12' }, { id: ids['B'], set: 1.5 }, { sku: 'C', set: 3, note: 'x' },
  ], { complete: true });
  assert.deepEqual(statusesOf(body), ['invalid', 'invalid', 'invalid']);
  assert.deepEqual([body.zeroed, body.failed], [1, 3]);
  assert.deepEqual(await readStocks(seller), { A: 7, B: 7, C: 7, D: 0 });
});

test('zeroes a catalogue of several thousand products with one stocktake', async (t) => {
  const { server, seller } = await openShop(t, { A: 7 });
  const rows = Array.from({ length: 2_500 }, (_, n) => `P,K,S-${n},1,${n % 2}\n`).join('');
  await seller.send({
    method: 'POST', path: '/api/v1/products/import', headers: { 'content-type': 'text/csv' },
    body: `name,category,sku,price,stock\n${rows}`,
  });
  const body = await sync(seller, [{ sku: 'S-1', set: 1 }], { complete: true, force: true });
  assert.deepEqual([body.zeroed, body.position], [1_250, 2_501 + 1_250]);
  assert.equal(await readPosition(server, seller), 2_501 + 1_250);
  const { products } = (await seller.send({ path: '/api/v1/products?stock_min=1' })).json();
  assert.deepEqual(products.map((product: { sku: string }) => product.sku), ['S-1']);
});

test('returns for a dry run the same results as for the call, and changes nothing', async (t) => {
  const { server, seller } = await openShop(t, { A: 7, B: 7, C: 7 });
  const changes = [
    { sku: 'A', adjust: -3 }, { sku: 'A', adjust: -5 }, { sku: 'none', set: 1 },
    { sku: 'B', set: 9, sequence: 4 }, { sku: 'B', set: 10, sequence: 4 }, { sku: 'B', set: 'x' },
  ];
  const body = { changes, source: 'erp', complete: true };
  const dry = await sendStock(seller, body, { query: 'dry_run=true' });
  assert.equal(dry.status, 200);
  assert.equal(await readPosition(server, seller), 3);
  assert.deepEqual(await readStocks(seller), { A: 7, B: 7, C: 7 });
  const made = await sendStock(seller, body, { query: 'dry_run=false' });
  assert.deepEqual(withoutImport(made.json()), dry.json());
  assert.equal(await readPosition(server, seller), dry.json().position);
});

test('rejects a dry run in the same way as the call', async (t) => {
  const { seller } = await openShop(t, { A: 7, B: 7, C: 7 });
  for (const body of [
    { changes: [{ sku: 'A', set: 1 }, { sku: 'none', set: 1 }], atomic: true },
    { changes: [{ sku: 'A', set: 1 }], complete: true },
    { changes: [{ sku: 'A', set: 1 }, {}], atomic: true },
  ]) {
    const dry = await sendStock(seller, body, { query: 'dry_run=true' });
    const made = await sendStock(seller, body);
    assert.equal(dry.status, 409);
    assert.equal(dry.text, made.text);
  }
});

test('records movements of products that are created, changed, imported and deleted',
  async (t) => {
    const { seller } = await openShop(t, { A: 7 });
    const path = '/api/v1/products';
    const json = { 'content-type': 'application/json' };
    await seller.send({
      method: 'PATCH', path: `${path}/sku/A`, headers: json, body: '{"stock":5}',
    });
    const product = { name: 'P', category: 'K', price: 1 };
    await seller.send({
      method: 'PUT', path: `${path}/sku/A`, headers: json,
      body: JSON.stringify({ ...product, sku: 'A', stock: 4 }),
    });
    await seller.send({
      method: 'PATCH', path: `${path}/sku/A`, headers: json, body: '{"name":"Q"}',
    });
    await seller.send({
      method: 'PUT', path: `${path}/sku/B`, headers: json,
      body: JSON.stringify({ ...product, sku: 'B', stock: 2 }),
    });
    const lines = [{ ...product, sku: 'A', stock: 3 }, { ...product, sku: 'C', stock: 1 }];
    await seller.send({
      method: 'POST', path: `${path}/import`, headers: { 'content-type': 'application/x-ndjson' },
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    });
    await sync(seller, [{ sku: 'A', adjust: 1 }]);
    await seller.send({ method: 'DELETE', path: `${path}/sku/A` });
    await seller.create({ sku: 'Z', stock: 0 });
    assert.deepEqual(await readLedger(seller), [
      'A 0 7', 'A 7 5', 'A 5 4', 'B 0 2', 'A 4 3', 'C 0 1', 'A 3 4', 'A 4 0',
    ]);
  });

test('changes only the time, the position and the stock of a product', async (t) => {
  const clock = makeClock();
  const { seller, ids } = await openShop(t, { A: 7 }, { clock });
  const path = `/api/v1/products/${ids['A']}`;
  const before = (await seller.send({ path })).json();
  clock.now += 60_000;
  await sync(seller, [{ sku: 'A', set: 8 }]);
  const after = await seller.send({ path });
  assert.deepEqual(after.json(), {
    ...before, stock: 8, position: 2, updated_at: new Date(clock.now).toISOString(),
  });
  assert.equal(after.headers.etag?.includes('2'), true);
});
