/** The contract of a store: the change feed, the ledger, past stock, and pruning. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGE_TYPES } from '../../../src/domain/catalogue/change.ts';
import type { ProductTarget } from '../../../src/domain/catalogue/product.ts';
import type { Product, Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { SellerId } from '../../../src/domain/id.ts';
import type { Store } from '../../../src/store/store.ts';
import type { MovementFilter, MovementQuery } from '../../../src/store/history-store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import { DAY_MS, makeActor, makeNewProduct, type PrepareStore } from './fixture.ts';
import { makeSync } from './stock.ts';

const [A, B, C] = ['A', 'B', 'C'].map((text) => text as Sku) as [Sku, Sku, Sku]; // legal ones
const ALL = { after: undefined, limit: 1_000 };

export function testHistory(prepare: PrepareStore): void {
  testFeed(prepare);
  testUnknownSeller(prepare);
  testLedger(prepare);
  testPast(prepare);
  testPastProducts(prepare);
  testPruning(prepare);
}

/**
 * A seller whose history has eight changes, one an hour: A and B created with 5 and 0, A moved to 3
 * and to 4 by the source erp, A renamed to C, B moved to 1, C deleted, and an A created with 2.
 */
async function prepareHistory(open: ReturnType<PrepareStore>) {
  const clock = makeClock();
  const store = await open(clock);
  const actor = await makeActor(store);
  const start = clock.now;
  const steps = [
    () => store.createProduct(actor, makeNewProduct({ sku: A, stock: 5 })),
    () => store.createProduct(actor, makeNewProduct({ sku: B, stock: 0 })),
    () => store.syncStock(actor, makeSync([{ sku: A, set: 3 }], { reason: 'sold' }), false),
    () => store.syncStock(actor, makeSync([{ sku: A, adjust: 1, sequence: 8 }], {
      source: 'erp', reason: 'back',
    }), false),
    () => store.patchProduct(actor, { sku: A }, { sku: C }, {}),
    () => store.patchProduct(actor, { sku: B }, { stock: 1 }, {}),
    () => store.deleteProduct(actor, { sku: C }, {}),
    () => store.createProduct(actor, makeNewProduct({ sku: A, stock: 2 })),
  ];
  for (const [index, step] of steps.entries()) {
    clock.now = start + index * 3_600_000;
    await step();
  }
  return { store, actor, clock, timeOf: (position: number) => start + (position - 1) * 3_600_000 };
}

function testUnknownSeller(prepare: PrepareStore): void {
  test('has no history of a seller that does not exist', async (t) => {
    const { store } = await prepareHistory(prepare(t));
    const sellerId = 99 as SellerId; // no seller's
    for (const types of [undefined, ['stock']] as const) {
      await assert.rejects(store.listChanges(sellerId, { after: 0, limit: 9, types }),
        { code: 'not_found', message: 'There is no such seller.' });
    }
    await assert.rejects(store.findPositionAt(sellerId, 0), { code: 'not_found' });
  });
}

