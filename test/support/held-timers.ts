/** Timers that run when a test says so, beside others that run as usual. */
import type { TestContext } from 'node:test';

/** A time that nothing else waits for; far longer than a test. */
export const HELD_MS = 1_234_567_000;

interface HeldTimers {
  /** Runs the timers of `HELD_MS` that were started so far. */
  run(): void;
}

export function holdTimers(t: TestContext): HeldTimers {
  const held: (() => void)[] = [];
  const { setTimeout } = globalThis;
  t.mock.method(globalThis, 'setTimeout',
    (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      if (ms === HELD_MS) held.push(() => run(...args));
      return setTimeout(run, ms, ...args);
    });
  return {
    run() {
      for (const run of held.splice(0)) run();
    },
  };
}
