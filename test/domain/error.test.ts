/** AppError, the one error class of this project. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/domain/error.ts';

test('has its code and its public text, and no other members', () => {
  const error = new AppError('sku_taken', 'That SKU is taken.');
  assert.ok(error instanceof Error);
  const { name, code, message, publicDetail, issues, retryAfterSeconds, allow, cause } = error;
  assert.deepEqual({ name, code, message, publicDetail, issues, retryAfterSeconds, allow, cause }, {
    name: 'AppError', code: 'sku_taken', message: 'That SKU is taken.',
    publicDetail: 'That SKU is taken.', issues: [],
    retryAfterSeconds: undefined, allow: undefined, cause: undefined,
  });
});

test('has the issues, the retry time, the methods and the cause that are passed to it', () => {
  const cause = new Error('inside');
  const issues = [{ pointer: '/sku', code: 'format', detail: 'No.' }] as const;
  const details = { issues, retryAfterSeconds: 3, allow: ['GET'], cause };
  const error = new AppError('unavailable', 'Later.', details);
  assert.equal(error.issues, issues);
  assert.equal(error.retryAfterSeconds, 3);
  assert.deepEqual(error.allow, ['GET']);
  assert.equal(error.cause, cause);
});
