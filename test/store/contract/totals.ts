/** The contract of a store: the totals of a catalogue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SellerId } from '../../../src/domain/id.ts';
import type { ProductFilter } from '../../../src/domain/catalogue/product-query.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { CatalogueTotals } from '../../../src/store/search-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import { countTo, makeActor, makeNewProduct, type PrepareStore } from './fixture.ts';
import { makeSync } from './stock.ts';

const [A, B] = ['A', 'B'].map((text) => text as Sku) as [Sku, Sku]; // legal ones
const LARGEST = 1_000_000_000;

export function testTotals(prepare: PrepareStore): void {
  testSums(prepare);
  testLowStock(prepare);
  testCategories(prepare);
  testCounts(prepare);
}

/** The totals of the current catalogue. */
async function readTotals(store: Store, sellerId: SellerId): Promise<CatalogueTotals> {
  const { position: _, ...totals } = await store.readTotals(
    sellerId, (await store.findSeller(sellerId))?.position ?? NaN,
  );
  return totals;
}

function testSums(prepare: PrepareStore): void {
  test('updates the totals immediately after each change', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const assertTotals = async (position: number, ...[products, units, valueMinor]: bigint[]) => {
      const totals = await store.readTotals(actor.sellerId, position);
      assert.deepEqual(totals, { products: Number(products), units, valueMinor, position });
    };
    await assertTotals(0, 0n, 0n, 0n);
    await store.createProduct(actor, makeNewProduct({ sku: A, price: 2.5, stock: 4 }));
    await assertTotals(1, 1n, 4n, 1_000n);
    const products = [{ sku: B, price: 1, stock: 7 }, { sku: A, price: 3, stock: 4 }];
    await store.importProducts(actor, products.map((one) => makeNewProduct(one)), 'upsert');
    await assertTotals(3, 2n, 11n, 1_900n);
    await store.syncStock(
      actor, makeSync([{ sku: A, adjust: -4 }, { sku: B, set: 9 }, { sku: B, adjust: 1 }]), false,
    );
    await assertTotals(6, 2n, 10n, 1_000n);
    await store.patchProduct(actor, { sku: B }, { priceMinor: 50 }, {});
    await assertTotals(7, 2n, 10n, 500n);
    await store.deleteProduct(actor, { sku: B }, {});
    await assertTotals(8, 1n, 0n, 0n);
    await store.deleteProduct(actor, { sku: A }, {});
    await assertTotals(9, 0n, 0n, 0n);
  });

  test('adds up exactly beyond the range of doubles', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store, 'KWD');
    const largest = { price: 999_999_999_999.999, stock: LARGEST };
    const products = countTo(1_000).map(() => makeNewProduct(largest, 'KWD'));
    await store.importProducts(actor, products, 'create');
    const one = 999_999_999_999_999n * BigInt(LARGEST);
    assert.deepEqual(await readTotals(store, actor.sellerId), {
      products: 1_000, units: 1_000n * BigInt(LARGEST), valueMinor: 1_000n * one,
    });
    const sku = products[0]?.sku ?? assert.fail();
    await store.patchProduct(actor, { sku }, { stock: LARGEST - 1, priceMinor: 1 }, {});
    assert.deepEqual(await readTotals(store, actor.sellerId), {
      products: 1_000, units: 1_000n * BigInt(LARGEST) - 1n,
      valueMinor: 999n * one + BigInt(LARGEST) - 1n,
    });
  });

  test('does not count the products of another seller', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeActor(store), await makeActor(store, 'JPY')];
    await store.createProduct(one, makeNewProduct({ price: 20, stock: 2 }));
    await store.createProduct(other, makeNewProduct({ price: 5, stock: 1 }, 'JPY'));
    const expected = [[1, 2n, 4_000n], [1, 1n, 5n]] as const;
    for (const [index, { sellerId }] of [one, other].entries()) {
      const { products, units, valueMinor } = await readTotals(store, sellerId);
      assert.deepEqual([products, units, valueMinor], expected[index]);
      assert.equal(await store.countLowStock(sellerId, { stockMax: LARGEST, limit: 9 }, 1), 1);
    }
  });
}

