/** Histograms of counts in buckets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeHistogram } from '../../src/runtime/histogram.ts';

test('counts a value in every bucket that includes it, and in the total', () => {
  const histogram = makeHistogram([1, 2.5, 10]);
  assert.deepEqual(histogram.read(), {
    buckets: [{ atMost: 1, count: 0 }, { atMost: 2.5, count: 0 }, { atMost: 10, count: 0 }],
    count: 0, sum: 0,
  });
  for (const value of [0, 1, 1.5, 2.5, 9, 10.5, 1_000]) histogram.add(value);
  assert.deepEqual(histogram.read(), {
    buckets: [{ atMost: 1, count: 2 }, { atMost: 2.5, count: 4 }, { atMost: 10, count: 5 }],
    count: 7, sum: 1_024.5,
  });
});
