/** The contract of a store: retries with the same Idempotency-Key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StockChange } from '../../../src/domain/catalogue/stock-change.ts';
import type { Sku } from '../../../src/domain/catalogue/product-fields.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, DAY_MS, makeActor, makeNewKey, makeNewProduct, makeSecret, type PrepareStore, readAll,
} from './fixture.ts';
import { makeSync } from './stock.ts';

// The cast: a valid SKU.
const SKU = 'MUG-1' as Sku;

function scopeOf(key: string, part = 0) {
  return { idempotency: { key, part } };
}

export function testIdempotency(prepare: PrepareStore): void {
  testReplays(prepare);
  testEqualMembers(prepare);
  testKeys(prepare);
  testRejections(prepare);
  testRetention(prepare);
}

function testReplays(prepare: PrepareStore): void {
  test('replays the first outcome to a retry, and changes nothing', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const write = { ...actor, ...scopeOf('k-1') };
    const product = makeNewProduct();
    const created = await store.createProduct(write, product);
    await store.patchProduct(actor, { id: created.id }, { stock: 1 }, {});
    const before = await readAll(store, actor.sellerId);
    assert.deepEqual(await store.createProduct(write, product), { ...created, isReplay: true });
    assert.deepEqual(await readAll(store, actor.sellerId), before);
  });

  test('replays puts, patches and deletions before it evaluates preconditions', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const product = makeNewProduct();
    const { id, position } = await store.createProduct(actor, product);
    const condition = { ifMatch: [position] };
    const patch = () =>
      store.patchProduct({ ...actor, ...scopeOf('patch') }, { id }, { stock: 1 }, condition);
    const put = () => store.putProduct({ ...actor, ...scopeOf('put') }, product, {});
    const remove = () => store.deleteProduct({ ...actor, ...scopeOf('delete') }, { id }, {});
    const first = [await patch(), await put(), await remove()];
    const again = [await patch(), await put(), await remove()];
    assert.deepEqual(again, first.map((result) => ({ ...result, isReplay: true })));
    assert.deepEqual(await readAll(store, actor.sellerId), []);
  });

  test('makes one change for many concurrent requests', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const write = { ...actor, ...scopeOf('same') };
    const product = makeNewProduct();
    const all = await Promise.all(countTo(20).map(() => store.createProduct(write, product)));
    assert.equal(new Set(all.map(({ id }) => id)).size, 1);
    assert.equal(all.filter(({ isReplay }) => !isReplay).length, 1);
    assert.equal((await readAll(store, actor.sellerId)).length, 1);
  });
}

function testEqualMembers(prepare: PrepareStore): void {
  test('recognizes a retry with other members of the same values', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const { sku, ...rest } = makeNewProduct({ description: null });
    const { description: _, ...absent } = rest;
    const create = await store.createProduct({ ...actor, ...scopeOf('c') }, { sku, ...rest });
    assert.deepEqual(
      await store.createProduct({ ...actor, ...scopeOf('c') }, { ...absent, sku }),
      { ...create, isReplay: true },
    );
    const patch = (members: object) =>
      store.patchProduct({ ...actor, ...scopeOf('p') }, { sku }, members, {});
    await patch({ stock: 1, description: null });
    // In a patch, null removes a value.
    await assert.rejects(patch({ stock: 1 }), { code: 'idempotency_mismatch' });
    const sell = (change: StockChange) =>
      store.syncStock({ ...actor, ...scopeOf('s') }, makeSync([change]), false);
    assert.equal((await sell({ sku, adjust: -1 })).isReplay, false);
    assert.equal((await sell({ adjust: -1, sku })).isReplay, true);
    await assert.rejects(sell({ adjust: -2, sku }), { code: 'idempotency_mismatch' });
  });
}

function testKeys(prepare: PrepareStore): void {
  test('rejects a key that was used for another request', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const write = { ...actor, ...scopeOf('k') };
    const { id } = await store.createProduct(write, makeNewProduct({ sku: 'A' }));
    const mismatch = { code: 'idempotency_mismatch' };
    await assert.rejects(store.createProduct(write, makeNewProduct({ sku: 'B' })), mismatch);
    await assert.rejects(store.patchProduct(write, { id }, { stock: 1 }, {}), mismatch);
    await assert.rejects(store.deleteProduct(write, { id }, {}), mismatch);
    assert.equal((await readAll(store, actor.sellerId)).length, 1);
  });

  test('separates Idempotency-Keys by seller, but not by API key', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeActor(store), await makeActor(store)];
    const product = makeNewProduct();
    const made = await store.createProduct({ ...one, ...scopeOf('k') }, product);
    const theirs = await store.createProduct({ ...other, ...scopeOf('k') }, product);
    assert.equal(theirs.isReplay, false);
    const { id: keyId } = await store.createKey(one.sellerId, makeSecret(), makeNewKey());
    const again = await store.createProduct({ ...one, keyId, ...scopeOf('k') }, product);
    assert.deepEqual(again, { ...made, isReplay: true });
  });

  test('creates one API key per Idempotency-Key, and rejects the others',
    async (t) => {
      const store = await prepare(t)(makeClock());
      const actor = await makeActor(store);
      const { sellerId } = actor;
      const { idempotency } = scopeOf('k');
      const mismatch = { code: 'idempotency_mismatch' };
      const create = () =>
        store.createKey(sellerId, makeSecret(), makeNewKey(), { idempotency });
      const ended = await Promise.allSettled([create(), create()]);
      assert.deepEqual(ended.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
      await assert.rejects(create(), mismatch);
      const rotate = () => store.rotateKey(actor, makeSecret(), DAY_MS, scopeOf('r'));
      await rotate();
      await assert.rejects(rotate(), mismatch);
      const keys = await store.listKeys(sellerId, { after: undefined, limit: 10 });
      assert.equal(keys.length, 3);
    });
}

function testRejections(prepare: PrepareStore): void {
  test('keeps no record of a rejection: a retry may succeed', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const { id } = await store.createProduct(actor, makeNewProduct({ sku: 'A' }));
    const write = { ...actor, ...scopeOf('k') };
    const product = makeNewProduct({ sku: 'A' });
    // Beside others that succeed, so that only the rejected one is rolled back.
    const results = await Promise.allSettled([
      store.createProduct(actor, makeNewProduct()), store.createProduct(write, product),
      store.createProduct({ ...actor, ...scopeOf('l') }, makeNewProduct({ sku: 'L' })),
    ]);
    assert.deepEqual(results.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled']);
    await store.deleteProduct(actor, { id }, {});
    assert.equal((await store.createProduct(write, product)).isReplay, false);
  });

  test('keeps no record of a rejected stock sync: a retry may succeed', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const write = { ...actor, ...scopeOf('k') };
    const sync = makeSync([{ sku: SKU, set: 5 }], { isAtomic: true });
    assert.equal((await store.syncStock(write, sync, false)).rejection, 'failures');
    await store.createProduct(actor, makeNewProduct({ sku: SKU }));
    const retried = await store.syncStock(write, sync, false);
    assert.deepEqual([retried.rejection, retried.isReplay], [undefined, false]);
    assert.equal((await store.syncStock(write, sync, false)).isReplay, true);
  });
}

function testRetention(prepare: PrepareStore): void {
  test('replays a change for 48 hours, also in another process', async (t) => {
    const clock = makeClock();
    const open = prepare(t);
    const store = await open(clock);
    const actor = await makeActor(store);
    const write = { ...actor, ...scopeOf('k') };
    const product = makeNewProduct();
    const { id } = await store.createProduct(write, product);
    clock.now += 2 * DAY_MS - 1;
    await store.keepLivedTime();
    const later = await open(clock);
    assert.equal((await later.createProduct(write, product)).isReplay, true);
    clock.now += 1;
    await assert.rejects(later.createProduct(write, product), { code: 'sku_taken' });
    await later.deleteProduct(actor, { id }, {});
    assert.equal((await later.createProduct(write, product)).isReplay, false);
    assert.equal((await later.createProduct(write, product)).isReplay, true);
  });
  test('deletes the expired keys of every seller, and no valid ones', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const actors = [await makeActor(store), await makeActor(store)];
    const product = makeNewProduct();
    const isReplay = (key: string) => Promise.all(actors.map(async (actor) =>
      (await store.createProduct({ ...actor, ...scopeOf(key) }, product)).isReplay));
    assert.deepEqual(await isReplay('old'), [false, false]);
    clock.now += DAY_MS;
    for (const actor of actors) await store.deleteProduct(actor, { sku: product.sku }, {});
    assert.deepEqual(await isReplay('new'), [false, false]);
    clock.now += DAY_MS;
    await store.pruneIdempotency();
    // At an earlier time an expired record would be valid: only its deletion ends the replays.
    clock.now -= 1;
    assert.deepEqual(await isReplay('new'), [true, true]);
    await assert.rejects(isReplay('old'), { code: 'sku_taken' });
  });
}