function testCategories(prepare: PrepareStore): void {
  test('lists the categories with their products, in pages', async (t) => {
    const store = await prepare(t)(makeClock());
    const [actor, other] = [await makeActor(store), await makeActor(store)];
    const { sellerId } = actor;
    await store.createProduct(other, makeNewProduct({ category: 'Another seller' }));
    const list = async (from: string | undefined, limit: number) => {
      const position = (await store.findSeller(sellerId))?.position ?? NaN;
      const found = await store.listCategories(sellerId, { from, limit }, position);
      return found.map(({ category, products }) => `${category} ${products}`);
    };
    assert.deepEqual(await list(undefined, 9), []);
    const categories = ['Cups', 'cups', 'Émail', 'Cups', 'Mugs'];
    await store.importProducts(
      actor, categories.map((category) => makeNewProduct({ category })), 'create',
    );
    assert.deepEqual(await list(undefined, 9), ['Cups 2', 'Mugs 1', 'cups 1', 'Émail 1']);
    assert.deepEqual(await list(undefined, 2), ['Cups 2', 'Mugs 1']);
    assert.deepEqual(await list('Mugs', 2), ['Mugs 1', 'cups 1']);
    assert.deepEqual(await list('Muh', 1), ['cups 1']);
    const archived = ['Cups', 'Bowls'].map((category) =>
      makeNewProduct({ category, archived: true }));
    await store.importProducts(actor, archived, 'create');
    const position = (await store.findSeller(sellerId))?.position ?? NaN;
    assert.deepEqual(
      await store.listCategories(sellerId, { from: undefined, limit: 2 }, position), [
        { category: 'Bowls', products: 0, archived: 1 },
        { category: 'Cups', products: 2, archived: 1 },
      ],
    );
  });
}

function testLowStock(prepare: PrepareStore): void {
  test('counts products at or below a stock threshold, up to a limit', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId, ...actor } = await makeActor(store);
    const products = [0, 0, 3, 4, 5, LARGEST].map((stock) => makeNewProduct({ stock }));
    await store.importProducts({ sellerId, ...actor }, products, 'create');
    const expected: readonly [stockMax: number, limit: number, products: number][] = [
      [0, 10, 2], [2, 10, 2], [3, 10, 3], [4, 10, 4], [LARGEST, 10, 6], [LARGEST, 6, 6],
      [LARGEST, 5, 5], [0, 1, 1],
    ];
    for (const [stockMax, limit, found] of expected) {
      const count = await store.countLowStock(sellerId, { stockMax, limit }, 6);
      assert.equal(count, found, `${stockMax} to ${limit}`);
    }
  });
}

function testCounts(prepare: PrepareStore): void {
  test('counts the products that match a filter', async (t) => {
    const store = await prepare(t)(makeClock());
    const [{ sellerId, ...actor }, other] = [await makeActor(store), await makeActor(store)];
    const products = countTo(60).map((n) => makeNewProduct({
      name: n % 3 === 0 ? `Blue mug ${n}` : `Plate ${n}`, category: n % 2 === 0 ? 'Even' : 'Odd',
      stock: n,
    }));
    await store.importProducts({ sellerId, ...actor }, products, 'create');
    await store.createProduct(other, makeNewProduct({ name: 'Blue mug', category: 'Even' }));
    const expected: readonly [filter: ProductFilter, count: number][] = [
      [{}, 60], [{ category: 'Even' }, 30], [{ q: 'mug' }, 20], [{ q: 'MUG blu' }, 20],
      [{ q: 'mug', category: 'Odd' }, 10], [{ category: 'Even', stockMax: 10 }, 5],
      [{ q: 'blue mug', category: 'Even', stockMin: 50 }, 2], [{ category: 'None' }, 0],
    ];
    for (const [filter, count] of expected) {
      const counted = await store.countProducts(sellerId, filter, 60);
      assert.deepEqual(counted, { count, isExact: true }, JSON.stringify(filter));
    }
  });
}
