/** Limits of webhook deliveries. */
import type { Backoff } from '../../runtime/backoff.ts';
import { WEBHOOK_RETRY_LIMIT_MS } from '../../store/limits.ts';

/** Messages of webhooks under way at once; those to endpoints that fail take at most half. */
export const CONCURRENT_WEBHOOK_ATTEMPTS_LIMIT = 256;
/** Changes in one message; messages that an endpoint gets before others have their turn. */
export const WEBHOOK_MESSAGE_CHANGES_LIMIT = 100;
export const WEBHOOK_CONSECUTIVE_MESSAGES_LIMIT = 20;
/** From the name of an endpoint to the end of its answer. */
export const WEBHOOK_TIMEOUT_MS = 15_000;
/** Of the answer, which is thrown away. */
export const WEBHOOK_RESPONSE_LIMIT_BYTES = 64 * 1024;
/** For the name of an endpoint that is made. */
export const WEBHOOK_DNS_TIMEOUT_MS = 5_000;
/**
 * In all; of a seller, and of endpoints that fail, it is one. Each takes one of the four threads of
 * Node that compress answers, too.
 */
export const CONCURRENT_DNS_LOOKUPS_LIMIT = 3;
/** Delays before a failed message is retried, and after how long the endpoint is disabled. */
export const WEBHOOK_RETRY_BACKOFF: Backoff = { firstMs: 5_000, limitMs: WEBHOOK_RETRY_LIMIT_MS };
export const WEBHOOK_GIVE_UP_MS = 5 * 24 * 60 * 60 * 1000;
/** How often endpoints that are due are looked for at most. */
export const WEBHOOK_POLL_INTERVAL_MS = 100;
/** How often a process looks that knows of no endpoint: another one may make the first. */
export const WEBHOOK_STANDBY_INTERVAL_MS = 2_000;
/** How often a process that may not deliver, since another one does, tries to. */
export const WEBHOOK_LOCK_INTERVAL_MS = 2_000;
/** How long an endpoint is left alone after the store has failed. */
export const WEBHOOK_STORE_ERROR_PAUSE_MS = 5_000;
/** How long a server that stops waits for attempts that it has ended. */
export const WEBHOOK_STOP_TIMEOUT_MS = 2_000;
/** Test messages under way, in all and of a seller. */
export const CONCURRENT_WEBHOOK_TESTS_LIMIT = 16;
export const CONCURRENT_WEBHOOK_TESTS_PER_SELLER_LIMIT = 2;
