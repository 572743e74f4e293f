/**
 * Sends messages to one endpoint in order, each until it is delivered. A message is stored before
 * it is sent, so after a failure or a restart, the same changes are sent under the same id.
 */
import {
  WEBHOOK_CONSECUTIVE_MESSAGES_LIMIT, WEBHOOK_GIVE_UP_MS, WEBHOOK_REJECTED_BACKOFF,
  WEBHOOK_RETRY_BACKOFF,
} from './limits.ts';
import type { WebhookReference } from '../../domain/id.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { Webhook, WebhookMessage, WebhookStep } from '../../domain/webhooks/webhook.ts';
import type { WebhookResult } from '../../domain/webhooks/webhook-attempt.ts';
import { signMessage, UNREADABLE_SECRET } from '../../domain/webhooks/webhook-signature.ts';
import type { ErrorReporter } from '../../http/response/problem.ts';
import { parseRetryAfter, retryDelayMs } from '../../runtime/backoff.ts';
import { forgottenUpTo, type Moment } from '../../runtime/clock.ts';
import type { Store } from '../../store/store.ts';
import { deliver, type DeliveryOptions, isSuccess } from './deliver.ts';
import { findNextMessage, readMessage } from './message.ts';

export interface EndpointOptions extends DeliveryOptions {
  readonly store: Store;
  /** From 0, below 1. */
  readonly random: () => number;
  /** Counts the attempts of this process. */
  readonly attempts: AttemptCounts;
  /** Receives errors of the store. */
  readonly report: ErrorReporter;
}

/** Attempts by result: a 2xx response, another response, no response. */
export interface AttemptCounts {
  delivered: number;
  refused: number;
  failed: number;
}

const PRUNED = 'The next changes are no longer in the history. Export the catalogue, and replay '
  + 'from the position of the export.';
const THEN_ACTIVE = 'Then set the status to active.';
const GONE = 410;
/** Unauthorized, Forbidden, Not Found, Method Not Allowed: the endpoint or its URL is wrong. */
const REJECTED: ReadonlySet<number> = new Set([401, 403, 404, 405]);

/** Sends until nothing is left, an attempt fails, or other endpoints should be served. */
export async function sendToEndpoint(
  reference: WebhookReference, options: EndpointOptions,
): Promise<void> {
  const { store, stop } = options;
  for (let n = 0; n < WEBHOOK_CONSECUTIVE_MESSAGES_LIMIT && !stop.aborted; n += 1) {
    // Read it each time: its URL, types or status may have changed.
    const webhook = await store.findWebhook(reference);
    const seller = await store.findSeller(reference.sellerId);
    if (webhook?.status !== 'active' || seller?.disabledAt !== undefined) return;
    const { message } = webhook;
    const hasMore = message ? await attempt(webhook, message, options)
      : await startMessage(webhook, options);
    if (!hasMore) return;
  }
}

/** Stores the next message, or skips changes without one. Returns whether it did. */
async function startMessage(webhook: Webhook, { store, clock }: EndpointOptions): Promise<boolean> {
  const next = await findNextMessage(store, webhook, clock());
  if (!next) {
    await store.disableWebhook(webhook, `${PRUNED} ${THEN_ACTIVE}`);
    return false;
  }
  const { position, message } = next;
  const isCaughtUp = !message && position === webhook.position;
  return !isCaughtUp && store.beginWebhookMessage(webhook, position, message);
}

/** Returns whether the message was delivered and the next one was started. */
async function attempt(
  webhook: Webhook, message: WebhookMessage, options: EndpointOptions,
): Promise<boolean> {
  const { store, clock } = options;
  const body = await readMessage(store, webhook, message);
  const secrets = await store.findWebhookSecrets(webhook);
  if (body === undefined || !secrets) {
    const reason = secrets ? PRUNED : UNREADABLE_SECRET;
    await store.disableWebhook(webhook, `${reason} ${THEN_ACTIVE}`);
    return false;
  }
  const headers = signMessage({ id: message.id, at: clock(), body }, secrets);
  const result = await deliver(webhook, body, headers, options);
  if (!result) return false;
  const isDelivered = isSuccess(result.status);
  const outcome = isDelivered ? 'delivered' : result.status === undefined ? 'failed' : 'refused';
  options.attempts[outcome] += 1;
  const step = isDelivered
    ? await planNext(webhook, message, options)
    : planRetry(webhook, result, store.now(), options.random());
  return store.endWebhookAttempt(webhook, message, result, step);
}

/**
 * The step after a delivered message. Contains the next message, so that one write stores both. If
 * the history after it is pruned, the next run handles that.
 */
async function planNext(
  webhook: Webhook, previous: WebhookMessage, { store, clock }: EndpointOptions,
): Promise<WebhookStep> {
  const next = await findNextMessage(store, webhook, clock(), previous);
  return { isDelivered: true, position: next?.position ?? previous.last, next: next?.message };
}

/** The step after a failed attempt: when to retry, or why the endpoint is disabled. */
function planRetry(
  webhook: Webhook, { status = 0, outcome, exchange }: WebhookResult, { wall, lived }: Moment,
  random: number,
): WebhookStep {
  const fieldOf = (name: string): string | undefined =>
    exchange?.response?.headers.find((header) => header.name.toLowerCase() === name)?.value;
  const retryAfterMs = (parseRetryAfter(fieldOf('retry-after'), fieldOf('date')) ?? 0) * 1000;
  const backoff = REJECTED.has(status) ? WEBHOOK_REJECTED_BACKOFF : WEBHOOK_RETRY_BACKOFF;
  const retryAt = wall + retryDelayMs(backoff, webhook.failures, { random, retryAfterMs });
  const days = WEBHOOK_GIVE_UP_MS / DAY_MS;
  const disabledReason = status === GONE
    ? 'The endpoint responded with 410 (Gone).'
    : `Every attempt of ${days} days failed; the last one: ${outcome}.`;
  const isOver = status === GONE
    || (webhook.failingLivedSince ?? lived) <= forgottenUpTo(lived, WEBHOOK_GIVE_UP_MS);
  return { isDelivered: false, retryAt, disabledReason: isOver ? disabledReason : undefined };
}
