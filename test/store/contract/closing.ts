/** The contract of a store: closing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, makeActor, makeNewKey, makeNewProduct, makeSecret, type PrepareStore, readAll,
} from './fixture.ts';

export function testClosing(prepare: PrepareStore): void {
  testFinishing(prepare);
  testRejections(prepare);
}

function testFinishing(prepare: PrepareStore): void {
  test('keeps all data when it is reopened', async (t) => {
    const open = prepare(t);
    const store = await open(makeClock());
    const actor = await makeActor(store, 'JPY');
    const secret = makeSecret();
    await store.createKey(actor.sellerId, secret, makeNewKey());
    await store.createProduct(actor, makeNewProduct({ price: 5 }, 'JPY'));
    const grant = await store.findGrant(secret.hash);
    const products = await readAll(store, actor.sellerId);
    const { cursorKey } = store;
    await store.close();
    const reopened = await open(makeClock());
    assert.deepEqual(await reopened.findGrant(secret.hash), grant);
    assert.deepEqual(await readAll(reopened, actor.sellerId), products);
    assert.deepEqual(reopened.cursorKey, cursorKey);
    assert.equal(cursorKey.length, 32);
  });

  test('completes writes in flight before it closes', async (t) => {
    const open = prepare(t);
    const store = await open(makeClock());
    const actor = await makeActor(store);
    const writes = countTo(1_200).map(() => store.createProduct(actor, makeNewProduct()));
    await store.close();
    const made = await Promise.all(writes);
    const listed = await readAll(await open(makeClock()), actor.sellerId);
    assert.deepEqual(new Set(listed.map(({ id }) => id)), new Set(made.map(({ id }) => id)));
    assert.equal(listed.length, 1_200);
  });

  test('can be closed twice, and waits for writes in flight both times', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const state = { isDone: false };
    const write = store.createProduct(actor, makeNewProduct());
    void write.then(() => { state.isDone = true; });
    const first = store.close();
    await store.close();
    assert.ok(state.isDone);
    await first;
  });
}

function testRejections(prepare: PrepareStore): void {
  test('rejects writes once it is closed', async (t) => {
    const store = await prepare(t)(makeClock());
    const actor = await makeActor(store);
    const closing = store.close();
    const late = store.createProduct(actor, makeNewProduct());
    await assert.rejects(late, { name: 'AppError', code: 'unavailable' });
    await closing;
    await assert.rejects(makeActor(store), { name: 'AppError', code: 'unavailable' });
  });

  test('rejects reads once it is closed', async (t) => {
    const store = await prepare(t)(makeClock());
    const { sellerId } = await makeActor(store);
    await store.close();
    const query = { after: undefined, limit: 1 };
    const rejection = { name: 'AppError', code: 'unavailable' };
    await assert.rejects(async () => store.findGrant(makeSecret().hash), rejection);
    await assert.rejects(store.listProducts(sellerId, query), rejection);
    await assert.rejects(store.listKeys(sellerId, query), rejection);
    await assert.rejects(store.listSellers(query), rejection);
    await assert.rejects(store.findSeller(sellerId), rejection);
  });
}