function testFeed(prepare: PrepareStore): void {
  test('lists every change after a position, with its type', async (t) => {
    const { store, actor, timeOf } = await prepareHistory(prepare(t));
    const page = await store.listChanges(actor.sellerId, { after: 0, limit: 100 });
    assert.deepEqual(page.changes.map(({ position, type, sku, at }) => [position, type, sku, at]), [
      ['created', A], ['created', B], ['stock', A], ['stock', A], ['updated', C], ['stock', B],
      ['deleted', C], ['created', A],
    ].map((change, index) => [index + 1, ...change, timeOf(index + 1)]));
    assert.deepEqual(page.changes[3]?.movement, {
      before: 3, after: 4, reason: 'back', source: 'erp', sequence: 8,
    });
    assert.equal(page.changes[3]?.product, undefined);
    assert.match(page.changes[6]?.product ?? '', /"stock":4,"position":5/);
    assert.deepEqual([page.next, page.position], [8, 8]);
    assert.ok(page.changes.every(({ keyId }) => keyId === actor.keyId));
  });

  test('lists changes in pages, by type, and says how far it has read', async (t) => {
    const { store, actor: { sellerId } } = await prepareHistory(prepare(t));
    const read = async (after: number, limit: number, types?: 'stock'[]) => {
      const { changes, next } = await store.listChanges(sellerId, { after, limit, types });
      return [changes.map(({ position }) => position), next];
    };
    assert.deepEqual(await read(0, 3), [[1, 2, 3], 3]);
    assert.deepEqual(await read(6, 3), [[7, 8], 8]);
    assert.deepEqual(await read(8, 3), [[], 8]);
    assert.deepEqual(await read(0, 2, ['stock']), [[3, 4], 4]);
    assert.deepEqual(await read(4, 2, ['stock']), [[6], 8]);
  });

  test('rejects a position beyond the catalogue', async (t) => {
    const { store, actor: { sellerId } } = await prepareHistory(prepare(t));
    const rejected = { code: 'invalid_query' };
    await assert.rejects(store.listChanges(sellerId, { after: 9, limit: 1 }), rejected);
    await assert.rejects(store.listStockAt(sellerId, 9, ALL), rejected);
    await assert.rejects(store.listProductsAt(sellerId, 9, ALL), rejected);
    await assert.rejects(store.findProductAt(sellerId, { sku: A }, 9), rejected);
  });

  test('neither lists nor counts changes of another seller', async (t) => {
    const { store, actor, clock } = await prepareHistory(prepare(t));
    const other = await makeActor(store);
    const { sellerId } = other;
    assert.deepEqual(await store.listChanges(sellerId, { after: 0, limit: 9 }), {
      changes: [], next: 0, position: 0,
    });
    assert.equal((await store.createProduct(other, makeNewProduct({ sku: A }))).position, 1);
    const { changes } = await store.listChanges(sellerId, { after: 0, limit: 9 });
    assert.deepEqual(changes.map(({ sellerId: id, position }) => [id, position]), [[sellerId, 1]]);
    assert.deepEqual(await listPositions(store, other, { sku: A }), [1]);
    assert.deepEqual(await listPositions(store, other, { sku: B }), []);
    assert.equal((await store.listStockAt(sellerId, 1, ALL)).levels.length, 1);
    assert.equal(await store.findPositionAt(sellerId, clock.now), 1);
    assert.equal(await store.findPositionAt(actor.sellerId, clock.now), 8);
  });
}

/** Every movement that a filter finds, in pages of two; asserts that the count is the same. */
async function listPositions(
  store: Store, { sellerId }: Actor, filter: MovementFilter, members: Partial<MovementQuery> = {},
): Promise<number[]> {
  const positions: number[] = [];
  let query = { filter, after: 0, upTo: 1_000, isDescending: false, limit: 2, ...members };
  for (;;) {
    const { movements, next } = await store.listMovements(sellerId, query);
    positions.push(...movements.map(({ position }) => position));
    if (next === undefined) break;
    query = { ...query, ...(query.isDescending ? { upTo: next } : { after: next }) };
  }
  const count = await store.countMovements(sellerId, { filter, after: 0, upTo: 1_000, ...members });
  assert.deepEqual(count, { count: positions.length, isExact: true });
  return positions;
}

