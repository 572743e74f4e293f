/** Relations between limits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRelations } from '../../src/runtime/relations.ts';

test('accepts relations that hold, and names the first that does not', () => {
  assertRelations({});
  assertRelations({ '1 < 2': true, '2 < 3': true });
  const contradiction = { '1 < 2': true, 'WAIT_MS < STALL_MS': false, '4 < 3': false };
  const message = 'These limits contradict each other: WAIT_MS < STALL_MS.';
  assert.throws(() => assertRelations(contradiction), { message });
});
