/** Asserts that a receiver got every change, in order. */
import assert from 'node:assert/strict';
import { countTo } from '../../store/contract/fixture.ts';
import type { Received } from './receiver.ts';

/** Asserts that no change came before its predecessor, and that all came up to `position`. */
export function assertGapless(received: readonly Received[], position: number): void {
  let seen = 0;
  for (const { body } of received) {
    const { first_position: first, last_position: last, changes } = body.data;
    const positions = changes.map((change: { position: number }) => change.position);
    assert.deepEqual(positions, countTo(last).slice(first - 1));
    assert.ok(first <= seen + 1, `${first} came after ${seen}`);
    seen = Math.max(seen, last);
  }
  assert.equal(seen, position);
}
