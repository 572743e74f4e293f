/** Long work in slices: between any two of them, the event loop runs once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { yieldToEventLoop } from '../../src/runtime/event-loop.ts';

test('runs one slice of long work per event-loop iteration, in the order requested', async () => {
  const slices: string[] = [];
  const work = async (name: string): Promise<void> => {
    for (let slice = 0; slice < 3; slice += 1) {
      await yieldToEventLoop();
      slices.push(`${name}${slice}`);
    }
  };
  void work('a');
  void work('b');
  const iterations: string[][] = [];
  for (let count = 0; count < 10; count += 1) {
    iterations.push(slices.splice(0));
    await nextIteration();
  }
  assert.deepEqual(iterations.flat(), ['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
  for (const ran of iterations) assert.ok(ran.length <= 1, ran.join());
});

test('resumes in the next iteration after a period without work', async () => {
  for (let period = 0; period < 2; period += 1) {
    let isResumed = false;
    void yieldToEventLoop().then(() => { isResumed = true; });
    await Promise.resolve();
    assert.equal(isResumed, false);
    for (let count = 0; count < 3; count += 1) await nextIteration();
    assert.equal(isResumed, true, `period ${period}`);
  }
});
