/** Counting requests by key and hour, and when the counts are written. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { makeUsageCounter } from '../../src/api/usage-counter.ts';
import { KEY_USAGE_ENTRIES_LIMIT, KEY_USAGE_INTERVAL_MS } from '../../src/api/limits.ts';
import type { KeyId, SellerId } from '../../src/domain/id.ts';
import type { CountedUsage } from '../../src/store/access-store.ts';
import { makeClock } from '../support/clock.ts';
import { countTo } from '../store/contract/fixture.ts';

const HOUR_MS = 60 * 60 * 1000;
const SELLER = 1 as SellerId;
const clock = makeClock();
const HOUR = Math.floor(clock.now / HOUR_MS);

function keyOf(n: number) {
  return { sellerId: SELLER, keyId: n as KeyId };
}

function entry(key: number, requests: number, refusals = 0, hour = HOUR): CountedUsage {
  return { ...keyOf(key), hour, requests, refusals };
}

/** A counter whose writes the test settles; a tick is the interval between two writes. */
function prepare(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const writes: { readonly usage: readonly CountedUsage[]; settle(error?: Error): void }[] = [];
  const errors: unknown[] = [];
  const now = makeClock();
  const counter = makeUsageCounter({
    clock: now,
    onWriteError: (error) => errors.push(error),
    store: {
      noteUsage: (usage) => new Promise((resolve, reject) => {
        writes.push({ usage, settle: (error) => (error ? reject(error) : resolve()) });
      }),
      readUsage: async () => [],
    },
  });
  const tick = async (): Promise<void> => {
    t.mock.timers.tick(KEY_USAGE_INTERVAL_MS);
    await nextTurn();
  };
  const settle = async (error?: Error): Promise<void> => {
    writes.at(-1)?.settle(error);
    await nextTurn();
  };
  return { counter, writes, errors, clock: now, tick, settle };
}

test('writes the counts since the last write, and nothing if there are none', async (t) => {
  const { counter, writes, tick, settle } = prepare(t);
  await tick();
  assert.equal(writes.length, 0);
  for (const status of [200, 304, 399, 400, 429, 503]) counter.count(keyOf(1), status);
  counter.count(keyOf(2), 201);
  assert.equal(writes.length, 0);
  await tick();
  assert.deepEqual(writes.map(({ usage }) => usage), [[entry(1, 6, 3), entry(2, 1)]]);
  await settle();
  await tick();
  assert.equal(writes.length, 1);
  counter.count(keyOf(2), 404);
  await tick();
  assert.deepEqual(writes[1]?.usage, [entry(2, 1, 1)]);
});

test('counts each hour separately, and sellers whose keys have the same number', async (t) => {
  const { counter, writes, clock: now, tick } = prepare(t);
  counter.count(keyOf(1), 200);
  now.now += HOUR_MS;
  counter.count(keyOf(1), 400);
  counter.count({ ...keyOf(1), sellerId: 2 as SellerId }, 200);
  await tick();
  assert.deepEqual(writes[0]?.usage, [
    entry(1, 1), entry(1, 1, 1, HOUR + 1), { ...entry(1, 1, 0, HOUR + 1), sellerId: 2 },
  ]);
});

test('retries counts that could not be written, and reports the error', async (t) => {
  const { counter, writes, errors, tick, settle } = prepare(t);
  const failure = new Error('the disk is full');
  counter.count(keyOf(1), 200);
  counter.count(keyOf(2), 200);
  await tick();
  counter.count(keyOf(1), 500);
  await settle(failure);
  assert.deepEqual(errors, [failure]);
  await tick();
  assert.deepEqual(writes[1]?.usage, [entry(1, 2, 1), entry(2, 1)]);
  await settle();
  await counter.close();
  assert.equal(writes.length, 2);
});

test('counts at most its limit of keys, whether or not it can write', async (t) => {
  const { counter, writes, tick, settle } = prepare(t);
  const all = countTo(KEY_USAGE_ENTRIES_LIMIT);
  for (const n of all) counter.count(keyOf(n), 200);
  counter.count(keyOf(KEY_USAGE_ENTRIES_LIMIT + 1), 200);
  counter.count(keyOf(1), 200);
  await tick();
  assert.deepEqual(writes[0]?.usage, all.map((n) => entry(n, n === 1 ? 2 : 1)));
  counter.count(keyOf(KEY_USAGE_ENTRIES_LIMIT + 1), 200);
  await settle(new Error('the disk is full'));
  await tick();
  assert.deepEqual(writes[1]?.usage.length, KEY_USAGE_ENTRIES_LIMIT);
  assert.deepEqual(writes[1]?.usage.slice(0, 2), [
    entry(KEY_USAGE_ENTRIES_LIMIT + 1, 1), entry(1, 2),
  ]);
});

test('starts no write while another one is in flight', async (t) => {
  const { counter, writes, tick, settle } = prepare(t);
  counter.count(keyOf(1), 200);
  await tick();
  counter.count(keyOf(1), 200);
  await tick();
  assert.equal(writes.length, 1);
  await settle();
  counter.count(keyOf(1), 200);
  await tick();
  assert.deepEqual(writes[1]?.usage, [entry(1, 2)]);
});

test('writes the remaining counts on close, after the write in flight', async (t) => {
  const { counter, writes, errors, tick, settle } = prepare(t);
  counter.count(keyOf(1), 200);
  await tick();
  counter.count(keyOf(1), 400);
  const state = { isClosed: false };
  const closed = counter.close().then(() => { state.isClosed = true; });
  await nextTurn();
  assert.equal(writes.length, 1);
  await settle();
  assert.deepEqual(writes[1]?.usage, [entry(1, 1, 1)]);
  assert.equal(state.isClosed, false);
  await settle(new Error('the disk is full'));
  await closed;
  assert.equal(errors.length, 1);
  await tick();
  assert.equal(writes.length, 2);
});