function testLedger(prepare: PrepareStore): void {
  test('lists every movement of stock, in either direction', async (t) => {
    const { store, actor } = await prepareHistory(prepare(t));
    const moved = [1, 3, 4, 6, 7, 8];
    assert.deepEqual(await listPositions(store, actor, {}), moved);
    const isDescending = true;
    assert.deepEqual(
      await listPositions(store, actor, {}, { isDescending }), moved.toReversed(),
    );
    assert.deepEqual(await listPositions(store, actor, {}, { after: 1, upTo: 6 }), [3, 4, 6]);
  });

  test('lists changes of some types, whether or not they moved stock', async (t) => {
    const { store, actor } = await prepareHistory(prepare(t));
    assert.deepEqual(await listPositions(store, actor, { types: ['created'] }), [1, 2, 8]);
    assert.deepEqual(await listPositions(store, actor, { types: ['updated', 'deleted'] }), [5, 7]);
    assert.deepEqual(await listPositions(store, actor, { types: [] }), []);
    const all = [1, 2, 3, 4, 5, 6, 7, 8];
    const isDescending = true;
    assert.deepEqual(
      await listPositions(store, actor, { types: CHANGE_TYPES }, { isDescending }),
      all.toReversed(),
    );
    const filter = { sku: C, types: ['stock', 'updated'] } as const;
    assert.deepEqual(await listPositions(store, actor, filter), [3, 4, 5]);
  });

  test('finds the snapshots of products before their changes', async (t) => {
    const { store, actor: { sellerId } } = await prepareHistory(prepare(t));
    const other = await makeActor(store);
    const before = await store.findPreviousSnapshots(sellerId, [1, 3, 5, 7, 8, 99]);
    assert.deepEqual([...before.keys()], [3, 5, 7]);
    const skus = [...before.values()].map((product) => JSON.parse(product).sku);
    assert.deepEqual(skus, [A, A, C]);
    assert.deepEqual(await store.findPreviousSnapshots(other.sellerId, [3, 5]), new Map());
  });

  test('lists movements by source, reason and time', async (t) => {
    const { store, actor, timeOf } = await prepareHistory(prepare(t));
    assert.deepEqual(await listPositions(store, actor, { source: 'erp' }), [4]);
    assert.deepEqual(await listPositions(store, actor, { reason: 'sold' }), [3]);
    assert.deepEqual(await listPositions(store, actor, { source: 'erp', reason: 'sold' }), []);
    const [since, until] = [timeOf(4), timeOf(7)];
    assert.deepEqual(await listPositions(store, actor, { since, until }), [4, 6, 7]);
    const within = { since: since + 1, until: until - 1 };
    assert.deepEqual(await listPositions(store, actor, within), [6]);
  });

  test('lists movements by the SKU that a product has, or had when it was deleted', async (t) => {
    const { store, actor } = await prepareHistory(prepare(t));
    assert.deepEqual(await listPositions(store, actor, { sku: A }), [8]);
    assert.deepEqual(await listPositions(store, actor, { sku: C }), [1, 3, 4, 7]);
    const { changes: [first] } = await store.listChanges(actor.sellerId, { after: 0, limit: 1 });
    const { productId } = first ?? assert.fail();
    assert.deepEqual(await listPositions(store, actor, { productId }), [1, 3, 4, 7]);
    assert.deepEqual(await listPositions(store, actor, { productId, sku: C }), [1, 3, 4, 7]);
    assert.deepEqual(await listPositions(store, actor, { productId, sku: A }), []);
  });
}

