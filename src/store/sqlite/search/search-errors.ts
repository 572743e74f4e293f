/** What the search cannot do now, but soon. */
import { SEARCH_RETRY_AFTER_SECONDS } from './limits.ts';
import { AppError } from '../../../domain/error.ts';

export function temporarilyUnavailable(detail: string, cause?: unknown): AppError {
  const retryAfterSeconds = SEARCH_RETRY_AFTER_SECONDS;
  return new AppError('unavailable', detail, { retryAfterSeconds, cause });
}

export function queueFull(): AppError {
  return temporarilyUnavailable('Too many searches wait. Try again soon.');
}
