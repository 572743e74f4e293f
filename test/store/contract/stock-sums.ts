/** The contract of a store: the stock and its value over time, and the top movers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Product } from '../../../src/domain/catalogue/product-fields.ts';
import type { ProductId, SellerId } from '../../../src/domain/id.ts';
import type { StockDayChange, TopMovers } from '../../../src/store/history-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { forRandomAsync, type Random } from '../../domain/random.ts';
import { type Clock, makeClock } from '../../support/clock.ts';
import {
  addUp, countTo, DAY_MS, makeActor, makeNewProduct, type PrepareStore, readAll,
} from './fixture.ts';
import { makeSync } from './stock.ts';

const START = Date.parse('2026-01-02T10:00:00Z');
const FIRST_DAY = Math.floor(START / DAY_MS);
const DAYS = 8;

export function testStockSums(prepare: PrepareStore): void {
  test('sums the changes of the stock and of its value, per day', async (t) => {
    await forRandomAsync(3, async (random) => {
      const clock = makeClock(START);
      const store = await prepare(t)(clock);
      const actor = await makeActor(store);
      await fill(store, actor, clock, random);
      await assertSums(store, actor.sellerId);
      await assertMovers(store, actor.sellerId);
    });
  });

  test('sums the rest of a history that is pruned', async (t) => {
    const clock = makeClock(START);
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    const { sellerId } = actor;
    const { id } = await store.createProduct(actor, makeNewProduct({ price: 2, stock: 5 }));
    clock.now += DAY_MS;
    await store.patchProduct(actor, { id }, { stock: 4 }, {});
    await store.patchProduct(actor, { id }, { priceMinor: 300 }, {});
    clock.now += DAY_MS;
    await store.patchProduct(actor, { id }, { stock: 1 }, {});
    await store.pruneHistory(clock.now - DAY_MS / 2);
    const since = START - DAY_MS;
    const sums = await store.sumStockChanges(sellerId, { since, after: 0, upTo: 4 });
    assert.deepEqual(sums, {
      days: [{ day: FIRST_DAY + 2, units: -3n, valueMinor: -900n }], after: 3, isWhole: false,
    });
    const later = await store.sumStockChanges(sellerId, {
      since: START + 2 * DAY_MS, after: 3, upTo: 4,
    });
    assert.deepEqual(later.days, sums.days);
    const query = { since, after: 0, upTo: 4, limit: 9 };
    const { isWhole, since: oldest } = await store.listTopMovers(sellerId, query);
    assert.deepEqual([isWhole, oldest], [false, clock.now]);
    clock.now += 2 * DAY_MS;
    await store.pruneHistory(clock.now - DAY_MS);
    assert.deepEqual(await store.listTopMovers(sellerId, query), {
      most: { unitsIn: [], unitsOut: [] }, isWhole: false, since: undefined,
    });
  });

  test('sums no changes of another seller', async (t) => {
    const store = await prepare(t)(makeClock(START));
    const [one, other] = [await makeActor(store), await makeActor(store)];
    await store.createProduct(one, makeNewProduct());
    const query = { since: 0, after: 0, upTo: 9, limit: 9 };
    assert.deepEqual((await store.sumStockChanges(other.sellerId, query)).days, []);
    assert.deepEqual((await store.listTopMovers(other.sellerId, query)).most, {
      unitsIn: [], unitsOut: [],
    });
  });
}

/** Changes of every kind, on several days. */
async function fill(
  store: Store, actor: Actor, clock: Clock, random: Random,
): Promise<void> {
  await store.importProducts(actor, countTo(6).map(() => makeNewProduct({ stock: 9 })), 'create');
  for (let n = 0; n < 60; n += 1) {
    clock.now = Math.max(clock.now, START + Math.floor(n * DAYS * DAY_MS / 60));
    const products = await readAll(store, actor.sellerId);
    const { id, sku } = random.pick(products);
    const step = random.below(10);
    const stock = random.below(20);
    if (step < 5) {
      const sync = makeSync([{ sku, set: stock }], { reason: 'count' });
      await store.syncStock(actor, sync, false);
    } else if (step < 7) {
      const archived = random.below(2) === 0 ? true : null; // which moves no stock
      await store.patchProduct(actor, { id }, { priceMinor: random.below(5_000), archived }, {});
    } else if (step < 8) {
      await store.patchProduct(actor, { id }, { stock, priceMinor: random.below(99) }, {});
    } else if (step < 9 || products.length < 3) {
      await store.createProduct(actor, makeNewProduct({ stock, price: random.below(50) }));
    } else {
      await store.deleteProduct(actor, { id }, {});
    }
  }
}

