/** Stops a listener on an injected clock, which never reaches the time that closes everything. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { STOP_TIMEOUT_MS } from '../../../src/http/limits.ts';

const TICK_MS = 100;
/** Enough for the events of a destroyed connection. */
const TICKS = 20;

/** Begins to stop. `assertStops` asserts that only idle connections were left, and are closed. */
export function startStopping(t: TestContext, stop: () => Promise<void>) {
  assert.ok(TICKS * TICK_MS < STOP_TIMEOUT_MS);
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const state = { isStopped: false };
  const stopping = stop().then(() => { state.isStopped = true; });
  return {
    state,
    async assertStops(): Promise<void> {
      for (let tick = 0; tick < TICKS && !state.isStopped; tick += 1) {
        t.mock.timers.tick(TICK_MS);
        await nextIteration();
      }
      assert.equal(state.isStopped, true, 'connections are left open');
      await stopping;
    },
  };
}