function testPast(prepare: PrepareStore): void {
  const levelsAt = async (store: Store, { sellerId }: Actor, position: number) => {
    const { levels } = await store.listStockAt(sellerId, position, ALL);
    return levels.map(({ sku, stock, position: last }) => [sku, stock, last]);
  };

  test('lists the stock of every product at a position', async (t) => {
    const { store, actor } = await prepareHistory(prepare(t));
    assert.deepEqual(await levelsAt(store, actor, 0), []);
    assert.deepEqual(await levelsAt(store, actor, 1), [[A, 5, 1]]);
    assert.deepEqual(await levelsAt(store, actor, 4), [[A, 4, 4], [B, 0, 2]]);
    assert.deepEqual(await levelsAt(store, actor, 6), [[C, 4, 5], [B, 1, 6]]);
    assert.deepEqual(await levelsAt(store, actor, 8), [[B, 1, 6], [A, 2, 8]]);
    const first = await store.listStockAt(actor.sellerId, 6, { after: undefined, limit: 1 });
    assert.deepEqual([first.levels.length, first.hasMore], [1, true]);
    const after = first.levels[0]?.id;
    const second = await store.listStockAt(actor.sellerId, 6, { after, limit: 1 });
    assert.deepEqual([second.levels[0]?.sku, second.hasMore], [B, false]);
  });

  test('finds the position of a time, even if the clock has stepped back', async (t) => {
    const { store, actor, clock, timeOf } = await prepareHistory(prepare(t));
    const find = (at: number) => store.findPositionAt(actor.sellerId, at);
    assert.deepEqual(await Promise.all([find(timeOf(1) - 1), find(timeOf(1))]), [0, 1]);
    assert.deepEqual(await Promise.all([find(timeOf(5) - 1), find(timeOf(5))]), [4, 5]);
    clock.now -= 50 * 60_000;
    await store.createProduct(actor, makeNewProduct());
    await store.syncStock(actor, makeSync([{ sku: B, set: 9 }]), false);
    const { changes } = await store.listChanges(actor.sellerId, { after: 8, limit: 9 });
    assert.deepEqual(changes.map(({ at }) => at), [timeOf(8), timeOf(8)]);
    assert.deepEqual(await Promise.all([find(timeOf(8) - 1), find(timeOf(8))]), [7, 10]);
    assert.deepEqual(await listPositions(store, actor, { since: timeOf(8) }), [8, 9, 10]);
  });

  test('follows a clock that is corrected after it was far ahead', async (t) => {
    const { store, actor, clock } = await prepareHistory(prepare(t));
    const right = clock.now;
    clock.now += 365 * 24 * 60 * 60_000;
    await store.createProduct(actor, makeNewProduct()); // at 9
    clock.now = right + 60_000;
    await store.createProduct(actor, makeNewProduct()); // at 10
    const { changes } = await store.listChanges(actor.sellerId, { after: 9, limit: 9 });
    assert.deepEqual(changes.map(({ at }) => at), [clock.now]);
    assert.equal(await store.findPositionAt(actor.sellerId, clock.now), 10);
    assert.equal(await store.findPositionAt(actor.sellerId, right), 8);
  });

  test('lists no movement of a later time, once a clock that was ahead is corrected', async (t) => {
    const { store, actor, clock, timeOf } = await prepareHistory(prepare(t));
    const now = clock.now;
    clock.now += 30 * DAY_MS;
    await store.syncStock(actor, makeSync([{ sku: B, set: 8 }]), false);
    clock.now = now + 120_000;
    await store.syncStock(actor, makeSync([{ sku: B, set: 9 }]), false);
    const filter = { since: timeOf(8), until: clock.now };
    assert.deepEqual(await listPositions(store, actor, filter), [8, 10]);
    assert.deepEqual(await listPositions(store, actor, { sku: B, ...filter }), [10]);
    assert.equal(await store.findPositionAt(actor.sellerId, clock.now), 10);
  });
}

function testPastProducts(prepare: PrepareStore): void {
  test('lists and finds the products as they were at a position', async (t) => {
    const { store, actor: { sellerId }, timeOf } = await prepareHistory(prepare(t));
    const describe = (product: Product | undefined) => product && [
      product.sku, product.stock, product.position, product.createdAt, product.updatedAt];
    const a = await store.findProductAt(sellerId, { sku: A }, 4) ?? assert.fail();
    assert.deepEqual(describe(a), [A, 4, 4, timeOf(1), timeOf(4)]);
    const { products } = await store.listProductsAt(sellerId, 4, ALL);
    assert.deepEqual(products.map(describe), [
      describe(a), [B, 0, 2, timeOf(2), timeOf(2)],
    ]);
    const find = async (target: ProductTarget, position: number) =>
      describe(await store.findProductAt(sellerId, target, position));
    const { id } = a;
    assert.deepEqual(await find({ id }, 0), undefined);
    assert.deepEqual(await find({ id }, 2), [A, 5, 1, timeOf(1), timeOf(1)]);
    assert.deepEqual(await find({ id }, 6), [C, 4, 5, timeOf(1), timeOf(5)]);
    assert.deepEqual(await find({ id }, 7), undefined);
    assert.deepEqual(await find({ sku: A }, 5), undefined);
    assert.deepEqual(await find({ sku: C }, 6), [C, 4, 5, timeOf(1), timeOf(5)]);
    assert.deepEqual(await find({ sku: A }, 8), [A, 2, 8, timeOf(8), timeOf(8)]);
    const first = await store.listProductsAt(sellerId, 6, { after: undefined, limit: 1 });
    assert.deepEqual([first.products.map(describe), first.hasMore, first.position], [
      [[C, 4, 5, timeOf(1), timeOf(5)]], true, 6,
    ]);
    const second = await store.listProductsAt(sellerId, 6, { after: id, limit: 1 });
    assert.deepEqual([second.products.map(({ sku }) => sku), second.hasMore], [[B], false]);
  });

  test('shows no past product of another seller', async (t) => {
    const { store, actor } = await prepareHistory(prepare(t));
    const { sellerId } = await makeActor(store);
    const [foreign] = (await store.listProducts(actor.sellerId, ALL)).products;
    const { id } = foreign ?? assert.fail();
    assert.deepEqual((await store.listProductsAt(sellerId, 0, ALL)).products, []);
    assert.equal(await store.findProductAt(sellerId, { id }, 0), undefined);
    assert.equal(await store.findProductAt(sellerId, { sku: B }, 0), undefined);
  });
}

