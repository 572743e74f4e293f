/** The contract of a store: what reverts restore, and what they leave alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImportId } from '../../../src/domain/id.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, DAY_MS, makeActor, makeNewProduct, type PrepareStore, readAll,
} from './fixture.ts';
import { A, B, importRows, revert, sell } from './revert-fixture.ts';
import { testClampedReverts, testRepeatedReverts } from './repeated-reverts.ts';
import { makeSync } from './stock.ts';

export function testReverts(prepare: PrepareStore): void {
  testWhole(prepare);
  testNothing(prepare);
  testConflicts(prepare);
  testForced(prepare);
  testChains(prepare);
  testRanges(prepare);
  testRepeatedReverts(prepare);
  testClampedReverts(prepare);
  testRetries(prepare);
  testPruned(prepare);
}

async function open(prepare: PrepareStore, t: Parameters<PrepareStore>[0]) {
  const clock = makeClock();
  const store = await prepare(t)(clock);
  const actor = await makeActor(store);
  return { clock, store, actor, ...actor };
}

function testWhole(prepare: PrepareStore): void {
  test('restores what an import updated, and deletes what it created', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    await store.createProduct(actor, makeNewProduct({ sku: A, price: 10, stock: 5 }));
    const [before] = await readAll(store, sellerId);
    const importId = await importRows(store, actor, [
      makeNewProduct({ sku: A, name: 'Wrong', price: 99, stock: 50 }), makeNewProduct({ sku: B }),
    ]);
    const dry = await revert(store, actor, { importId }, { isDryRun: true });
    assert.deepEqual(dry.statuses, ['A restored', 'B deleted']);
    assert.equal(dry.importId, undefined);
    assert.equal(dry.position, 3);
    const done = await revert(store, actor, { importId });
    assert.deepEqual(done.statuses, dry.statuses);
    assert.deepEqual(done.lines.map(({ position }) => position), [4, 5]);
    assert.equal(done.position, 5);
    const after = await readAll(store, sellerId);
    assert.deepEqual(after, [{ ...before, position: 4, updatedAt: after[0]?.updatedAt }]);
    const { changes } = await store.listChanges(sellerId, { after: 3, limit: 9 });
    assert.deepEqual(changes.map(({ type, importId: by }) => [type, by]), [
      ['updated', done.importId], ['deleted', done.importId],
    ]);
    const record = await store.findImport(sellerId, done.importId ?? assert.fail());
    assert.ok(record);
    const { kind, reverts, counts, finishedAt, firstPosition, lastPosition } = record;
    assert.deepEqual({ kind, reverts, counts, firstPosition, lastPosition }, {
      kind: 'revert', reverts: { importId, after: 1, upTo: 3 }, firstPosition: 4, lastPosition: 5,
      counts: { restored: 1, deleted: 1, recreated: 0, unchanged: 0, conflicts: 0 },
    });
    assert.ok(finishedAt !== undefined);
  });

  test('creates a deleted product again, with its id and its time of creation', async (t) => {
    const { clock, store, actor, sellerId } = await open(prepare, t);
    const { id } = await store.createProduct(actor, makeNewProduct({ sku: A, stock: 5 }));
    await store.createProduct(actor, makeNewProduct({ sku: B }));
    const before = await readAll(store, sellerId);
    clock.now += 1_000;
    await store.deleteProduct(actor, { id }, {});
    const { statuses, lines } = await revert(store, actor, { after: 2, upTo: 3 });
    assert.deepEqual(statuses, ['A recreated']);
    assert.deepEqual(lines.map(({ id: one, position }) => [one, position]), [[id, 4]]);
    const updated = { position: 4, updatedAt: clock.now };
    assert.deepEqual(await readAll(store, sellerId), [{ ...before[0], ...updated }, before[1]]);
    const found = await store.searchProducts(sellerId, {
      filter: {}, sort: { by: 'id', isDescending: false }, after: undefined, limit: 9,
    }, 4);
    assert.deepEqual(found.products.map(({ sku }) => sku), [A, B]);
    const { movements } = await store.listMovements(sellerId, {
      filter: { productId: id }, after: 0, upTo: 9, isDescending: false, limit: 9,
    });
    assert.deepEqual(movements.map(({ position, movement: { before: from, after: to } }) =>
      [position, from, to]), [[1, 0, 5], [3, 5, 0], [4, 0, 5]]);
  });

}

function testNothing(prepare: PrepareStore): void {
  test('finds nothing to do the second time, and nothing in an empty selection', async (t) => {
    const { store, actor } = await open(prepare, t);
    await store.createProduct(actor, makeNewProduct({ sku: A, stock: 5 }));
    const importId = await importRows(store, actor, [{ sku: A, stock: 9 }]);
    await revert(store, actor, { importId });
    await sell(store, actor, A, 2);
    for (const isForced of [false, true]) {
      const { statuses, position } = await revert(store, actor, { importId }, { isForced });
      assert.deepEqual(statuses, ['A unchanged']);
      assert.equal(position, 4);
    }
    const nothing = await importRows(store, actor, [], 'upsert', false);
    assert.deepEqual((await revert(store, actor, { importId: nothing })).lines, []);
    assert.deepEqual((await revert(store, actor, { after: 4, upTo: 4 })).lines, []);
  });

  test('rejects unknown imports, and ranges that the catalogue has not reached', async (t) => {
    const { store, actor } = await open(prepare, t);
    const other = await makeActor(store);
    const theirs = await importRows(store, other, [makeNewProduct()]);
    for (const importId of [theirs, 7 as ImportId]) {
      await assert.rejects(revert(store, actor, { importId }), { code: 'not_found' });
    }
    await assert.rejects(revert(store, actor, { after: 0, upTo: 1 }), { code: 'invalid_query' });
    assert.deepEqual(await store.listImports(actor.sellerId, { before: undefined, limit: 9 }), []);
  });
}

function testConflicts(prepare: PrepareStore): void {
  test('leaves products alone that something else changed since, and says why', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    const skus = ['sold', 'renamed', 'gone', 'fine'];
    for (const sku of skus) await store.createProduct(actor, makeNewProduct({ sku, stock: 5 }));
    const [sold, renamed, gone] = await readAll(store, sellerId);
    assert.ok(sold && renamed && gone);
    const importId = await importRows(
      store, actor, skus.map((sku) => makeNewProduct({ sku, name: 'Wrong', stock: 5 })),
    );
    await sell(store, actor, sold.sku, 1);
    await store.patchProduct(actor, renamed, { category: 'Another' }, {});
    await store.deleteProduct(actor, gone, {});
    const before = await readAll(store, sellerId);
    for (const isDryRun of [true, false]) {
      const { statuses } = await revert(store, actor, { importId }, { isDryRun });
      assert.deepEqual(statuses, [
        'sold (moved)', 'renamed (changed)', 'gone (deleted)', 'fine restored',
      ]);
    }
    assert.deepEqual((await readAll(store, sellerId)).slice(0, 2), before.slice(0, 2));
  });

  test('has no conflict once the other changes have been undone', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    await store.createProduct(actor, makeNewProduct({ sku: A, price: 1, stock: 5 }));
    const [before] = await readAll(store, sellerId);
    const first = await importRows(store, actor, [{ sku: A, priceMinor: 200, stock: 6 }]);
    const second = await importRows(store, actor, [{ sku: A, priceMinor: 300, stock: 7 }]);
    assert.deepEqual((await revert(store, actor, { importId: first })).statuses, ['A (changed)']);
    assert.deepEqual((await revert(store, actor, { importId: second })).statuses, ['A restored']);
    assert.deepEqual((await revert(store, actor, { importId: first })).statuses, ['A restored']);
    const [after] = await readAll(store, sellerId);
    assert.deepEqual(after, { ...before, position: after?.position, updatedAt: after?.updatedAt });
  });

  test('does not take a SKU that another product has now, even if forced', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    const { id } = await store.createProduct(actor, makeNewProduct({ sku: A }));
    await store.deleteProduct(actor, { id }, {});
    await store.createProduct(actor, makeNewProduct({ sku: A }));
    for (const isForced of [false, true]) {
      for (const isDryRun of [true, false]) {
        const options = { isForced, isDryRun };
        const { statuses } = await revert(store, actor, { after: 1, upTo: 2 }, options);
        assert.deepEqual(statuses, ['A (sku_taken)']);
      }
    }
    assert.equal((await readAll(store, sellerId)).length, 1);
  });
}

function testForced(prepare: PrepareStore): void {
  const cases = [
    { what: 'keeps the sales', set: 50, sold: 3, left: 7 },
    { what: 'never goes below zero', set: 50, sold: 45, left: 0 },
    { what: 'returns stock that the import removed', set: 4, sold: 3, left: 7 },
  ];
  for (const { what, set, sold, left } of cases) {
    test(`forced, ${what}`, async (t) => {
      const { store, actor, sellerId } = await open(prepare, t);
      await store.createProduct(actor, makeNewProduct({ sku: A, price: 1, stock: 10 }));
      const importId = await importRows(store, actor, [{ sku: A, priceMinor: 900, stock: set }]);
      await sell(store, actor, A, sold);
      for (const isDryRun of [true, false]) {
        const { lines } = await revert(store, actor, { importId }, { isForced: true, isDryRun });
        assert.deepEqual(lines.map(({ status, after }) =>
          [status, after?.stock, after?.priceMinor]), [['restored', left, 100]]);
      }
      const [after] = await readAll(store, sellerId);
      assert.deepEqual([after?.stock, after?.priceMinor], [left, 100]);
    });
  }

  test('forced, restores only the members that the import changed', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    const product = makeNewProduct({ sku: A, price: 1, stock: 10 });
    await store.createProduct(actor, product);
    const importId = await importRows(store, actor, [{ sku: A, priceMinor: 900 }]);
    await store.patchProduct(actor, { sku: A }, { name: 'Better', priceMinor: 950 }, {});
    await revert(store, actor, { importId }, { isForced: true });
    const [after] = await readAll(store, sellerId);
    assert.deepEqual([after?.name, after?.priceMinor, after?.stock], ['Better', 100, 10]);
  });

  test('forced, creates a product again that was deleted since', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    await store.createProduct(actor, makeNewProduct({ sku: A, price: 1, stock: 10 }));
    const importId = await importRows(store, actor, [{ sku: A, priceMinor: 900, stock: 12 }]);
    await sell(store, actor, A, 4);
    await store.deleteProduct(actor, { sku: A }, {});
    const { statuses } = await revert(store, actor, { importId }, { isForced: true });
    assert.deepEqual(statuses, ['A recreated']);
    const [after] = await readAll(store, sellerId);
    assert.deepEqual([after?.priceMinor, after?.stock], [100, 6]);
  });

  test('forced, deletes a product that the import created and others changed', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    const importId = await importRows(store, actor, [makeNewProduct({ sku: A, stock: 9 })]);
    await sell(store, actor, A, 1);
    assert.deepEqual((await revert(store, actor, { importId })).statuses, ['A (moved)']);
    const { statuses } = await revert(store, actor, { importId }, { isForced: true });
    assert.deepEqual(statuses, ['A deleted']);
    assert.deepEqual(await readAll(store, sellerId), []);
  });
}

function testChains(prepare: PrepareStore): void {
  test('reverts a revert, and that one again', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    await store.createProduct(actor, makeNewProduct({ sku: A, stock: 5 }));
    const importId = await importRows(store, actor, [
      { sku: A, stock: 9 }, makeNewProduct({ sku: B, stock: 1 }),
    ]);
    const read = async () => (await readAll(store, sellerId))
      .map(({ id, sku, name, stock, createdAt }) => ({ id, sku, name, stock, createdAt }));
    const imported = await read();
    const first = await revert(store, actor, { importId });
    const reverted = await read();
    assert.ok(first.importId);
    const second = await revert(store, actor, { importId: first.importId });
    assert.deepEqual(second.statuses, ['A restored', 'B recreated']);
    assert.deepEqual(await read(), imported);
    assert.ok(second.importId);
    const third = await revert(store, actor, { importId: second.importId });
    assert.deepEqual(third.statuses, ['A restored', 'B deleted']);
    assert.deepEqual(await read(), reverted);
    // The import is reverted now: all three reverts count.
    assert.deepEqual((await revert(store, actor, { importId })).statuses, [
      'A unchanged', 'B unchanged',
    ]);
  });
}

function testRanges(prepare: PrepareStore): void {
  test('reverts in a range only what one key or one source changed', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    const portal = { ...actor, keyId: 1 as typeof actor.keyId };
    const products = ['one', 'two', 'three'].map((sku) => makeNewProduct({ sku, stock: 5 }));
    for (const product of products) await store.createProduct(actor, product);
    const [one, two, three] = await readAll(store, sellerId);
    assert.ok(one && two && three);
    await store.patchProduct(portal, one, { name: 'Edited' }, {});
    const sync = makeSync([{ sku: two.sku, set: 9 }], { source: 'till' });
    await store.syncStock(actor, sync, false);
    await store.patchProduct(actor, three, { name: 'Edited' }, {});
    const range = { after: 3, upTo: 6 };
    const options = { isDryRun: true };
    const byKey = await revert(store, actor, { ...range, keyId: portal.keyId }, options);
    assert.deepEqual(byKey.statuses, ['one restored']);
    const bySource = await revert(store, actor, { ...range, source: 'till' }, options);
    assert.deepEqual(bySource.statuses, ['two restored']);
    await revert(store, actor, range);
    const strip = ({ id, name, stock }: typeof one) => ({ id, name, stock });
    assert.deepEqual((await readAll(store, sellerId)).map(strip), [one, two, three].map(strip));
    assert.deepEqual((await revert(store, actor, range)).statuses, [
      'one unchanged', 'two unchanged', 'three unchanged',
    ]);
  });

  test('restores SKUs in the order that frees them', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    const one = await store.createProduct(actor, makeNewProduct({ sku: 'one' }));
    const two = await store.createProduct(actor, makeNewProduct({ sku: 'two' }));
    const before = await readAll(store, sellerId);
    await store.patchProduct(actor, one, { sku: A }, {});
    await store.patchProduct(actor, two, { sku: before[0]?.sku ?? assert.fail() }, {});
    await store.createProduct(actor, makeNewProduct({ sku: 'two' }));
    for (const isDryRun of [true, false]) {
      const { statuses } = await revert(store, actor, { after: 2, upTo: 5 }, { isDryRun });
      assert.deepEqual(statuses, ['two deleted', 'two restored', 'one restored']);
    }
    assert.deepEqual((await readAll(store, sellerId)).map(({ id, sku }) => [id, sku]),
      before.map(({ id, sku }) => [id, sku]));
  });
}

function testRetries(prepare: PrepareStore): void {
  test('returns the same lines to a retry with the same key, and counts nothing twice',
    async (t) => {
      const { store, actor, sellerId } = await open(prepare, t);
      const products = countTo(2_500).map(() => makeNewProduct({ stock: 1 }));
      await importRows(store, actor, products);
      const importId = await importRows(
        store, actor, products.map(({ sku }) => ({ sku, stock: 8 })),
      );
      await sell(store, actor, products[0]?.sku ?? assert.fail(), 1);
      const write = { ...actor, idempotency: { key: 'k', part: 0 } };
      const cut = await store.startRevert(write, {
        selection: { importId }, isForced: false, isDryRun: false,
      });
      await cut.next();
      cut[Symbol.dispose](); // as a server that is killed
      const resumed = await revert(store, write, { importId });
      assert.equal(resumed.importId, cut.importId);
      assert.deepEqual([...new Set(resumed.lines.map(({ status }) => status))],
        ['conflict', 'restored']);
      const record = await store.findImport(sellerId, resumed.importId ?? assert.fail());
      assert.deepEqual(record?.counts,
        { restored: 2_499, deleted: 0, recreated: 0, unchanged: 0, conflicts: 1 });
      const again = await revert(store, write, { importId });
      assert.ok(again.isReplay);
      const strip = ({ lines }: typeof again) =>
        lines.map(({ before: _, after: __, ...line }) => line);
      assert.deepEqual(strip(again), strip(resumed));
      assert.equal(again.position, resumed.position);
      assert.deepEqual(await store.findImport(sellerId, again.importId ?? assert.fail()), record);
      await assert.rejects(revert(store, write, { importId }, { isForced: true }),
        { code: 'idempotency_mismatch' });
    });

  test('loses no sale that happens during a revert', async (t) => {
    const { store, actor, sellerId } = await open(prepare, t);
    const products = countTo(1_200).map(() => makeNewProduct({ stock: 100 }));
    await importRows(store, actor, products);
    const importId = await importRows(
      store, actor, products.map(({ sku }) => ({ sku, stock: 500 })),
    );
    const skus = products.map(({ sku }) => sku).filter((_, index) => index % 10 === 0);
    const [reverted] = await Promise.all([
      revert(store, actor, { importId }, { isForced: true }),
      ...skus.map((sku) => sell(store, actor, sku, 1)),
    ]);
    assert.deepEqual(new Set(reverted.lines.map(({ status }) => status)), new Set(['restored']));
    const levels = new Map((await readAll(store, sellerId)).map(({ sku, stock }) => [sku, stock]));
    for (const { sku } of products) assert.equal(levels.get(sku), skus.includes(sku) ? 99 : 100);
  });
}

function testPruned(prepare: PrepareStore): void {
  test('rejects changes that were pruned', async (t) => {
    const { clock, store, actor } = await open(prepare, t);
    await store.createProduct(actor, makeNewProduct({ sku: A, stock: 5 }));
    const importId = await importRows(store, actor, [{ sku: A, stock: 9 }]);
    clock.now += DAY_MS;
    const later = await importRows(store, actor, [{ sku: A, stock: 10 }]);
    await store.pruneHistory(clock.now);
    for (const selection of [{ importId }, { after: 1, upTo: 3 }]) {
      await assert.rejects(revert(store, actor, selection), (error: { code: string }) =>
        ['history_pruned', 'not_found'].includes(error.code));
    }
    assert.deepEqual((await revert(store, actor, { importId: later })).statuses, ['A restored']);
  });
}
