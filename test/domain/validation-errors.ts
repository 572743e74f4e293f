/** Runs what must be rejected and returns the error. */
import assert from 'node:assert/strict';
import { AppError } from '../../src/domain/error.ts';

export function catchRefusal(run: () => unknown): AppError {
  try {
    const value = run();
    assert.fail(`Was not refused, but gave ${JSON.stringify(value)}`);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}
