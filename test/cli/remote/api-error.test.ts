/** Which failures are retried, and how often. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandFailure } from '../../../src/cli/command.ts';
import { TemporaryFailure, withRetries } from '../../../src/cli/remote/api-error.ts';

const POLICY = { retries: 3, firstMs: 0, limitMs: 0 };

test('retries a temporary failure until it succeeds', async () => {
  const { attempt, notes, note } = fail(new TemporaryFailure('Busy.'), 2);
  assert.equal(await withRetries(attempt, POLICY, note), 'done');
  assert.deepEqual(notes, [
    'Busy. Retrying in 0 s (1 of 3).', 'Busy. Retrying in 0 s (2 of 3).',
  ]);
});

test('gives up after the last retry, and throws the failure', async () => {
  const failure = new TemporaryFailure('Busy.');
  const { attempt, notes, note } = fail(failure, 4);
  await assert.rejects(withRetries(attempt, POLICY, note), failure);
  assert.equal(notes.length, 3);
});

test('does not retry a permanent failure', async () => {
  const failure = new CommandFailure('No.');
  const { attempt, notes, note } = fail(failure, 1);
  await assert.rejects(withRetries(attempt, POLICY, note), failure);
  assert.deepEqual(notes, []);
});

test('retries a server that was reached before, but not one that never was', async () => {
  const absent = new TemporaryFailure('Nobody.', { wasReached: false });
  const never = fail(absent, 1);
  await assert.rejects(withRetries(never.attempt, POLICY, never.note), (error: unknown) =>
    error instanceof CommandFailure && !(error instanceof TemporaryFailure));
  const failures = [new TemporaryFailure('Broke.'), absent];
  const gone = async (): Promise<string> => {
    const failure = failures.shift();
    if (failure) throw failure;
    return 'done';
  };
  assert.equal(await withRetries(gone, POLICY, () => {}), 'done');
});

/** An attempt that fails so often, and the notes about it. */
function fail(error: Error, times: number) {
  const notes: string[] = [];
  let failures = 0;
  return {
    notes,
    note: (text: string) => void notes.push(text),
    async attempt(): Promise<string> {
      failures += 1;
      if (failures <= times) throw error;
      return 'done';
    },
  };
}
