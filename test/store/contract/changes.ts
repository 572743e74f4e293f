/** The contract of a store: products that are put, patched and deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProductId } from '../../../src/domain/id.ts';
import { formatProduct } from '../../../src/domain/catalogue/product.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import type { WrittenProduct } from '../../../src/store/catalogue-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import { makeActor, makeNewProduct, type PrepareStore, readAll } from './fixture.ts';

// No store has given this id.
const NO_PRODUCT = 5 as ProductId;

interface Prepared {
  readonly store: Store;
  readonly actor: Actor;
  readonly created: WrittenProduct;
  readonly clock: ReturnType<typeof makeClock>;
}

/** A store with one product, of the SKU `MUG`, at position 1. */
async function prepareOne(open: ReturnType<PrepareStore>): Promise<Prepared> {
  const clock = makeClock();
  const store = await open(clock);
  const actor = await makeActor(store);
  const created = await store.createProduct(actor, makeNewProduct({ sku: 'MUG', name: 'Mug' }));
  clock.now += 1_000;
  return { store, actor, created, clock };
}

function sku(text: string): Sku {
  return makeNewProduct({ sku: text }).sku;
}

export function testChanges(prepare: PrepareStore): void {
  testPut(prepare);
  testPatch(prepare);
  testPreconditions(prepare);
  testDelete(prepare);
}

function testPut(prepare: PrepareStore): void {
  test('PUT creates a missing product', async (t) => {
    const { store, actor } = await prepareOne(prepare(t));
    const put = await store.putProduct(actor, makeNewProduct({ sku: 'CUP' }), {});
    assert.equal(put.effect, 'created');
    assert.equal(put.position, 2);
    const found = await store.findProduct(actor.sellerId, { sku: sku('CUP') });
    assert.equal(found && formatProduct(found), put.json);
  });

  test('PUT replaces an existing product, which keeps its id and creation time', async (t) => {
    const { store, actor, created, clock } = await prepareOne(prepare(t));
    const before = await store.findProduct(actor.sellerId, { id: created.id });
    const to = makeNewProduct({ sku: 'MUG', name: 'Cup', category: 'Bar', price: 3, stock: 9 });
    const put = await store.putProduct(actor, to, {});
    assert.equal(put.effect, 'updated');
    const after = await store.findProduct(actor.sellerId, { id: created.id });
    assert.deepEqual(after, { ...before, ...to, position: 2, updatedAt: clock.now });
    assert.equal(after && formatProduct(after), put.json);
  });

  test('uses no position for unchanged content', async (t) => {
    const { store, actor, created } = await prepareOne(prepare(t));
    const same = makeNewProduct({ sku: 'MUG', name: 'Mug' });
    const put = await store.putProduct(actor, same, {});
    const patched = await store.patchProduct(actor, { id: created.id }, { stock: same.stock }, {});
    for (const written of [put, patched]) {
      assert.deepEqual(written, { ...created, effect: 'unchanged' });
    }
    const { position } = await store.listProducts(actor.sellerId, { after: undefined, limit: 1 });
    assert.equal(position, 1);
  });
}

function testPatch(prepare: PrepareStore): void {
  test('PATCH changes only the members that it names', async (t) => {
    const { store, actor, created, clock } = await prepareOne(prepare(t));
    const before = await store.findProduct(actor.sellerId, { id: created.id });
    const patched = await store.patchProduct(actor, { sku: sku('MUG') }, { priceMinor: 5 }, {});
    assert.equal(patched.effect, 'updated');
    const after = await store.findProduct(actor.sellerId, { sku: sku('MUG') });
    assert.deepEqual(after, { ...before, priceMinor: 5, position: 2, updatedAt: clock.now });
  });

  test('renames a SKU, and frees the old one', async (t) => {
    const { store, actor, created } = await prepareOne(prepare(t));
    await store.patchProduct(actor, { id: created.id }, { sku: sku('CUP') }, {});
    assert.equal(await store.findProduct(actor.sellerId, { sku: sku('MUG') }), undefined);
    const again = await store.createProduct(actor, makeNewProduct({ sku: 'MUG' }));
    assert.notEqual(again.id, created.id);
  });

  test('rejects the SKU of another product, and changes nothing', async (t) => {
    const { store, actor, created } = await prepareOne(prepare(t));
    await store.createProduct(actor, makeNewProduct({ sku: 'CUP' }));
    const before = await readAll(store, actor.sellerId);
    const patch = { sku: sku('CUP'), stock: 1 };
    await assert.rejects(
      store.patchProduct(actor, { id: created.id }, patch, {}), { code: 'sku_taken' },
    );
    assert.deepEqual(await readAll(store, actor.sellerId), before);
    assert.equal((await store.createProduct(actor, makeNewProduct())).position, 3);
  });

  test('keeps the time of changes from going back when the clock steps back', async (t) => {
    const { store, actor, created, clock } = await prepareOne(prepare(t));
    clock.now -= 60_000;
    await store.patchProduct(actor, { id: created.id }, { stock: 1 }, {});
    const after = await store.findProduct(actor.sellerId, { id: created.id });
    assert.equal(after?.updatedAt, after?.createdAt);
  });

  test('does not find a product of another seller', async (t) => {
    const { store, created } = await prepareOne(prepare(t));
    const other = await makeActor(store);
    for (const target of [{ id: created.id }, { sku: sku('MUG') }, { id: NO_PRODUCT }]) {
      const expected = { code: 'not_found' };
      await assert.rejects(store.patchProduct(other, target, { stock: 1 }, {}), expected);
      await assert.rejects(store.deleteProduct(other, target, {}), expected);
      assert.equal(await store.findProduct(other.sellerId, target), undefined);
    }
  });
}

