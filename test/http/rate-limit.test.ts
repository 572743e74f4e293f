/** How a response reports a rate limit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatRateLimitFields, rateLimited } from '../../src/http/rate-limit.ts';

test('sends limit, window, remaining and reset in the fields of IETF draft 11', () => {
  const decision = { isAllowed: true, remaining: 500, resetSeconds: 10, retryAfterSeconds: 0 };
  const fields = formatRateLimitFields({ limit: 600, windowMs: 60_000 }, decision, 'requests');
  assert.deepEqual(fields, {
    'ratelimit-policy': '"requests";q=600;w=60', ratelimit: '"requests";r=500;t=10',
  });
});

test('rejects with the retry delay in seconds', () => {
  const { code, retryAfterSeconds, publicDetail } = rateLimited(7);
  assert.deepEqual([code, retryAfterSeconds], ['rate_limited', 7]);
  assert.match(publicDetail, /\b7 s\b/);
});
