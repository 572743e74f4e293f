/** Long work in slices: between any two of them, the event loop runs once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { yieldToEventLoop } from '../../src/runtime/event-loop.ts';

test('runs one slice of long work per event-loop iteration, in the order requested', async () => {
  const parts: string[] = [];
  const turns: string[][] = [];
  const work = async (name: string): Promise<void> => {
    for (let part = 0; part < 3; part += 1) {
      await yieldToEventLoop();
      parts.push(`${name}${part}`);
    }
  };
  let isOver = false;
  const look = (): void => {
    turns.push(parts.splice(0));
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await Promise.all([work('a'), work('b')]);
  isOver = true;
  look();
  assert.deepEqual(turns.flat(), ['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
  for (const turn of turns) assert.ok(turn.length <= 1, turn.join());
});

test('resumes after a period without work', async () => {
  await yieldToEventLoop();
  await new Promise((resolve) => { setImmediate(resolve); });
  await yieldToEventLoop();
});
