/** Limits of webhook deliveries. */
import type { Backoff } from '../../runtime/backoff.ts';
import { WEBHOOK_RETRY_LIMIT_MS } from '../../store/limits.ts';

/**
 * Concurrent delivery attempts; failing endpoints get at most half, so that the others are never
 * blocked.
 */
export const CONCURRENT_WEBHOOK_ATTEMPTS_LIMIT = 256;
/** Changes in one message; receivers parse it in memory. */
export const WEBHOOK_MESSAGE_CHANGES_LIMIT = 100;
/**
 * Products in one message, after which it ends early; many web servers reject bodies above 1 MiB,
 * and 100 usual products take a tenth of this.
 */
export const WEBHOOK_MESSAGE_LIMIT_CHARACTERS = 512 * 1024;
/** Consecutive messages to one endpoint; then other due endpoints have precedence. */
export const WEBHOOK_CONSECUTIVE_MESSAGES_LIMIT = 20;
/** Time for an attempt, from the DNS lookup to the end of the response; receivers should queue. */
export const WEBHOOK_TIMEOUT_MS = 15_000;
/** Response bytes that an attempt reads before it stops, so that most endpoints can finish. */
export const WEBHOOK_RESPONSE_LIMIT_BYTES = 64 * 1024;
/** Beginning of a message that the log keeps: about 20 changes. */
export const WEBHOOK_REQUEST_KEPT_BYTES = 8 * 1024;
/** Beginning of a response that the log keeps; error messages are shorter. */
export const WEBHOOK_RESPONSE_KEPT_BYTES = 1024;
/** Names and values of response header fields that the log keeps. */
export const WEBHOOK_RESPONSE_HEADERS_KEPT_CHARACTERS = 4 * 1024;
/** Time for the DNS lookup when a webhook is created; its client waits. */
export const WEBHOOK_DNS_TIMEOUT_MS = 5_000;
/**
 * Concurrent DNS lookups: one per seller, and one for all failing endpoints together; each
 * takes one of the four threads that also compress responses.
 */
export const CONCURRENT_DNS_LOOKUPS_LIMIT = 3;
/** Delays before a failed message is retried; they double up to a day. */
export const WEBHOOK_RETRY_BACKOFF: Backoff = { firstMs: 5_000, limitMs: WEBHOOK_RETRY_LIMIT_MS };
/** The same after a response that no retry changes, unless someone corrects the endpoint. */
export const WEBHOOK_REJECTED_BACKOFF: Backoff = {
  firstMs: 5 * 60 * 1000, limitMs: WEBHOOK_RETRY_LIMIT_MS,
};
/** Time after which an endpoint that keeps failing is disabled; longer than a long weekend. */
export const WEBHOOK_GIVE_UP_MS = 5 * 24 * 60 * 60 * 1000;
/** Minimum interval between polls for due endpoints; each poll is a few reads. */
export const WEBHOOK_POLL_INTERVAL_MS = 100;
/** Pause of an endpoint after a store error; a full disk needs time. */
export const WEBHOOK_STORE_ERROR_PAUSE_MS = 5_000;
/** How long a stopping server waits for the attempts that it has cancelled. */
export const WEBHOOK_STOP_TIMEOUT_MS = 2_000;
/** Concurrent test and resent messages, in total and per seller; each request waits for one. */
export const CONCURRENT_WEBHOOK_TESTS_LIMIT = 16;
export const CONCURRENT_WEBHOOK_TESTS_PER_SELLER_LIMIT = 2;
