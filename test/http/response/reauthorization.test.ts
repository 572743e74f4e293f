/** Reauthorization at an interval. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reauthorizeAtInterval } from '../../../src/http/response/guarded-stream.ts';

test('is due once the interval has passed since the start or the last success', async () => {
  let now = 0;
  const revoked = new Error('revoked');
  const results = [Promise.resolve(), Promise.reject(revoked)];
  const reauthorization =
    reauthorizeAtInterval(() => results.shift() ?? Promise.resolve(), 1_000, () => now);
  now = 999;
  assert.equal(reauthorization.isDue(), false);
  now = 1_500;
  assert.equal(reauthorization.isDue(), true);
  await reauthorization.run();
  now = 2_499;
  assert.equal(reauthorization.isDue(), false);
  now = 2_500;
  await assert.rejects(reauthorization.run(), (error) => error === revoked);
  assert.equal(reauthorization.isDue(), true);
});

test('shares one check among concurrent calls', async () => {
  let count = 0;
  const reauthorization = reauthorizeAtInterval(async () => { count += 1; }, 1_000);
  await Promise.all([reauthorization.run(), reauthorization.run()]);
  assert.equal(count, 1);
  await reauthorization.run();
  assert.equal(count, 2);
});