function testPreconditions(prepare: PrepareStore): void {
  const failed = { code: 'precondition_failed' };

  test('changes only the version that the precondition names', async (t) => {
    const { store, actor, created } = await prepareOne(prepare(t));
    const { id } = created;
    await store.patchProduct(actor, { id }, { stock: 1 }, { ifMatch: [9, created.position] });
    const before = await readAll(store, actor.sellerId);
    const old = { ifMatch: [created.position] };
    await assert.rejects(store.patchProduct(actor, { id }, { stock: 2 }, old), failed);
    await assert.rejects(store.putProduct(actor, makeNewProduct({ sku: 'MUG' }), old), failed);
    await assert.rejects(store.deleteProduct(actor, { id }, old), failed);
    assert.deepEqual(await readAll(store, actor.sellerId), before);
  });

  test('a position of another generation is no version, also where it is the same', async (t) => {
    const { store, actor, created } = await prepareOne(prepare(t));
    const target = { id: created.id };
    const restored = { ...actor, generation: 'abcde' };
    for (const ifMatch of [[created.position], [`k7w2q-${created.position}`]]) {
      await assert.rejects(store.patchProduct(restored, target, { stock: 1 }, { ifMatch }), failed);
    }
    await assert.rejects(
      store.patchProduct(actor, target, { stock: 1 }, { ifMatch: ['abcde-1'] }), failed,
    );
    const ifMatch = [`abcde-${created.position}`];
    const idempotency = { key: 'restored', part: 0 };
    await store.patchProduct({ ...restored, idempotency }, target, { stock: 1 }, { ifMatch });
    // A retry from before the restore of the backup that contains its change.
    const retry = { ...actor, generation: 'fghij', idempotency };
    const { isReplay } = await store.patchProduct(retry, target, { stock: 1 }, { ifMatch });
    assert.equal(isReplay, true);
  });

  test('creates only, or replaces only, on request', async (t) => {
    const { store, actor } = await prepareOne(prepare(t));
    const [mug, cup] = [makeNewProduct({ sku: 'MUG' }), makeNewProduct({ sku: 'CUP' })];
    await assert.rejects(store.putProduct(actor, mug, { ifNoneMatch: '*' }), failed);
    await assert.rejects(store.putProduct(actor, cup, { ifMatch: '*' }), failed);
    assert.equal((await store.putProduct(actor, mug, { ifMatch: '*' })).effect, 'updated');
    assert.equal((await store.putProduct(actor, cup, { ifNoneMatch: '*' })).effect, 'created');
  });

  test('accepts one of two concurrent changes of the same version', async (t) => {
    const { store, actor, created } = await prepareOne(prepare(t));
    const precondition = { ifMatch: [created.position] };
    const results = await Promise.allSettled([1, 2].map((stock) =>
      store.patchProduct(actor, { id: created.id }, { stock }, precondition)));
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  });
}

function testDelete(prepare: PrepareStore): void {
  test('frees the SKU of a deleted product, and never reuses its id', async (t) => {
    const { store, actor, created, clock } = await prepareOne(prepare(t));
    clock.now -= 60_000;
    await store.deleteProduct(actor, { sku: sku('MUG') }, {});
    assert.deepEqual(await readAll(store, actor.sellerId), []);
    const { id } = created;
    await assert.rejects(store.deleteProduct(actor, { id }, {}), { code: 'not_found' });
    const again = await store.createProduct(actor, makeNewProduct({ sku: 'MUG' }));
    assert.ok(again.id > id);
    assert.equal(again.position, 3);
  });
}
