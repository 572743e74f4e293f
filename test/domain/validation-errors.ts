/** Runs a function that must throw an AppError, and returns the error. */
import assert from 'node:assert/strict';
import { AppError } from '../../src/domain/error.ts';

export function catchAppError(run: () => unknown): AppError {
  try {
    const value = run();
    assert.fail(`It did not throw, but returned ${JSON.stringify(value)}.`);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}
