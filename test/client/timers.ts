/** The timers of a client, which run only when a test says so. */
import type { TestContext } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';

export interface Timers {
  /** Resolves with the time of a new timer of `fromMs` to `toMs`, once there is one. */
  find(fromMs: number, toMs?: number): Promise<number>;
  /** Advances the clock, and runs the timers that are due. */
  pass(ms: number): void;
}

export function mockTimers(t: TestContext): Timers {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let timesMs: number[] = [];
  const { setTimeout } = globalThis;
  t.mock.method(globalThis, 'setTimeout',
    (run: (...args: unknown[]) => void, ms: number, ...args: unknown[]) => {
      timesMs.push(ms);
      return setTimeout(run, ms, ...args);
    });
  return {
    async find(fromMs, toMs = fromMs) {
      for (;;) {
        const timeMs = timesMs.find((ms) => ms >= fromMs && ms <= toMs);
        timesMs = timesMs.filter((ms) => ms !== timeMs);
        if (timeMs !== undefined) return timeMs;
        await nextIteration();
      }
    },
    pass(ms) {
      now += ms;
      t.mock.timers.tick(ms);
    },
  };
}
