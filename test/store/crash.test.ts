/**
 * `kill -9` under load, round after round: no write that was answered is ever lost, and one that
 * was not is made once when it is sent again. The long run is in test/faults/.
 */
import { test } from 'node:test';
import { assertBetween, killAtRandom, survive } from '../faults/kills.ts';

test('loses no answered write to kill -9 under load', async (t) => {
  assertBetween(await survive(t, 12, killAtRandom, 40));
});
