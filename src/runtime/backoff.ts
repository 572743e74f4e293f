/**
 * How long to wait before retrying a failed operation: exponential backoff with a cap. The caller
 * counts the failures, waits, and decides when to give up.
 */

export interface Backoff {
  /** The delay after the first failure, in milliseconds. It doubles with each further failure. */
  readonly firstMs: number;
  /** The longest delay, in milliseconds. It also caps `Retry-After`. */
  readonly limitMs: number;
}

interface RetryHints {
  /** `Retry-After` of the response, in milliseconds: the delay is at least this. Default 0. */
  readonly retryAfterMs?: number;
  /**
   * From 0, below 1: shortens the delay by up to half, so that clients that failed together do not
   * retry together. Default: no jitter.
   */
  readonly random?: number;
}

/**
 * The delay before the next attempt, in whole milliseconds.
 * @param failures Consecutive failed attempts before the one that just failed.
 */
export function retryDelayMs(
  { firstMs, limitMs }: Backoff, failures: number, hints: RetryHints = {},
): number {
  const { retryAfterMs = 0, random = 1 } = hints;
  const wholeMs = Math.min(Math.max(firstMs * 2 ** failures, retryAfterMs), limitMs);
  return Math.round(wholeMs * (0.5 + random / 2));
}
