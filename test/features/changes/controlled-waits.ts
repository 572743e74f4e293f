/** Requests that wait for changes: their time is over only when a test says so. */
import type { TestContext } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { ChangeNotifier } from '../../../src/features/changes/change-notifier.ts';

/** The longest time that a timer can have. */
const FOREVER_MS = 2 ** 31 - 1;

export interface ControlledWaits {
  /** How long each wait so far was meant to take at most. */
  readonly timeoutsMs: readonly number[];
  /** Resolves once this many waits have started. */
  untilStarted(count: number): Promise<void>;
  /** Ends all waits, as if their time was over. */
  expire(): void;
}

export function controlWaits(t: TestContext): ControlledWaits {
  const timeoutsMs: number[] = [];
  let expiry = new AbortController();
  const { wait } = ChangeNotifier.prototype;
  t.mock.method(ChangeNotifier.prototype, 'wait',
    function control(this: ChangeNotifier, ...args: Parameters<typeof wait>) {
      const [sellerId, position, timeoutMs, signal] = args;
      timeoutsMs.push(timeoutMs);
      const either = AbortSignal.any([signal, expiry.signal]);
      return wait.call(this, sellerId, position, FOREVER_MS, either);
    });
  return {
    timeoutsMs,
    async untilStarted(count) {
      while (timeoutsMs.length < count) await nextIteration();
    },
    expire() {
      expiry.abort();
      expiry = new AbortController();
    },
  };
}
