/** Stocktakes over HTTP whose changes are partly invalid. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from '../../support/server.ts';
import { assertProblem, faultsOf } from '../problem.ts';
import { openShop, readStocks, sendStock } from './stock.ts';

test('does not zero a product whose change in a stocktake is invalid', async (t) => {
  const server = await startServer(t);
  const scopes = ['products:read', 'products:write', 'stock:write'];
  const seller = await server.makeSeller({ scopes });
  const ids: string[] = [];
  for (const sku of ['A', 'B', 'C', 'D']) {
    ids.push((await seller.create({ sku, stock: 5 })).json().id);
  }
  const changes = [
    { sku: 'A', set: 3 }, { sku: 'B', set: -1 }, { id: ids[2], set: '7' }, { sku: 'X', set: 1 },
  ];
  const answer = await seller.send({
    method: 'POST', path: '/api/v1/stock', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ changes, complete: true }),
  });
  assert.equal(answer.status, 200, answer.text);
  const { results, zeroed, applied, failed } = answer.json();
  assert.deepEqual(results.map(({ status }: { status: string }) => status), [
    'ok', 'invalid', 'invalid', 'not_found',
  ]);
  assert.deepEqual({ zeroed, applied, failed }, { zeroed: 1, applied: 1, failed: 3 });
  const { products } = (await seller.send({ path: '/api/v1/products' })).json();
  assert.deepEqual(products.map(({ stock }: { stock: number }) => stock), [3, 5, 5, 0]);
});

test('rejects a stocktake with an unknown SKU that may be that of a product', async (t) => {
  const stocks = { '00815': 5, 4006381333931: 5, B: 5 };
  const { seller } = await openShop(t, stocks);
  const cases = [
    ['815', 4006381333931, 'has a SKU that no product has, and may mean your product "00815"'],
    ['4.00638E+12', '00815', 'does not identify its product'],
  ] as const;
  for (const [sku, other, fault] of cases) {
    const changes = ['B', String(other), sku].map((name) => ({ sku: name, set: 7 }));
    for (const query of ['dry_run=true', '']) {
      const answer = await sendStock(seller, { changes, complete: true, force: true }, { query });
      assertProblem(answer, 409, 'sync-refused');
      const start = `The change of "${sku}" ${fault}, so nothing was changed. Correct the SKU`;
      assert.ok(answer.json().detail.startsWith(start), answer.json().detail);
    }
  }
  assert.deepEqual(await readStocks(seller), stocks);
  const changes = ['B', '4006381333931', '815', '00815'].map((sku) => ({ sku, set: 7 }));
  const answer = await sendStock(seller, { changes, complete: true });
  assert.equal(answer.json().applied, 3);
});

for (const [what, change, fault] of [
  ['a number for a SKU', { sku: 7, set: 1 }, '/changes/1/sku type'],
  ['an invalid SKU', { sku: ' B', set: 1 }, '/changes/1/sku characters'],
  ['no SKU or id', { set: 1 }, '/changes/1 required'],
  ['no object', 'B', '/changes/1 type'],
] as const) {
  test(`rejects a stocktake with a change that has ${what}: it may mean any product`, async (t) => {
    const { seller } = await openShop(t, { A: 5, B: 5, 7: 5 });
    for (const force of [false, true]) {
      const body = { changes: [{ sku: 'A', set: 3 }, change], complete: true, zero_limit: 100 };
      const answer = await sendStock(seller, { ...body, force });
      assertProblem(answer, 400, 'invalid-data');
      assert.deepEqual(faultsOf(answer), [fault]);
    }
    assert.deepEqual(await readStocks(seller), { A: 5, B: 5, 7: 5 });
  });
}
