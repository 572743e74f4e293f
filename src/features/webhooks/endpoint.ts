/**
 * Sends to one endpoint: message after message in order, each until it has arrived. What is sent is
 * kept before it is sent, so that after a failure, or the end of this process, the same changes go
 * out under the same id.
 */
import { WEBHOOK_CONSECUTIVE_MESSAGES_LIMIT } from './limits.ts';
import type { WebhookReference } from '../../domain/id.ts';
import type { Webhook, WebhookMessage, WebhookStep } from '../../domain/webhooks/webhook.ts';
import type { Store } from '../../store/store.ts';
import { deliver, isSuccess, type Sending } from './deliver.ts';
import { formatMessage } from './message.ts';
import { findProgress, findRetry, readMessage } from './next-message.ts';
import { signMessage } from './sign.ts';

export interface EndpointOptions extends Sending {
  readonly store: Store;
  /** From 0, below 1. */
  readonly random: () => number;
  /** Of this process. */
  readonly attempts: AttemptCounts;
}

/** Attempts by what came of them: answered with 2xx, answered otherwise, not answered. */
export interface AttemptCounts {
  delivered: number;
  refused: number;
  failed: number;
}

export const UNREADABLE_SECRET = 'The secret cannot be read any more: server.key is missing, or '
  + 'another one. Rotate the secret.';
const PRUNED = 'Changes that it has yet to get are not kept any more. Export the catalogue, and '
  + 'replay from the position that the export names.';
const THEN_ACTIVE = 'Then set the status to active.';

/** Until nothing is left, an attempt has failed, or others should have their turn. */
export async function sendToEndpoint(
  reference: WebhookReference, options: EndpointOptions,
): Promise<void> {
  const { store, stop } = options;
  for (let n = 0; n < WEBHOOK_CONSECUTIVE_MESSAGES_LIMIT && !stop.aborted; n += 1) {
    // Each time, for it may have been changed: its address, its types, its status.
    const webhook = await store.findWebhook(reference);
    const seller = await store.findSeller(reference.sellerId);
    if (webhook?.status !== 'active' || seller?.disabledAt !== undefined) return;
    const message = webhook.message ?? await begin(webhook, options);
    if (!message || !await attempt(webhook, message, options)) return;
  }
}

/** The next message, which is kept; undefined where there is none. */
async function begin(
  webhook: Webhook, { store, clock }: EndpointOptions,
): Promise<WebhookMessage | undefined> {
  const progress = await findProgress(store, webhook, webhook.position, clock());
  if (!progress) {
    await store.disableWebhook(webhook, `${PRUNED} ${THEN_ACTIVE}`);
    return undefined;
  }
  const { position, message } = progress;
  if (!message && position === webhook.position) return undefined;
  return await store.beginWebhookMessage(webhook, position, message) ? message : undefined;
}

/** Whether it has arrived, and the next message has begun. */
async function attempt(
  webhook: Webhook, message: WebhookMessage, options: EndpointOptions,
): Promise<boolean> {
  const { store, clock } = options;
  const changes = await readMessage(store, webhook, message);
  const secrets = await store.findWebhookSecrets(webhook);
  if (!changes || !secrets) {
    const reason = secrets ? PRUNED : UNREADABLE_SECRET;
    await store.disableWebhook(webhook, `${reason} ${THEN_ACTIVE}`);
    return false;
  }
  const body = formatMessage(webhook, message, changes);
  const result = await deliver({
    sellerId: webhook.sellerId,
    url: webhook.url,
    body,
    fields: signMessage({ id: message.id, at: clock(), body }, secrets),
    isFailing: webhook.failures > 0,
  }, options);
  if (!result) return false;
  options.attempts[nameOutcome(result.status)] += 1;
  const step = isSuccess(result.status)
    ? await findNext(webhook, message, options)
    : findRetry(webhook, result, clock(), options.random());
  return store.endWebhookAttempt(webhook, message, result, step);
}

function nameOutcome(status: number | undefined): keyof AttemptCounts {
  if (status === undefined) return 'failed';
  return isSuccess(status) ? 'delivered' : 'refused';
}

/** What follows a message that has arrived: kept in the transaction that notes its arrival. */
async function findNext(
  webhook: Webhook, { last }: WebhookMessage, { store, clock }: EndpointOptions,
): Promise<WebhookStep> {
  const progress = await findProgress(store, webhook, last, clock());
  return { isDelivered: true, position: progress?.position ?? last, next: progress?.message };
}
