/** The contract of a store: notifications of commits by any process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SellerId } from '../../../src/domain/id.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, eventually, makeActor, makeNewProduct, type PrepareStore,
} from './fixture.ts';

export function testWatching(prepare: PrepareStore): void {
  testPositions(prepare);
  testEnds(prepare);
  testAll(prepare);
}

/** Two stores on one database, and a seller. */
async function prepareTwo(open: ReturnType<PrepareStore>) {
  const [store, other] = [await open(makeClock()), await open(makeClock())];
  return { store, other, actor: await makeActor(store) };
}

function change(store: Store, actor: Actor): Promise<unknown> {
  return store.createProduct(actor, makeNewProduct());
}

/** The position with which a new watch is notified. */
async function reach(
  store: Store, { sellerId }: { readonly sellerId: SellerId }, after: number,
): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const stop = store.watch(sellerId, after, resolve);
  return promise.finally(stop);
}

function testPositions(prepare: PrepareStore): void {
  test('notifies when a catalogue has passed a position, whichever store wrote', async (t) => {
    const { store, other, actor } = await prepareTwo(prepare(t));
    for (const [n, writer] of [store, other, store, other].entries()) {
      const reached = reach(store, actor, n);
      await change(writer, actor);
      assert.equal(await reached, n + 1);
      const { position } = await store.listChanges(actor.sellerId, { after: 0, limit: 1 });
      assert.equal(position, n + 1, 'the change can be read');
    }
  });

  test('notifies immediately if the catalogue has already passed the position', async (t) => {
    const { store, other, actor } = await prepareTwo(prepare(t));
    for (const writer of [store, other, other]) await change(writer, actor);
    for (const after of [0, 1, 2]) assert.equal(await reach(store, actor, after), 3);
  });

  test('notifies each watch only of its own position and catalogue', async (t) => {
    const { store, other, actor } = await prepareTwo(prepare(t));
    const foreign = await makeActor(other);
    const notified: [who: string, position: number][] = [];
    const watch = (who: string, { sellerId }: Actor, after: number) =>
      store.watch(sellerId, after, (position) => notified.push([who, position]));
    const stops = [watch('one', actor, 0), watch('two', actor, 1), watch('foreign', foreign, 0)];
    await change(store, actor);
    await reach(store, actor, 0);
    await eventually(() => assert.deepEqual(notified, [['one', 1]]));
    await change(other, foreign);
    await reach(store, foreign, 0);
    await eventually(() => assert.deepEqual(notified.slice(1), [['foreign', 1]]));
    await change(other, actor);
    await reach(store, actor, 1);
    await eventually(() => assert.deepEqual(notified.slice(2), [['two', 2]]));
    for (const stop of stops) stop();
  });

  test('notifies immediately if the seller does not exist', async (t) => {
    const { store, actor } = await prepareTwo(prepare(t));
    // The cast: no store has given this id.
    const nobody = { sellerId: actor.sellerId + 1 as SellerId };
    assert.equal(await reach(store, nobody, 0), Infinity);
  });
}

function testEnds(prepare: PrepareStore): void {
  test('notifies a watch once, and not after it has ended', async (t) => {
    const { store, other, actor } = await prepareTwo(prepare(t));
    const notified: number[] = [];
    store.watch(actor.sellerId, 0, (position) => notified.push(position));
    const stop = store.watch(actor.sellerId, 2, (position) => notified.push(position));
    for (const [n, writer] of [store, other, store].entries()) {
      if (n === 2) stop();
      await change(writer, actor);
      await reach(store, actor, n);
      await eventually(() => assert.deepEqual(notified, [1]));
    }
    stop(); // again
  });

  test('can be continued from the listener without missing a change', async (t) => {
    const { store, other, actor } = await prepareTwo(prepare(t));
    const total = 40;
    const notified: number[] = [];
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const follow = (after: number): void => void store.watch(actor.sellerId, after, (position) => {
      notified.push(position);
      if (position < total) follow(position);
      else resolve();
    });
    follow(0);
    for (const n of countTo(total)) await change(n % 2 > 0 ? store : other, actor);
    await done;
    assert.deepEqual(notified, [...new Set(notified)].toSorted((one, next) => one - next));
    assert.equal(notified.at(-1), total);
  });
}

function testAll(prepare: PrepareStore): void {
  test('reports commits of this store and another one until it is ended', async (t) => {
    const { store, other, actor } = await prepareTwo(prepare(t));
    let count = 0;
    const end = store.watchAll(() => { count += 1; });
    for (const writer of [store, other, other, store]) {
      const before = count;
      await writeAndWait(store, () => change(writer, actor));
      await eventually(() => assert.ok(count > before));
    }
    end();
    const last = count;
    await writeAndWait(store, () => change(store, actor));
    await writeAndWait(store, () => change(other, actor));
    assert.equal(count, last);
  });
}

/** Makes a write, and waits until the store notifies a new listener of it. */
async function writeAndWait(store: Store, write: () => Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = store.watchAll(resolve);
  await write();
  await promise;
  end();
}
