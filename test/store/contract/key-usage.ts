/** The contract of a store: how often each key is used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SellerId } from '../../../src/domain/id.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Actor } from '../../../src/store/write.ts';
import { makeClock } from '../../support/clock.ts';
import {
  countTo, DAY_MS, makeActor, makeNewKey, makeSecret, type PrepareStore,
} from './fixture.ts';

const HOUR_MS = 60 * 60 * 1000;
const NOW = Date.parse('2026-01-02T03:04:05.678Z');
const HOUR = Math.floor(NOW / HOUR_MS);

/** A store with two keys of one seller, and one of another. */
async function prepareKeys(open: ReturnType<PrepareStore>) {
  const clock = makeClock(NOW);
  const store = await open(clock);
  const [actor, stranger] = [await makeActor(store), await makeActor(store)];
  const { id: keyId } = await store.createKey(actor.sellerId, makeSecret(), makeNewKey());
  return { store, clock, actor, second: { ...actor, keyId }, stranger };
}

function entry({ sellerId, keyId }: Actor, hour: number, requests: number, refusals: number) {
  return { sellerId, keyId, hour, requests, refusals };
}

/** The usage that the store returns, in the form in which it was recorded. */
async function readUsage(store: Store, sellerId: SellerId, since = 0, limit = 100) {
  const usage = await store.readUsage(sellerId, { since, limit });
  return usage.map((one) => ({ sellerId, ...one }));
}

export function testKeyUsage(prepare: PrepareStore): void {
  test('adds up the requests of each key in each hour, newest first', async (t) => {
    const { store, actor, second, stranger } = await prepareKeys(prepare(t));
    assert.deepEqual(await readUsage(store, actor.sellerId), []);
    await store.noteUsage([
      entry(actor, HOUR - 1, 5, 0), entry(actor, HOUR, 1, 1), entry(stranger, HOUR, 9, 9),
    ]);
    await store.noteUsage([entry(second, HOUR, 3, 2), entry(actor, HOUR, 10, 4)]);
    const expected = [
      entry(second, HOUR, 3, 2), entry(actor, HOUR, 11, 5), entry(actor, HOUR - 1, 5, 0),
    ];
    assert.deepEqual(await readUsage(store, actor.sellerId), expected);
    assert.deepEqual(await readUsage(store, actor.sellerId, HOUR), expected.slice(0, 2));
    assert.deepEqual(await readUsage(store, actor.sellerId, HOUR + 1), []);
    assert.deepEqual(await readUsage(store, actor.sellerId, 0, 1), expected.slice(0, 1));
    assert.deepEqual(await readUsage(store, stranger.sellerId), [entry(stranger, HOUR, 9, 9)]);
  });

  test('adds up what several stores record concurrently', async (t) => {
    const open = prepare(t);
    const { store, actor } = await prepareKeys(open);
    const other = await open(makeClock(NOW));
    await Promise.all(countTo(20).map((n) =>
      (n % 2 === 0 ? store : other).noteUsage([entry(actor, HOUR, n, 1)])));
    assert.deepEqual(await readUsage(store, actor.sellerId), [entry(actor, HOUR, 210, 20)]);
  });

  test('adds all counts of a call, or none', async (t) => {
    const { store, actor, stranger } = await prepareKeys(prepare(t));
    await assert.rejects(store.noteUsage([entry(actor, HOUR, 1, 0), entry(stranger, HOUR, -1, 0)]));
    assert.deepEqual(await readUsage(store, actor.sellerId), []);
    await store.noteUsage([entry(actor, HOUR, 1, 0)]);
    assert.deepEqual(await readUsage(store, actor.sellerId), [entry(actor, HOUR, 1, 0)]);
  });

  test('deletes counts older than 8 days when it adds more for the seller', async (t) => {
    const { store, clock, actor, second, stranger } = await prepareKeys(prepare(t));
    const later = HOUR + 8 * 24;
    await store.noteUsage([
      entry(actor, HOUR - 1, 1, 0), entry(actor, HOUR, 2, 0), entry(stranger, HOUR - 1, 3, 0),
    ]);
    clock.now += 8 * DAY_MS;
    await store.noteUsage([entry(second, later, 4, 0)]);
    assert.deepEqual(await readUsage(store, actor.sellerId), [
      entry(second, later, 4, 0), entry(actor, HOUR, 2, 0),
    ]);
    assert.equal((await readUsage(store, stranger.sellerId)).length, 1);
    await store.noteUsage([entry(stranger, later, 5, 0)]);
    assert.deepEqual(await readUsage(store, stranger.sellerId), [entry(stranger, later, 5, 0)]);
  });
}
