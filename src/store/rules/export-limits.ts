/** Limits of concurrent exports. */
import { ConcurrencyLimiter } from '../../domain/concurrency-limiter.ts';
import type { SellerId } from '../../domain/id.ts';
import { CONCURRENT_EXPORTS_LIMIT, CONCURRENT_EXPORTS_PER_SELLER_LIMIT } from '../limits.ts';

export function limitExports(): ConcurrencyLimiter<SellerId> {
  return new ConcurrencyLimiter('exports', {
    total: CONCURRENT_EXPORTS_LIMIT, perOwner: CONCURRENT_EXPORTS_PER_SELLER_LIMIT,
  });
}
