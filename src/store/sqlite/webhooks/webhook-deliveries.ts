/**
 * The webhook worker's mutations. A webhook may be changed or deleted during an attempt, so each
 * mutation has an effect only if the webhook is still in the state that the worker has seen.
 */
import type { DatabaseSync } from 'node:sqlite';
import { WEBHOOK_ATTEMPTS_KEPT } from '../../limits.ts';
import type { WebhookReference } from '../../../domain/id.ts';
import type {
  Webhook, WebhookAttempt, WebhookMessage, WebhookResult, WebhookStep,
} from '../../../domain/webhooks/webhook.ts';
import { disable, endAttempt, isAsSeen } from '../../../domain/webhooks/webhook-changes.ts';
import { prepareUpdateWebhook, webhookQueries } from './webhooks.ts';

interface MessageStart {
  readonly webhook: Webhook;
  readonly position: number;
  readonly message: WebhookMessage | undefined;
}

interface AttemptEnd {
  readonly webhook: WebhookReference;
  readonly message: WebhookMessage;
  readonly result: WebhookResult;
  readonly step: WebhookStep;
}

interface Test {
  readonly webhook: WebhookReference;
  readonly messageId: string;
  readonly result: WebhookResult;
}

export function webhookDeliveryMutations(db: DatabaseSync) {
  const { findWebhook } = webhookQueries(db);
  const update = prepareUpdateWebhook(db);
  const addAttempt = prepareAddAttempt(db);

  function findAsSeen(seen: Webhook): Webhook | undefined {
    const webhook = findWebhook(seen);
    return webhook && isAsSeen(webhook, seen) ? webhook : undefined;
  }

  return {
    beginWebhookMessage({ webhook: seen, position, message }: MessageStart): boolean {
      const webhook = findAsSeen(seen);
      if (webhook) update({ ...webhook, position, message });
      return webhook !== undefined;
    },
    endWebhookAttempt({ webhook, message, result, step }: AttemptEnd, at: number): boolean {
      const { id: messageId, first, last } = message;
      addAttempt(webhook, { ...result, messageId, kind: 'changes', first, last });
      const before = findWebhook(webhook);
      if (before?.message?.id !== messageId) return false;
      const after = endAttempt(before, step, at);
      update(after);
      return step.isDelivered && after.message !== undefined;
    },
    noteWebhookTest({ webhook, messageId, result }: Test): void {
      addAttempt(webhook, {
        ...result, messageId, kind: 'test', first: undefined, last: undefined,
      });
    },
    disableWebhook(
      { webhook: seen, reason }: { readonly webhook: Webhook; readonly reason: string }, at: number,
    ): void {
      const webhook = findAsSeen(seen);
      if (webhook) update(disable(webhook, reason, at));
    },
  };
}

/** Logs an attempt of an existing webhook, and deletes the oldest attempt over the limit. */
function prepareAddAttempt(db: DatabaseSync) {
  const insert = db.prepare(`
    INSERT INTO webhook_attempt (seller_id, webhook_id, n, message_id, kind, first_position,
      last_position, at, duration_ms, status, outcome)
    SELECT seller_id, id, 1 + coalesce((SELECT max(n) FROM webhook_attempt AS a
        WHERE a.seller_id = w.seller_id AND a.webhook_id = w.id), 0),
      :messageId, :kind, :first, :last, :at, :durationMs, :status, :outcome
    FROM webhook AS w WHERE seller_id = :sellerId AND id = :id`);
  const prune = db.prepare(`
    DELETE FROM webhook_attempt WHERE seller_id = :sellerId AND webhook_id = :id
      AND n <= (SELECT max(n) FROM webhook_attempt
        WHERE seller_id = :sellerId AND webhook_id = :id) - ${WEBHOOK_ATTEMPTS_KEPT}`);
  return ({ sellerId, id }: WebhookReference, attempt: Omit<WebhookAttempt, 'n'>): void => {
    const { first = null, last = null, status = null } = attempt;
    insert.run({ sellerId, id, ...attempt, first, last, status });
    prune.run({ sellerId, id });
  };
}
