/** Token buckets: a burst of one window's requests, then refilled at a constant rate. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { makeRateLimiter, type RateLimiter } from '../../src/runtime/rate-limiter.ts';
import { forRandom } from '../domain/random.ts';
import { type Clock, makeClock } from '../support/clock.ts';

function makeLimiter(limit: number, entriesLimit: number, clock: Clock): RateLimiter<string> {
  return makeRateLimiter({ limit, windowMs: 60_000 }, entriesLimit, clock);
}

function takeAll(limiter: RateLimiter<string>, name: string): number {
  let taken = 0;
  while (limiter.take(name).isAllowed) taken += 1;
  return taken;
}

describe('a bucket', () => {
  test('allows a burst of one minute of requests, and then rejects', () => {
    const limiter = makeLimiter(60, 10, makeClock());
    assert.deepEqual(limiter.take('a'), {
      isAllowed: true, remaining: 59, resetSeconds: 1, retryAfterSeconds: 0,
    });
    assert.equal(takeAll(limiter, 'a'), 59);
    assert.deepEqual(limiter.take('a'), {
      isAllowed: false, remaining: 0, resetSeconds: 60, retryAfterSeconds: 1,
    });
  });

  test('refills over time, up to its capacity', () => {
    const clock = makeClock();
    const limiter = makeLimiter(60, 10, clock);
    takeAll(limiter, 'a');
    clock.now += 999;
    assert.equal(takeAll(limiter, 'a'), 0);
    clock.now += 1;
    assert.equal(takeAll(limiter, 'a'), 1);
    clock.now += 10_500;
    assert.equal(takeAll(limiter, 'a'), 10);
    clock.now += 86_400_000;
    assert.equal(takeAll(limiter, 'a'), 60);
  });

  test('returns the retry delay if a token takes longer than a second', () => {
    const clock = makeClock();
    const limiter = makeLimiter(2, 10, clock);
    takeAll(limiter, 'a');
    const { retryAfterSeconds, resetSeconds } = limiter.take('a');
    assert.deepEqual([retryAfterSeconds, resetSeconds], [30, 60]);
    clock.now += 29_999;
    assert.equal(limiter.take('a').isAllowed, false);
    assert.equal(limiter.take('a').retryAfterSeconds, 1);
    clock.now += 1;
    assert.equal(limiter.take('a').isAllowed, true);
  });

  test('loses no tokens to rejected requests', () => {
    const clock = makeClock();
    const limiter = makeLimiter(60, 10, clock);
    takeAll(limiter, 'a');
    for (let n = 0; n < 100; n += 1) limiter.take('a');
    clock.now += 1_000;
    assert.equal(limiter.take('a').isAllowed, true);
  });

  test('refills over a configured window, such as an hour', () => {
    const clock = makeClock();
    const limiter = makeRateLimiter<string>({ limit: 6, windowMs: 3_600_000 }, 10, clock);
    assert.equal(takeAll(limiter, 'a'), 6);
    const { retryAfterSeconds, resetSeconds } = limiter.take('a');
    assert.deepEqual([retryAfterSeconds, resetSeconds], [600, 3_600]);
    clock.now += 600_000;
    assert.equal(takeAll(limiter, 'a'), 1);
  });

  test('accepts a refund, up to its capacity', () => {
    const limiter = makeLimiter(3, 10, makeClock());
    takeAll(limiter, 'a');
    limiter.refund('a');
    assert.equal(takeAll(limiter, 'a'), 1);
    for (let n = 0; n < 5; n += 1) limiter.refund('a');
    assert.equal(takeAll(limiter, 'a'), 3);
    limiter.refund('b');
    assert.equal(takeAll(limiter, 'b'), 3);
  });

  test('is separate for each name', () => {
    const limiter = makeLimiter(3, 10, makeClock());
    takeAll(limiter, 'a');
    assert.equal(takeAll(limiter, 'b'), 3);
    assert.equal(limiter.take('a').isAllowed, false);
  });

  test('loses and gains nothing if the clock steps back, and then refills', () => {
    const clock = makeClock();
    const limiter = makeLimiter(60, 10, clock);
    takeAll(limiter, 'a');
    clock.now -= 3_600_000;
    assert.deepEqual([limiter.take('a').isAllowed, limiter.take('a').remaining], [false, 0]);
    clock.now += 2_000;
    assert.equal(takeAll(limiter, 'a'), 2);
  });

  test('allows a request after the Retry-After time', () => {
    forRandom(2_000, (random) => {
      const clock = makeClock();
      const limiter = makeLimiter(1 + random.below(500), 10, clock);
      let decision = limiter.take('a');
      while (decision.isAllowed) {
        clock.now += random.below(40) === 0 ? random.below(100) : 0;
        decision = limiter.take('a');
      }
      assert.ok(decision.retryAfterSeconds >= 1);
      clock.now += decision.retryAfterSeconds * 1_000;
      assert.equal(limiter.take('a').isAllowed, true);
    });
  });

  test('never allows more than its capacity plus the refill', () => {
    forRandom(300, (random) => {
      const clock = makeClock();
      const perMinute = 1 + random.below(300);
      const limiter = makeLimiter(perMinute, 10, clock);
      const start = clock.now;
      let allowed = 0;
      for (let n = 0; n < 1_000; n += 1) {
        clock.now += random.below(200);
        if (limiter.take('a').isAllowed) allowed += 1;
        const most = perMinute * (1 + (clock.now - start) / 60_000);
        assert.ok(allowed <= most + 1e-6, `${allowed} of ${most} after ${clock.now - start} ms`);
      }
    });
  });
});

describe('the bucket table', () => {
  test('evicts the least recently used bucket', () => {
    const limiter = makeLimiter(2, 3, makeClock());
    for (const name of ['a', 'b', 'c']) takeAll(limiter, name);
    limiter.take('a'); // rejected, but used
    limiter.take('d'); // evicts b
    for (const name of ['a', 'c']) assert.equal(limiter.take(name).isAllowed, false, name);
    assert.equal(takeAll(limiter, 'b'), 2);
  });

  test('keeps buckets up to its limit', () => {
    const limiter = makeLimiter(1, 100, makeClock());
    const names = Array.from({ length: 101 }, (_, n) => `name ${n}`);
    for (const name of names.slice(0, 100)) limiter.take(name);
    for (const name of names.slice(0, 100)) assert.equal(limiter.take(name).isAllowed, false, name);
    limiter.take('name 100');
    assert.equal(limiter.take('name 0').isAllowed, true);
  });
});
