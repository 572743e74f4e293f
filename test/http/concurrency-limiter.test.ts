/** What is under way at once, of one owner and of all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConcurrencyLimiter } from '../../src/http/concurrency-limiter.ts';
import { catchRefusal } from '../domain/validation-errors.ts';

test('refuses one more of one owner, and one more of all, until one has ended', () => {
  const imports = new ConcurrencyLimiter<string>('imports', { all: 3, perOwner: 2 });
  const end = imports.acquire('a');
  imports.acquire('a');
  const refusal = catchRefusal(() => imports.acquire('a'));
  assert.equal(refusal.code, 'unavailable');
  assert.equal(refusal.retryAfterSeconds, 5);
  assert.match(refusal.publicDetail, /^2 of your imports/);
  imports.acquire('b');
  assert.match(catchRefusal(() => imports.acquire('c')).publicDetail, /^3 imports/);
  end();
  end(); // counts once
  imports.acquire('c');
  assert.throws(() => imports.acquire('d'));
});
