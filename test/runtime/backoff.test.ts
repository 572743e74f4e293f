/** The delays before a retry: growth, cap, Retry-After and jitter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryDelayMs } from '../../src/runtime/backoff.ts';

const BACKOFF = { firstMs: 1000, limitMs: 60_000 };

test('doubles the delay with each failure, up to the limit', () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 2000].map((failures) => retryDelayMs(BACKOFF, failures));
  assert.deepEqual(delays, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

test('waits at least as long as the server asks, up to the limit', () => {
  assert.equal(retryDelayMs(BACKOFF, 0, { retryAfterMs: 500 }), 1000);
  assert.equal(retryDelayMs(BACKOFF, 0, { retryAfterMs: 7000 }), 7000);
  assert.equal(retryDelayMs(BACKOFF, 5, { retryAfterMs: 7000 }), 32_000);
  assert.equal(retryDelayMs(BACKOFF, 0, { retryAfterMs: 3_600_000 }), 60_000);
});

test('spreads the delays over their upper half', () => {
  assert.equal(retryDelayMs(BACKOFF, 1, { random: 0 }), 1000);
  assert.equal(retryDelayMs(BACKOFF, 1, { random: 0.5 }), 1500);
  assert.equal(retryDelayMs(BACKOFF, 9, { random: 0 }), 30_000);
});
