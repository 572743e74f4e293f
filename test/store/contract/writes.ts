/** The contract of a store: concurrent writes, and that an acknowledged write can be read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { KeyId, SellerId } from '../../../src/domain/id.ts';
import type { WrittenProduct } from '../../../src/store/catalogue-store.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, makeActor, makeNewKey, makeNewProduct, makeSecret, type PrepareStore, readAll,
  sortNumbers,
} from './fixture.ts';

export function testWrites(prepare: PrepareStore): void {
  testConcurrency(prepare);
  testFailures(prepare);
  testReading(prepare);
}

function testConcurrency(prepare: PrepareStore): void {
  test('gives concurrent writes positions without a gap', async (t) => {
    const store = await prepare(t)(makeClock());
    const [one, other] = [await makeActor(store), await makeActor(store)];
    const [ones, others] = await Promise.all([
      createMany(store, one, 700), createMany(store, other, 300),
    ]);
    await assertGapless(store, one.sellerId, ones);
    await assertGapless(store, other.sellerId, others);
  });

  test('keeps positions gapless when two stores write to the same data concurrently', async (t) => {
    const open = prepare(t);
    const [first, second] = [await open(makeClock()), await open(makeClock())];
    const actor = await makeActor(first);
    const made = await Promise.all([first, second, first, second].map((store) =>
      createMany(store, actor, 100)));
    await setImmediate();
    await assertGapless(first, actor.sellerId, made.flat());
    await assertGapless(second, actor.sellerId, made.flat());
    assert.deepEqual(first.cursorKey, second.cursorKey);
  });

  test('gives a SKU to one of two stores only', async (t) => {
    const open = prepare(t);
    const stores = [await open(makeClock()), await open(makeClock())] as const;
    const actor = await makeActor(stores[0]);
    const outcomes = await Promise.allSettled(stores.map((store) =>
      store.createProduct(actor, makeNewProduct({ sku: 'THE-ONE' }))));
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.deepEqual(failures.map(({ reason }) => reason.code), ['sku_taken']);
    await setImmediate();
    for (const store of stores) assert.equal((await readAll(store, actor.sellerId)).length, 1);
  });
}

function testFailures(prepare: PrepareStore): void {
  test('a write that violates a constraint fails alone, without its neighbours', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    await store.createProduct(actor, makeNewProduct({ sku: 'TAKEN' }));
    const neighbours = createMany(store, actor, 20);
    // No parser accepts this stock: the constraints of the tables are the last line of defence.
    const illegal = store.createProduct(actor, { ...makeNewProduct(), stock: -1 });
    const middle = createMany(store, actor, 20);
    // No key has this id: this write fails after its product was written.
    const midway = store.createProduct({ ...actor, keyId: 0 as KeyId }, makeNewProduct());
    const taken = store.createProduct(actor, makeNewProduct({ sku: 'TAKEN' }));
    // No store has given this id.
    const nobody = { ...actor, sellerId: 5 as SellerId };
    const foreign = store.createProduct(nobody, makeNewProduct());
    const end = createMany(store, actor, 20);
    await Promise.all([
      assert.rejects(illegal, { name: 'AppError', code: 'internal' }),
      assert.rejects(midway, { name: 'AppError', code: 'internal' }),
      assert.rejects(taken, { name: 'AppError', code: 'sku_taken' }),
      assert.rejects(foreign, { name: 'AppError', code: 'not_found' }),
    ]);
    const made = (await Promise.all([neighbours, middle, end])).flat();
    assert.deepEqual(sortNumbers(made.map(({ position }) => position)), countTo(61).slice(1));
    const listed = await readAll(store, actor.sellerId);
    assert.deepEqual(listed.map(({ position }) => position), countTo(61));
  });

  test('changes nothing if all concurrent writes fail', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const outcomes = await Promise.allSettled(countTo(10).map(() =>
      store.createProduct(actor, { ...makeNewProduct(), priceMinor: -1 })));
    assert.ok(outcomes.every(({ status }) => status === 'rejected'));
    assert.deepEqual(await readAll(store, actor.sellerId), []);
    assert.equal((await store.createProduct(actor, makeNewProduct())).position, 1);
  });
}

function testReading(prepare: PrepareStore): void {
  test('shows a committed change to its listeners, even after a recent read', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const secret = makeSecret();
    await store.createKey(actor.sellerId, secret, makeNewKey());
    for (const position of countTo(50)) {
      const before = store.findGrant(secret.hash);
      const { id } = await store.createProduct(actor, makeNewProduct());
      const [grant, product, page] = await Promise.all([
        store.findGrant(secret.hash),
        store.findProduct(actor.sellerId, { id }),
        store.listProducts(actor.sellerId, { after: undefined, limit: 100 }),
      ]);
      const { position: seen } = await before ?? {};
      assert.ok(seen === position - 1 || seen === position, String(seen));
      assert.deepEqual([grant?.position, product?.position], [position, position]);
      assert.deepEqual([page.position, page.products.length], [position, position]);
    }
  });

  test('shows a committed change to its listeners under concurrent reads', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const secret = makeSecret();
    await store.createKey(actor.sellerId, secret, makeNewKey());
    // Reads in every event-loop iteration, so responses arrive in iterations with earlier reads.
    let reads = 0;
    const reading = setInterval(() => {
      reads += 1;
      void store.findGrant(secret.hash);
    }, 0);
    try {
      for (const position of countTo(300)) {
        await store.createProduct(actor, makeNewProduct());
        assert.equal((await store.findGrant(secret.hash))?.position, position);
      }
      assert.ok(reads > 0);
    } finally {
      clearInterval(reading);
    }
  });

  test('lists a page as of the position that it reports, during concurrent writes', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const writing = createMany(store, actor, 400);
    const state = { isDone: false };
    void writing.then(() => { state.isDone = true; });
    let pages = 0;
    do {
      const page = await store.listProducts(actor.sellerId, { after: undefined, limit: 1_000 });
      assert.equal(page.products.length, page.position);
      pages += 1;
      await setImmediate();
    } while (!state.isDone);
    assert.ok(pages > 0);
    await assertGapless(store, actor.sellerId, await writing);
  });
}

/** Requests the creation of all products without waiting for the responses. */
function createMany(store: Store, actor: Actor, count: number): Promise<WrittenProduct[]> {
  return Promise.all(countTo(count).map(() => store.createProduct(actor, makeNewProduct())));
}

/** Asserts that exactly the acknowledged products are listed, at positions 1 to their number. */
async function assertGapless(
  store: Store, sellerId: SellerId, made: readonly WrittenProduct[],
): Promise<void> {
  const listed = await readAll(store, sellerId);
  assert.deepEqual(sortNumbers(listed.map(({ position }) => position)), countTo(made.length));
  const positions = new Map(listed.map(({ id, position }) => [id, position]));
  for (const { id, position } of made) assert.equal(positions.get(id), position);
}
