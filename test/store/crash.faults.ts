/**
 * Repeated `kill -9` under load: no acknowledged write is lost, and an unacknowledged one takes
 * effect once when it is retried. The long run is in test/faults/.
 */
import { test } from 'node:test';
import { assertBetween, killAtRandom, survive } from '../faults/kills.ts';

test('loses no acknowledged write to kill -9 under load', async (t) => {
  assertBetween(await survive(t, 12, killAtRandom, 40));
});
