/** Limits of concurrent exports. */
import { AppError } from '../../domain/error.ts';
import type { SellerId } from '../../domain/id.ts';
import {
  CONCURRENT_EXPORTS_LIMIT, CONCURRENT_EXPORTS_PER_SELLER_LIMIT, EXPORT_RETRY_AFTER_SECONDS,
} from '../limits.ts';

/** @throws AppError `unavailable` if there is no room for one more; `all` has their sellers */
export function assertExportRoom(sellerId: SellerId, all: readonly SellerId[]): void {
  const own = all.filter((id) => id === sellerId).length;
  if (all.length < CONCURRENT_EXPORTS_LIMIT && own < CONCURRENT_EXPORTS_PER_SELLER_LIMIT) return;
  const count = own < CONCURRENT_EXPORTS_PER_SELLER_LIMIT
    ? `This server already has ${all.length}` : `You already have ${own}`;
  const detail = `${count} exports running, the maximum. Retry when one has finished.`;
  throw new AppError('unavailable', detail, { retryAfterSeconds: EXPORT_RETRY_AFTER_SECONDS });
}
