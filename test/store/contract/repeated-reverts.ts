/** The contract of a store: reverts of what another revert has already reverted. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { makeClock } from '../../support/clock.ts';
import { makeActor, makeNewProduct, type PrepareStore, readAll } from './fixture.ts';
import { A, importRows, revert, sell } from './revert-fixture.ts';

async function open(prepare: PrepareStore, t: TestContext) {
  const store = await prepare(t)(makeClock());
  const actor = await makeActor(store);
  return { store, actor, sellerId: actor.sellerId };
}

export function testRepeatedReverts(prepare: PrepareStore): void {
  test('does not revert an import again that a revert of a range has reverted', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    await store.createProduct(actor, makeNewProduct({ sku: A, stock: 10 }));
    const importId = await importRows(store, actor, [{ sku: A, priceMinor: 900, stock: 50 }]);
    await sell(store, actor, A, 3);
    const range = await revert(store, actor, { after: 1, upTo: 3 });
    assert.ok(range.importId);
    await sell(store, actor, A, 2);
    for (const isForced of [false, true]) {
      const { statuses } = await revert(store, actor, { importId }, { isForced });
      assert.deepEqual(statuses, ['A unchanged']);
    }
    assert.equal((await readAll(store, sellerId))[0]?.stock, 8);
    // A revert of that revert restores the import.
    await revert(store, actor, { importId: range.importId }, { isForced: true });
    assert.equal((await readAll(store, sellerId))[0]?.stock, 45);
    const { statuses } = await revert(store, actor, { importId }, { isForced: true });
    assert.deepEqual(statuses, ['A restored']);
    assert.equal((await readAll(store, sellerId))[0]?.stock, 5);
  });

  test('does not revert a revert that a later revert of the import has undone', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    await store.createProduct(actor, makeNewProduct({ sku: A, stock: 10 }));
    const importId = await importRows(store, actor, [{ sku: A, stock: 50 }]);
    const first = await revert(store, actor, { importId });
    const second = await revert(store, actor, { importId: first.importId ?? assert.fail() });
    await revert(store, actor, { importId });
    const options = { isForced: true };
    const { statuses } = await revert(
      store, actor, { importId: second.importId ?? assert.fail() }, options,
    );
    assert.deepEqual(statuses, ['A unchanged']);
    assert.equal((await readAll(store, sellerId))[0]?.stock, 10);
  });

  test('reverts an import again once the revert of its range was reverted', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    await store.createProduct(actor, makeNewProduct({ sku: A, stock: 10 }));
    const importId = await importRows(store, actor, [{ sku: A, stock: 50 }]);
    await revert(store, actor, { after: 1, upTo: 2 });
    assert.deepEqual((await revert(store, actor, { importId })).statuses, ['A unchanged']);
    await revert(store, actor, { after: 2, upTo: 3 }); // the revert of the range
    const options = { isForced: true };
    assert.deepEqual((await revert(store, actor, { importId }, options)).statuses, ['A restored']);
    assert.deepEqual((await revert(store, actor, { importId }, options)).statuses, ['A unchanged']);
    assert.equal((await readAll(store, sellerId))[0]?.stock, 10);
  });
}

export function testClampedReverts(prepare: PrepareStore): void {
  test('reverts a stock change once, even if it was clamped at 0', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    await store.createProduct(actor, makeNewProduct({ sku: A, stock: 10 }));
    const importId = await importRows(store, actor, [{ sku: A, stock: 50 }]);
    await sell(store, actor, A, 45);
    const options = { isForced: true };
    assert.deepEqual((await revert(store, actor, { importId }, options)).statuses, ['A restored']);
    await sell(store, actor, A, -20);
    assert.deepEqual((await revert(store, actor, { importId }, options)).statuses, ['A unchanged']);
    assert.equal((await readAll(store, sellerId))[0]?.stock, 20);
  });
}
