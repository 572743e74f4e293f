/**
 * How a response reports a rate limit: 429 with `Retry-After`, and the remaining tokens in the
 * header fields of draft-ietf-httpapi-ratelimit-headers-11.
 */
import { AppError } from '../domain/error.ts';
import type { RateDecision, RateLimit } from '../runtime/rate-limiter.ts';

/** The error for a request over its rate limit. */
export function rateLimited(retryAfterSeconds: number): AppError {
  const detail = `Too many requests. Retry in ${retryAfterSeconds} s.`;
  return new AppError('rate_limited', detail, { retryAfterSeconds });
}

/** The `RateLimit` header fields: the limit, named `policy`, and the remaining tokens. */
export function formatRateLimitFields(
  { limit, windowMs }: RateLimit, { remaining, resetSeconds }: RateDecision, policy: string,
): Record<string, string> {
  return {
    'ratelimit-policy': `"${policy}";q=${limit};w=${windowMs / 1000}`,
    ratelimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
  };
}
