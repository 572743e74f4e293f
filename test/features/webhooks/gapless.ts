/** Asserts that a receiver got every change, in order. */
import assert from 'node:assert/strict';
import { countTo } from '../../store/contract/fixture.ts';
import type { Received } from './receiver.ts';

/** No change is sent before what precedes it, and in the end all were. */
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
