/** Concurrency limits, per owner and in total. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConcurrencyLimiter } from '../../src/domain/concurrency-limiter.ts';
import { catchAppError } from '../domain/validation-errors.ts';

test('rejects an operation over the limit per owner or in total, until one has finished', () => {
  const imports = new ConcurrencyLimiter<string>('imports', { total: 3, perOwner: 2 });
  const release = imports.acquire('a');
  imports.acquire('a');
  const error = catchAppError(() => imports.acquire('a'));
  assert.equal(error.code, 'unavailable');
  assert.equal(error.retryAfterSeconds, 5);
  assert.match(error.publicDetail, /^You already have 2 imports running, the maximum\./);
  imports.acquire('b');
  const { publicDetail } = catchAppError(() => imports.acquire('c'));
  assert.match(publicDetail, /^This server already has 3 imports running/);
  release();
  release(); // counts once
  imports.acquire('c');
  assert.throws(() => imports.acquire('d'));
});
