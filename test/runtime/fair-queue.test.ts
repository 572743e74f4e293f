/** The queue in which lanes take turns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from '../../src/runtime/fair-queue.ts';

/** A queue whose work ends when the test says so; `order` has what began. */
function prepare(limits = {}) {
  const queue = new FairQueue({
    concurrent: 1, total: 7, perOwner: 3, perLane: 5, ...limits,
  });
  const order: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const run = (name: string, owner = name, signal?: AbortSignal) => {
    const gate = Promise.withResolvers<void>();
    gates.set(name, gate);
    return queue.run({ lane: name.charAt(0), owner, signal }, () => {
      order.push(name);
      return gate.promise;
    });
  };
  /** Ends all work, in the order in which it begins. */
  const finish = async (): Promise<void> => {
    for (let n = 0; n < order.length; n += 1) {
      gates.get(order[n] ?? '')?.resolve();
      await new Promise(setImmediate);
    }
  };
  return { run, order, finish };
}

test('lets lanes take turns, each in the order of its arrivals', async () => {
  const { run, order, finish } = prepare();
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => run(name));
  await finish();
  await Promise.all(all);
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('puts a lane that comes again behind those that wait', async () => {
  const { run, order, finish } = prepare();
  const all = [run('a1'), run('a2'), run('b1')];
  await new Promise(setImmediate);
  all.push(run('c1'), run('a3'));
  await finish();
  await Promise.all(all);
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1', 'a3']);
});

test('limits the places of an owner, of a lane and in total', async () => {
  const { run, finish } = prepare();
  const all = ['a1', 'a2', 'a3'].map((name) => run(name, 'one'));
  assert.equal(run('b1', 'one'), undefined);
  all.push(run('a4'), run('a5'));
  assert.equal(run('a6'), undefined);
  all.push(run('b2'), run('b3'));
  assert.equal(run('c1'), undefined);
  await finish();
  await Promise.all(all);
  await Promise.all([run('b4', 'one'), finish()]);
});

test('gives up the place of a client that leaves, and does no work for it', async () => {
  const { run, order, finish } = prepare({ total: 2 });
  const leaving = new AbortController();
  const first = run('a1');
  const gone = run('a2', 'a2', leaving.signal) ?? assert.fail();
  assert.equal(run('b1'), undefined);
  leaving.abort(new Error('It has left.'));
  await assert.rejects(gone, /has left/);
  await assert.rejects(run('a3', 'a3', leaving.signal) ?? assert.fail(), /has left/);
  const next = run('b1');
  await finish();
  await Promise.all([first, next]);
  assert.deepEqual(order, ['a1', 'b1']);
});

test('passes a slot on when work fails, or its client leaves as its turn comes', async () => {
  const { run, order, finish } = prepare();
  const leaving = new AbortController();
  const queue = new FairQueue({ concurrent: 1, total: 3, perOwner: 2, perLane: 3 });
  const failing = queue.run({ lane: 'a', owner: 'a' }, async () => {
    throw new Error('failed');
  });
  const late = queue.run({ lane: 'b', owner: 'b', signal: leaving.signal }, async () => 1);
  const next = queue.run({ lane: 'c', owner: 'c' }, async () => 2);
  await assert.rejects(failing ?? assert.fail(), /failed/);
  leaving.abort();
  await Promise.allSettled([late]);
  assert.equal(await next, 2);
  const all = [run('a1'), run('a2')];
  await finish();
  await Promise.all(all);
  assert.deepEqual(order, ['a1', 'a2']);
});
