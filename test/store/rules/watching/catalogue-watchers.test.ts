/** The cost of watching, and slow or failing reads of positions. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { SellerId } from '../../../../src/domain/id.ts';
import { POSITION_READ_INTERVAL_MS } from '../../../../src/store/limits.ts';
import { prepareWatch } from '../../../../src/store/rules/watching/catalogue-watchers.ts';
import { countTo } from '../../contract/fixture.ts';

const [ONE, OTHER] = [1 as SellerId, 2 as SellerId]; // legal ones

/** Catalogues whose positions a test sets, and whose commits it reports. */
function prepare(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const positions = new Map([[ONE, 0], [OTHER, 0]]);
  const reads: (readonly SellerId[])[] = [];
  const listeners = new Set<() => void>();
  const state = { read: async () => positions };
  const watch = prepareWatch({
    findPositions(ids) {
      reads.push(ids);
      return state.read();
    },
    watchAll(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  });
  return {
    positions, reads, listeners, state, watch,
    commit(position: number): void {
      positions.set(ONE, position);
      for (const listener of listeners) listener();
    },
    async pass(): Promise<void> {
      await turn();
      t.mock.timers.tick(POSITION_READ_INTERVAL_MS);
      await turn();
    },
  };
}

test('reads positions once for watches that start together, and once per commit', async (t) => {
  const { reads, watch, commit } = prepare(t);
  const notified: number[] = [];
  for (const after of countTo(100)) {
    watch(ONE, after, () => notified.push(after));
    watch(OTHER, after, () => assert.fail('it has not changed'));
  }
  await turn();
  assert.deepEqual(reads, [[ONE, OTHER]]);
  commit(41);
  await turn();
  assert.deepEqual(reads.slice(1), [[ONE, OTHER]]);
  assert.deepEqual(notified, countTo(40));
});

test('reads at most once per interval while commits are frequent, and misses none', async (t) => {
  const { reads, watch, commit, pass } = prepare(t);
  const notified: number[] = [];
  const follow = (after: number): void => void watch(ONE, after, (position) => {
    notified.push(position);
    if (position < 300) follow(position);
  });
  watch(OTHER, 0, () => assert.fail('it has not changed'));
  follow(300);
  await turn();
  reads.length = 0;
  for (const position of countTo(300)) commit(position);
  await pass();
  await pass();
  assert.equal(reads.length, 2);
  commit(301);
  await turn();
  assert.equal(reads.length, 3, 'immediately after a quiet interval');
  assert.deepEqual(notified, [301]);
});

test('notices a commit during a slow read', async (t) => {
  const { positions, state, watch, commit, pass } = prepare(t);
  const notified: number[] = [];
  watch(ONE, 1, (position) => notified.push(position));
  await turn();
  const slow = Promise.withResolvers<void>();
  state.read = async () => {
    const seen = new Map(positions);
    await slow.promise;
    return seen;
  };
  commit(1);
  await turn();
  commit(2);
  slow.resolve();
  await pass();
  assert.deepEqual(notified, [2]);
});

test('notifies all watches if positions cannot be read', async (t) => {
  const { state, listeners, watch, commit } = prepare(t);
  const notified: number[] = [];
  for (const seller of [ONE, OTHER]) {
    watch(seller, 9, (position) => notified.push(position));
  }
  await turn();
  state.read = () => Promise.reject(new Error('The disk is gone.'));
  commit(1);
  await turn();
  assert.deepEqual(notified, [Infinity, Infinity]);
  assert.equal(listeners.size, 0, 'a listener is left');
});
