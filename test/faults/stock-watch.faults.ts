/** `stock sync --watch` is killed before each of its calls, and while its server is killed, too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startServing } from '../support/command.ts';
import { openWatchedShop } from '../cli/watch/killed-watch.ts';
import { makeRandom } from '../domain/random.ts';

/** Calls from the start of the process to a published file, and some. */
const CALLS = 70;
const ROUNDS = 20;
/** From the start of the process to some files. */
const KILL_WITHIN_MS = 1_500;

test('applies each file once, killed before each call of a run', async (t) => {
  const watched = await openWatchedShop(t, CALLS);
  for (let at = 1; at <= CALLS; at += 1) {
    watched.addFile();
    assert.equal(await watched.watch({ at }), 'killed', String(at));
  }
  assert.equal(await watched.watch({}), 'stopped');
  await watched.assertExactlyOnce();
});

test('applies each file once, killed at any time with its server', async (t) => {
  const watched = await openWatchedShop(t, 3 * ROUNDS);
  let { serving } = watched.shop;
  const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1e9);
  t.diagnostic(`seed ${seed}; CRASH_SEED=${seed} repeats the times of its kills`);
  const random = makeRandom(seed);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let file = 0; file < 3; file += 1) watched.addFile();
    const watching = watched.watch({ afterMs: random.below(KILL_WITHIN_MS) });
    await wait(random.below(KILL_WITHIN_MS));
    await serving.stop('SIGKILL');
    serving = await startServing(t, [
      '--data', watched.shop.data, '--rate-limit', '0', '--port', String(serving.port),
    ]);
    await watching;
  }
  assert.equal(await watched.watch({}), 'stopped');
  await watched.assertExactlyOnce();
});
