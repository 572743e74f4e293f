/**
 * Sends messages to one endpoint in order, each until it is delivered. A message is stored before
 * it is sent, so after a failure or a restart, the same changes are sent under the same id.
 */
import {
  WEBHOOK_CONSECUTIVE_MESSAGES_LIMIT, WEBHOOK_GIVE_UP_MS, WEBHOOK_RETRY_BACKOFF,
} from './limits.ts';
import type { WebhookReference } from '../../domain/id.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { Webhook, WebhookMessage, WebhookStep } from '../../domain/webhooks/webhook.ts';
import type { WebhookResult } from '../../domain/webhooks/webhook-attempt.ts';
import { signMessage, UNREADABLE_SECRET } from '../../domain/webhooks/webhook-signature.ts';
import type { ErrorReporter } from '../../http/response/problem.ts';
import { retryDelayMs } from '../../runtime/backoff.ts';
import type { AccessStore } from '../../store/access-store.ts';
import type { HistoryStore } from '../../store/history-store.ts';
import type { WebhookStore } from '../../store/webhook-store.ts';
import { deliver, type DeliveryOptions, isSuccess } from './deliver.ts';
import { findNextMessage, readMessage } from './message.ts';

export interface EndpointOptions extends DeliveryOptions {
  readonly store: AccessStore & HistoryStore & WebhookStore;
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
  options.attempts[classify(result.status)] += 1;
  const step = isSuccess(result.status)
    ? await planNext(webhook, message, options)
    : planRetry(webhook, result, clock(), options.random());
  return store.endWebhookAttempt(webhook, message, result, step);
}

function classify(status: number | undefined): keyof AttemptCounts {
  if (status === undefined) return 'failed';
  return isSuccess(status) ? 'delivered' : 'refused';
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
  webhook: Webhook, { status, outcome }: WebhookResult, at: number, random: number,
): WebhookStep {
  const retryAt = at + retryDelayMs(WEBHOOK_RETRY_BACKOFF, webhook.failures, { random });
  const failingMs = at - (webhook.failingSince ?? at);
  const days = WEBHOOK_GIVE_UP_MS / DAY_MS;
  const disabledReason = status === GONE
    ? 'The endpoint responded with 410 (Gone).'
    : `Every attempt of ${days} days failed; the last one: ${outcome}.`;
  const isOver = status === GONE || failingMs >= WEBHOOK_GIVE_UP_MS;
  return { isDelivered: false, retryAt, disabledReason: isOver ? disabledReason : undefined };
}
