/** Why a search cannot run now. The same search may succeed soon. */
import { AppError } from '../../domain/error.ts';
import { SEARCH_RETRY_AFTER_SECONDS } from '../limits.ts';

/** @param cause Is logged. */
export function temporarilyUnavailable(detail: string, cause?: unknown): AppError {
  const retryAfterSeconds = SEARCH_RETRY_AFTER_SECONDS;
  return new AppError('unavailable', detail, { retryAfterSeconds, cause });
}

/** It has no place in the queue, or has waited in it for too long: a limit, and no error to log. */
export function searchQueueFull(): AppError {
  return temporarilyUnavailable('Too many searches are waiting. Retry soon.');
}
