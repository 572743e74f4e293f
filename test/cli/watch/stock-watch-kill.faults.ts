/** `stock sync --watch` applies every file exactly once, even if it is killed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWatchedShop } from './killed-watch.ts';

/** More than the calls from the start of the process to a published file. */
const CALLS = 70;
const STRIDE = 6;

test('applies each file once, killed at a different call each time', async (t) => {
  const points = Array.from({ length: Math.ceil(CALLS / STRIDE) }, (_, n) => 1 + n * STRIDE);
  const watched = await openWatchedShop(t, points.length);
  const ends: string[] = [];
  for (const at of points) {
    watched.addFile();
    ends.push(await watched.watch({ at }));
    t.diagnostic(`${at}: ${ends.at(-1)}`);
  }
  assert.ok(ends.includes('killed'));
  assert.equal(await watched.watch({}), 'stopped');
  await watched.assertExactlyOnce();
});