function testPruning(prepare: PrepareStore): void {
  test('prunes history before a time, and rejects reads of it', async (t) => {
    const { store, actor, timeOf } = await prepareHistory(prepare(t));
    const { sellerId } = actor;
    const whole = (await store.listChanges(sellerId, { after: 4, limit: 9 })).changes;
    const readPast = () => Promise.all([4, 5, 6, 7, 8].flatMap((at): Promise<unknown>[] => [
      store.listStockAt(sellerId, at, ALL), store.listProductsAt(sellerId, at, ALL),
    ]));
    const before = await readPast();
    await store.pruneHistory(timeOf(5));
    const pruned = { code: 'history_pruned' };
    await assert.rejects(store.listChanges(sellerId, { after: 3, limit: 9 }), pruned);
    await assert.rejects(store.listStockAt(sellerId, 3, ALL), pruned);
    await assert.rejects(store.listProductsAt(sellerId, 3, ALL), pruned);
    await assert.rejects(store.findProductAt(sellerId, { sku: A }, 3), pruned);
    await assert.rejects(store.findPositionAt(sellerId, timeOf(4) - 60_000), pruned);
    assert.equal(await store.findPositionAt(sellerId, timeOf(4) + 60_000), 4);
    const kept = await store.listChanges(sellerId, { after: 4, limit: 9 });
    assert.deepEqual(kept.changes, whole);
    assert.deepEqual(await listPositions(store, actor, {}), [6, 7, 8]);
    assert.deepEqual(await listPositions(store, actor, { sku: C }), [7]);
    const query = { filter: {}, after: 0, upTo: 8, isDescending: true, limit: 9 };
    assert.equal((await store.listMovements(sellerId, query)).prunedTo, 4);
    // The product before the first kept change is kept, too.
    assert.match((await store.findPreviousSnapshots(sellerId, [5])).get(5) ?? '', /"sku":"A"/);
    assert.deepEqual(await readPast(), before);
  });

  test('continues at the next position after all history was pruned', async (t) => {
    const { store, actor, clock } = await prepareHistory(prepare(t));
    const { sellerId } = actor;
    clock.now += DAY_MS;
    await store.pruneHistory(clock.now);
    const none = await store.listChanges(sellerId, { after: 8, limit: 9 });
    assert.deepEqual(none, { changes: [], next: 8, position: 8 });
    assert.equal(await store.findPositionAt(sellerId, clock.now), 8);
    await store.syncStock(actor, makeSync([{ sku: B, adjust: 1 }]), false);
    assert.deepEqual(await listPositions(store, actor, {}), [9]);
    assert.deepEqual(await searchStock(store, actor, 9), [[B, 2], [A, 2]]);
  });

  test('finds current products after unread history was pruned', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    for (const sku of [B, A]) await store.createProduct(actor, makeNewProduct({ sku, stock: 1 }));
    assert.deepEqual(await searchStock(store, actor, 2), [[B, 1], [A, 1]]);
    await store.syncStock(actor, makeSync([{ sku: A, set: 2 }]), false);
    await store.deleteProduct(actor, { sku: B }, {});
    await store.createProduct(actor, makeNewProduct({ sku: C, stock: 3 }));
    await store.pruneHistory(clock.now + DAY_MS);
    assert.deepEqual(await searchStock(store, actor, 5), [[A, 2], [C, 3]]);
  });
}

/** SKU and stock of each product, by stock: an order that only a search has. */
async function searchStock(store: Store, { sellerId }: Actor, position: number) {
  const sort = { by: 'stock', isDescending: false } as const;
  const query = { filter: {}, sort, after: undefined, limit: 9 };
  const { products } = await store.searchProducts(sellerId, query, position);
  return products.map(({ sku, stock }) => [sku, stock]);
}
