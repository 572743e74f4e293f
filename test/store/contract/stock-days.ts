/** The contract of a store: stock movements per day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SellerId } from '../../../src/domain/id.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import { countTo, DAY_MS, makeActor, makeNewProduct, type PrepareStore } from './fixture.ts';
import { makeSync } from './stock.ts';

const [A, B] = ['A', 'B'].map((text) => text as Sku) as [Sku, Sku]; // legal ones
/** The last millisecond of a day. */
const MIDNIGHT = Date.parse('2026-01-02T23:59:59.999Z');
const DAY = 20_455;

export function testStockDays(prepare: PrepareStore): void {
  testCounting(prepare);
  testWithoutEffect(prepare);
  testListing(prepare);
}

/** Each listed day: its number, the units in, the units out. */
async function readDays(store: Store, sellerId: SellerId, since = 0): Promise<number[][]> {
  const days = await store.listStockDays(sellerId, { since, limit: 100 });
  return days.map(({ day, unitsIn, unitsOut }) => [day, unitsIn, unitsOut]);
}

function testCounting(prepare: PrepareStore): void {
  test('counts stock in and out for every type of change, by day', async (t) => {
    const clock = makeClock(MIDNIGHT);
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    const { sellerId } = actor;
    assert.deepEqual(await readDays(store, sellerId), []);
    await store.createProduct(actor, makeNewProduct({ sku: A, stock: 5 }));
    await store.createProduct(actor, makeNewProduct({ sku: B, stock: 0 }));
    await store.syncStock(actor, makeSync([
      { sku: A, adjust: -2 }, { sku: B, set: 30 }, { sku: B, set: 10 }, { sku: B, set: 10 },
    ]), false);
    assert.deepEqual(await readDays(store, sellerId), [[DAY, 35, 22]]);
    clock.now += 1;
    await store.patchProduct(actor, { sku: A }, { stock: 4, name: 'Another' }, {});
    const imported = [{ sku: B, stock: 7 }, { stock: 100 }, { stock: 2 }];
    await store.importProducts(actor, imported.map((one) => makeNewProduct(one)), 'upsert');
    await store.deleteProduct(actor, { sku: A }, {});
    assert.deepEqual(await readDays(store, sellerId), [[DAY, 35, 22], [DAY + 1, 103, 7]]);
    await store.syncStock(actor, makeSync([{ sku: B, set: 8 }], {
      completion: { zeroLimitPercent: 100 },
    }), false);
    assert.deepEqual(await readDays(store, sellerId, DAY + 1), [[DAY + 1, 104, 109]]);
  });

  test('counts on the day of the change, and only days with movements', async (t) => {
    const clock = makeClock(MIDNIGHT + 1);
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    await store.createProduct(actor, makeNewProduct({ sku: A, stock: 5 }));
    clock.now -= 5; // back over midnight, which the time of the catalogue does not follow
    await store.patchProduct(actor, { sku: A }, { stock: 6 }, {});
    assert.deepEqual(await readDays(store, actor.sellerId), [[DAY + 1, 6, 0]]);
    clock.now += DAY_MS + 5;
    await store.patchProduct(actor, { sku: A }, { name: 'Another' }, {});
    assert.deepEqual(await readDays(store, actor.sellerId), [[DAY + 1, 6, 0]]);
  });

  test('adds up what several stores move concurrently', async (t) => {
    const open = prepare(t);
    const stores = [await open(makeClock(MIDNIGHT)), await open(makeClock(MIDNIGHT))];
    const [store] = stores;
    assert.ok(store);
    const actor = await makeActor(store);
    await store.createProduct(actor, makeNewProduct({ sku: A, stock: 100 }));
    await Promise.all(countTo(40).map((n) => stores[n % 2]?.syncStock(actor, makeSync([
      { sku: A, adjust: n }, { sku: A, adjust: -1 },
    ]), false)));
    assert.deepEqual(await readDays(store, actor.sellerId), [[DAY, 920, 40]]);
  });
}

function testWithoutEffect(prepare: PrepareStore): void {
  test('counts no rejected, dry-run or replayed changes', async (t) => {
    const store = await prepare(t)(makeClock(MIDNIGHT));
    const actor = await makeActor(store);
    await store.createProduct(actor, makeNewProduct({ sku: A, stock: 5 }));
    const write = { ...actor, idempotency: { key: 'k', part: 0 } };
    const sync = makeSync([{ sku: A, adjust: 1 }]);
    const beside: Promise<unknown>[] = [
      store.syncStock(write, sync, false),
      store.createProduct(actor, makeNewProduct({ stock: 10 })),
    ];
    const taken = store.createProduct(actor, makeNewProduct({ sku: A, stock: 1_000 }));
    beside.push(store.syncStock(write, sync, false));
    await assert.rejects(taken, { code: 'sku_taken' });
    await Promise.all(beside);
    const isAtomic = true;
    const invalid = [{ sku: A, adjust: 7 }, { sku: B, set: 1 }];
    await store.syncStock(actor, makeSync(invalid, { isAtomic }), false);
    await store.syncStock(actor, makeSync([{ sku: A, adjust: 7 }]), true);
    assert.deepEqual(await readDays(store, actor.sellerId), [[DAY, 16, 0]]);
  });
}

function testListing(prepare: PrepareStore): void {
  test("lists days in order from a start, up to a limit, and only the seller's", async (t) => {
    const clock = makeClock(MIDNIGHT);
    const store = await prepare(t)(clock);
    const [actor, other] = [await makeActor(store), await makeActor(store)];
    for (const [n, days] of [0, 1, 3].entries()) {
      clock.now = MIDNIGHT + days * DAY_MS;
      await store.createProduct(actor, makeNewProduct({ stock: n + 1 }));
      await store.createProduct(other, makeNewProduct({ stock: 50 }));
    }
    const list = async (since: number, limit: number) =>
      (await store.listStockDays(actor.sellerId, { since, limit })).map(({ day }) => day - DAY);
    assert.deepEqual(await list(0, 9), [0, 1, 3]);
    assert.deepEqual(await list(DAY + 1, 9), [1, 3]);
    assert.deepEqual(await list(DAY + 2, 9), [3]);
    assert.deepEqual(await list(DAY, 2), [0, 1]);
    assert.deepEqual(await readDays(store, actor.sellerId, DAY + 3), [[DAY + 3, 3, 0]]);
  });

  test('deletes the days before the history that is kept', async (t) => {
    const clock = makeClock(MIDNIGHT);
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    for (const stock of countTo(3)) {
      await store.createProduct(actor, makeNewProduct({ stock }));
      clock.now += DAY_MS;
    }
    await store.pruneHistory(MIDNIGHT + DAY_MS + 1);
    const kept = [[DAY + 2, 3, 0]];
    assert.deepEqual(await readDays(store, actor.sellerId), kept);
    await store.pruneHistory(MIDNIGHT + DAY_MS * 2);
    assert.deepEqual(await readDays(store, actor.sellerId), kept);
  });
}
