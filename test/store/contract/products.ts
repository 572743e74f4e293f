/** The contract of a store: products and the positions of their changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProductId, SellerId } from '../../../src/domain/id.ts';
import { formatProduct } from '../../../src/domain/catalogue/product.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, DAY_MS, makeActor, makeNewProduct, type PrepareStore, readAll, readPages,
} from './fixture.ts';

// No store has given these ids.
const NO_SELLER = 5 as SellerId;
const NO_PRODUCT = 5 as ProductId;

export function testProducts(prepare: PrepareStore): void {
  testCreation(prepare);
  testIds(prepare);
  testSkus(prepare);
  testList(prepare);
}

function testCreation(prepare: PrepareStore): void {
  test('stores a product as it was returned', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const actor = await makeActor(store, 'KWD');
    const name = 'Mug "Zoë" \\ 🫖 </script>';
    const product = makeNewProduct({ name, sku: 'Ä-1', price: 999999999999.999 }, 'KWD');
    const { id, position, json } = await store.createProduct(actor, product);
    const found = await store.findProduct(actor.sellerId, { id });
    assert.deepEqual(found, {
      ...product, sellerId: actor.sellerId, id, position: 1,
      currency: { code: 'KWD', decimals: 3 }, createdAt: clock.now, updatedAt: clock.now,
    });
    assert.equal(position, 1);
    assert.equal(json, found && formatProduct(found));
    assert.equal(JSON.parse(json).name, name);
  });

  test('counts positions from 1 without a gap, separately for each seller', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeActor(store), await makeActor(store)];
    const positions: number[] = [];
    for (const actor of [one, one, other, one, other]) {
      positions.push((await store.createProduct(actor, makeNewProduct())).position);
    }
    assert.deepEqual(positions, [1, 2, 1, 3, 2]);
  });
}

function testIds(prepare: PrepareStore): void {
  test('finds many products by their ids, without those of other sellers', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeActor(store), await makeActor(store)];
    const [first, second] = [
      await store.createProduct(one, makeNewProduct()),
      await store.createProduct(one, makeNewProduct()),
    ];
    const foreign = await store.createProduct(other, makeNewProduct());
    const { sellerId } = one;
    const ids = [second.id, NO_PRODUCT, foreign.id, first.id, second.id];
    const found = await store.findProducts(sellerId, ids);
    assert.deepEqual(new Set(found.keys()), new Set([first.id, second.id]));
    assert.deepEqual(found.get(first.id), await store.findProduct(sellerId, { id: first.id }));
    assert.equal((await store.findProducts(sellerId, [])).size, 0);
    assert.equal((await store.findProducts(NO_SELLER, ids)).size, 0);
  });

  test('gives a product an id above all earlier ones when the clock steps backwards', async (t) => {
    const clock = makeClock();
    const prepared = prepare(t);
    const store = await prepared(clock);
    const actor = await makeActor(store);
    const ids: ProductId[] = [];
    for (const step of [0, 0, -DAY_MS, -DAY_MS, 2 * DAY_MS]) {
      clock.now += step;
      ids.push((await store.createProduct(actor, makeNewProduct())).id);
    }
    await store.close();
    const reopened = await prepared(makeClock(clock.now - 10 * DAY_MS));
    ids.push((await reopened.createProduct(actor, makeNewProduct())).id);
    assert.deepEqual(ids, ids.toSorted((one, other) => one - other));
    assert.equal(new Set(ids).size, 6);
  });

  test('finds a product for its own seller only', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeActor(store), await makeActor(store)];
    const { id } = await store.createProduct(one, makeNewProduct());
    assert.equal((await store.findProduct(one.sellerId, { id }))?.id, id);
    assert.equal(await store.findProduct(other.sellerId, { id }), undefined);
    assert.equal(await store.findProduct(NO_SELLER, { id }), undefined);
    assert.equal(await store.findProduct(one.sellerId, { id: NO_PRODUCT }), undefined);
  });

  test('creates no product for a seller that does not exist', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = { ...await makeActor(store), sellerId: NO_SELLER };
    await assert.rejects(store.createProduct(actor, makeNewProduct()), { code: 'not_found' });
  });
}

function testSkus(prepare: PrepareStore): void {
  test('rejects a SKU that the seller has, and uses no position for it', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const first = await store.createProduct(actor, makeNewProduct({ sku: 'A' }));
    const before = await store.findProduct(actor.sellerId, { id: first.id });
    const again = store.createProduct(actor, makeNewProduct({ sku: 'A', name: 'Another' }));
    await assert.rejects(again, { name: 'AppError', code: 'sku_taken', message: /"A"/ });
    assert.deepEqual(await readAll(store, actor.sellerId), [before]);
    assert.equal((await store.createProduct(actor, makeNewProduct())).position, 2);
  });

  test('distinguishes SKUs by case, and lets two sellers have the same one', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeActor(store), await makeActor(store)];
    await store.createProduct(one, makeNewProduct({ sku: 'a-1' }));
    await store.createProduct(one, makeNewProduct({ sku: 'A-1' }));
    await store.createProduct(other, makeNewProduct({ sku: 'a-1' }));
    const skus = (await readAll(store, one.sellerId)).map(({ sku }) => sku);
    assert.deepEqual(skus, ['a-1', 'A-1']);
    assert.equal((await readAll(store, other.sellerId)).length, 1);
  });
}

function testList(prepare: PrepareStore): void {
  test('lists nothing at position 0 without products, and for an unknown seller', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await makeActor(store);
    const nothing = { products: [], hasMore: false, position: 0 };
    const query = { after: undefined, limit: 10 };
    assert.deepEqual(await store.listProducts(sellerId, query), nothing);
    assert.deepEqual(await store.listProducts(NO_SELLER, query), nothing);
  });

  test('lists products in the order of creation, in pages', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeActor(store), await makeActor(store)];
    const ids: ProductId[] = [];
    for (let n = 0; n < 6; n += 1) {
      ids.push((await store.createProduct(one, makeNewProduct())).id);
      await store.createProduct(other, makeNewProduct());
    }
    for (const [limit, sizes] of [[4, [4, 2]], [3, [3, 3]], [6, [6]], [7, [6]]] as const) {
      const pages = await readPages(store, one.sellerId, limit);
      assert.deepEqual(pages.map(({ products }) => products.length), sizes);
      assert.deepEqual(pages.flatMap(({ products }) => products.map(({ id }) => id)), ids);
      assert.deepEqual(pages.map(({ position }) => position), pages.map(() => 6));
    }
    const beyond = await store.listProducts(one.sellerId, { after: ids[5], limit: 4 });
    assert.deepEqual(beyond, { products: [], hasMore: false, position: 6 });
  });

  test('neither skips nor repeats a product when one is created between pages', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const actor = await makeActor(store);
    for (let n = 0; n < 4; n += 1) await store.createProduct(actor, makeNewProduct());
    const first = await store.listProducts(actor.sellerId, { after: undefined, limit: 3 });
    clock.now -= DAY_MS;
    await store.createProduct(actor, makeNewProduct());
    const after = first.products.at(-1)?.id;
    const second = await store.listProducts(actor.sellerId, { after, limit: 3 });
    const products = [...first.products, ...second.products];
    assert.deepEqual(products.map(({ position }) => position), countTo(5));
    assert.deepEqual([first.position, second.position], [4, 5]);
  });
}
