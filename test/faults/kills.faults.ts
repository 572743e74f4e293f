/**
 * `kill -9` of a server under load: at random moments, and between system calls while the WAL is
 * written, checkpointed and removed.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { FILE_NAME } from '../store/sqlite/engine/read-file.ts';
import { injectFault, NO_STRACE } from '../support/strace.ts';
import { assertBetween, type End, killAtRandom, survive } from './kills.ts';
import { work } from './shop.ts';

/** Of each kind, in one run; each run has a seed of its own. */
const KILLS = Number(process.env['KILLS'] ?? 20);

test('loses no acknowledged change to kill -9 at random moments', async (t) => {
  assertBetween(await survive(t, KILLS, killAtRandom, 3 * KILLS));
});

/** System calls on the database files, and the one before which the server is killed. */
const UNDER_LOAD: readonly (readonly [call: string, suffix: string, most: number])[] = [
  ['pwrite64', '-wal', 300], ['fsync', '-wal', 40], ['pwrite64', '-wal', 10], ['fsync', '-wal', 4],
];
const AT_THE_END: typeof UNDER_LOAD = [
  ['pwrite64', '', 6], ['fsync', '', 1], ['ftruncate', '', 1], ['unlink', '-wal', 1],
  ['unlink', '-shm', 1],
];

test('loses nothing to kill -9 between the system calls of a commit',
  { skip: NO_STRACE }, async (t) => {
    const end: End = async (shop, serving, random) => {
      const [calls, suffix, most] = random.pick(UNDER_LOAD);
      const becomes = `signal=SIGKILL:when=${1 + random.below(most)}`;
      const file = join(shop.folder, FILE_NAME + suffix);
      await injectFault(t, serving.child, { calls, becomes, file });
      return work(shop, serving);
    };
    assertBetween(await survive(t, KILLS, end, 3 * KILLS));
  });

test('loses nothing to kill -9 between the system calls that remove the WAL at shutdown',
  { skip: NO_STRACE }, async (t) => {
    const met = new Map<string, number>();
    const end: End = async (shop, serving, random) => {
      const [calls, suffix, most] = random.pick(AT_THE_END);
      const becomes = `signal=SIGKILL:when=${1 + random.below(most)}`;
      const file = join(shop.folder, FILE_NAME + suffix);
      const enough = new AbortController();
      const target = 20 + random.below(60);
      const answers = await work(shop, serving, { end: enough.signal, onAnswer(count) {
        if (count >= target) enough.abort();
      } });
      const tracing = await injectFault(t, serving.child, { calls, becomes, file });
      serving.child.kill('SIGTERM');
      assert.equal(await serving.ended, null, 'it ended before the kill');
      await tracing.end();
      assert.ok(tracing.read().some((line) => line.includes(calls)));
      met.set(calls, (met.get(calls) ?? 0) + 1);
      return answers;
    };
    await survive(t, KILLS / 2, end);
    t.diagnostic([...met].map(([call, times]) => `${times} at ${call}`).join(', '));
  });
