/** The rejection of a search that has no place in the queue, or has waited in it for too long. */
import { AppError } from '../../domain/error.ts';
import { SEARCH_RETRY_AFTER_SECONDS } from '../limits.ts';

/** Without a cause: a limit that was reached is not an error to log. */
export function searchQueueFull(): AppError {
  return new AppError('unavailable', 'Too many searches are waiting. Retry soon.', {
    retryAfterSeconds: SEARCH_RETRY_AFTER_SECONDS,
  });
}
