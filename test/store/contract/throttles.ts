/** The contract of a store: throttles, whose token buckets all its processes share. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { bucketOf, type ThrottleBucket } from '../../../src/store/nodes/throttle-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeClock } from '../../support/clock.ts';
import { countTo, type PrepareStore } from './fixture.ts';

const THROTTLE = { kind: 'test', limit: 3, windowMs: 3_600_000 };

/** How many of so many attempts at the same time are allowed. */
async function countAllowed(store: Store, bucket: ThrottleBucket, attempts = 5): Promise<number> {
  const taken = await Promise.all(countTo(attempts).map(() => store.takeThrottle(bucket)));
  return taken.filter(({ isAllowed }) => isAllowed).length;
}

export function testThrottles(prepare: PrepareStore): void {
  test('allows the attempts of a throttle, then says how long to wait', async (t) => {
    const store = await prepare(t)(makeClock());
    const bucket = bucketOf(THROTTLE, '192.0.2.7');
    assert.equal(await countAllowed(store, bucket), 3);
    const { isAllowed, retryAfterSeconds } = await store.takeThrottle(bucket);
    assert.equal(isAllowed, false);
    assert.ok(retryAfterSeconds > 1_100 && retryAfterSeconds <= 1_200, `${retryAfterSeconds}`);
  });

  test('returns tokens to a throttle, up to its limit', async (t) => {
    const store = await prepare(t)(makeClock());
    const bucket = bucketOf(THROTTLE, 'anna@shop.example');
    assert.equal(await countAllowed(store, bucket), 3);
    await store.refundThrottle(bucket);
    assert.equal(await countAllowed(store, bucket), 1);
    for (const _ of countTo(5)) await store.refundThrottle(bucket);
    assert.equal(await countAllowed(store, bucket), 3);
    const other = bucketOf(THROTTLE, 'bert@shop.example');
    await store.refundThrottle(other);
    assert.equal(await countAllowed(store, other), 3);
  });

  test('counts each owner and each kind of attempt separately', async (t) => {
    const store = await prepare(t)(makeClock());
    const bucket = bucketOf(THROTTLE, 'one');
    assert.equal(await countAllowed(store, bucket), 3);
    assert.equal(await countAllowed(store, bucketOf(THROTTLE, 'two')), 3);
    assert.equal(await countAllowed(store, bucketOf({ ...THROTTLE, kind: 'other' }, 'one')), 3);
    assert.equal(await countAllowed(store, bucket), 0);
  });

  test('refills a throttle over its window', async (t) => {
    const clock = makeClock();
    const store = await prepare(t)(clock);
    const bucket = bucketOf({ ...THROTTLE, windowMs: 60 }, 'one');
    await countAllowed(store, bucket);
    // A store that several processes share goes by a clock that no test can set.
    clock.now += bucket.windowMs;
    await wait(bucket.windowMs);
    assert.equal((await store.takeThrottle(bucket)).isAllowed, true);
  });

  test('names a bucket by a hash, so that no address or e-mail is stored', () => {
    const { name } = bucketOf(THROTTLE, 'anna@shop.example');
    assert.match(name, /^[\w-]{43}$/);
    assert.notEqual(name, bucketOf(THROTTLE, 'bert@shop.example').name);
  });
}
