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
  const wholeMs = Math.min(firstMs * 2 ** failures, limitMs) * (0.5 + random / 2);
  return Math.round(Math.max(wholeMs, Math.min(retryAfterMs, limitMs)));
}

/**
 * The delay that a response asks for, in seconds; undefined if it asks for none.
 * @param text `Retry-After`: seconds, or a date (RFC 9110 section 10.2.3), which is compared with
 *   `date`, the server's clock.
 */
export function parseRetryAfter(
  text: string | null | undefined, date: string | null | undefined,
): number | undefined {
  if (/^\d+$/.test(text ?? '')) return Number(text);
  if (!text?.endsWith(' GMT')) return undefined;
  const now = Date.parse(date ?? '') || Date.now();
  const seconds = Math.ceil((Date.parse(text) - now) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