/** Every span of days has the difference of the catalogues at its ends. */
async function assertSums(store: Store, sellerId: SellerId): Promise<void> {
  const upTo = (await store.findSeller(sellerId))?.position ?? 0;
  const { position, ...now } = await store.readTotals(sellerId, upTo, 'any');
  assert.deepEqual([position, now], [upTo, addUp(await readAll(store, sellerId))]);
  for (const day of countTo(DAYS).map((n) => FIRST_DAY + n - 1)) {
    const since = day * DAY_MS;
    const { days, isWhole } = await store.sumStockChanges(sellerId, { since, after: 0, upTo });
    assert.ok(isWhole);
    assert.deepEqual(days.map((one) => one.day), days.map((one) => one.day).toSorted(descending));
    const before = await store.findPositionAt(sellerId, since - 1);
    const past = addUp(await readAllAt(store, sellerId, before));
    assert.deepEqual(addDays(days), [now.units - past.units, now.valueMinor - past.valueMinor]);
    // In two parts, as they are read when the catalogue has changed since.
    const middle = Math.floor((before + upTo) / 2);
    const parts = await Promise.all([
      store.sumStockChanges(sellerId, { since, after: 0, upTo: middle }),
      store.sumStockChanges(sellerId, { since, after: middle, upTo }),
    ]);
    assert.deepEqual(addDays(parts.flatMap((part) => part.days)), addDays(days));
  }
}

async function assertMovers(store: Store, sellerId: SellerId): Promise<void> {
  const query = { after: 0, upTo: 1_000 };
  const since = START + 3 * DAY_MS;
  const { movements } = await store.listMovements(sellerId, {
    ...query, filter: { since }, isDescending: true, limit: 1_000,
  });
  const expected = new Map<ProductId, readonly [unitsIn: number, unitsOut: number]>();
  for (const { productId, movement: { before, after } } of movements) {
    const [unitsIn, unitsOut] = expected.get(productId) ?? [0, 0];
    expected.set(productId, [
      unitsIn + Math.max(after - before, 0), unitsOut + Math.max(before - after, 0),
    ]);
  }
  const movers = await store.listTopMovers(sellerId, { ...query, since, limit: 3 });
  assert.equal(movers.isWhole, true);
  const { most } = movers;
  const top = (member: keyof TopMovers['most']) => most[member].map((moves) => moves[member]);
  const sorted = (index: 0 | 1) => [...expected.values()].map((units) => units[index])
    .filter((units) => units > 0).toSorted(descending).slice(0, 3);
  assert.deepEqual([top('unitsIn'), top('unitsOut')], [sorted(0), sorted(1)]);
  for (const { productId, unitsIn, unitsOut } of [...most.unitsIn, ...most.unitsOut]) {
    assert.deepEqual(expected.get(productId), [unitsIn, unitsOut]);
  }
}

async function readAllAt(
  store: Store, sellerId: SellerId, position: number,
): Promise<readonly Product[]> {
  return (await store.listProductsAt(sellerId, position, { after: undefined, limit: 1_000 }))
    .products;
}

function addDays(days: readonly StockDayChange[]): bigint[] {
  return days.reduce(([units = 0n, value = 0n], day) =>
    [units + day.units, value + (day.valueMinor ?? assert.fail())], [0n, 0n]);
}

function descending(one: number, other: number): number {
  return other - one;
}
