/**
 * The webhook worker's mutations. A webhook may be changed or deleted during an attempt, so each
 * mutation has an effect only if the webhook is still in the state that the worker has seen.
 */
import { WEBHOOK_ATTEMPTS_KEPT } from '../../limits.ts';
import type { WebhookReference } from '../../../domain/id.ts';
import type { Webhook, WebhookMessage } from '../../../domain/webhooks/webhook.ts';
import {
  describeMessage, type TestMessage, type WebhookResult,
} from '../../../domain/webhooks/webhook-attempt.ts';
import { disable, endAttempt, isUnchangedSince } from '../../../domain/webhooks/webhook-changes.ts';
import type { WebhookStore } from '../../webhook-store.ts';
import type { MutationsOf } from '../port-methods.ts';
import { readInteger, type Sql } from '../sql.ts';
import { prepareFindWebhook, prepareUpdateWebhook, type StoredDetail } from './webhooks.ts';

export function webhookDeliveryMutations(sql: Sql, lived: () => number) {
  const findWebhook = prepareFindWebhook(sql);
  const update = prepareUpdateWebhook(sql);
  const addAttempt = prepareAddAttempt(sql);

  async function findUnchanged(expected: Webhook): Promise<Webhook | undefined> {
    const webhook = await findWebhook(expected);
    return webhook && isUnchangedSince(webhook, expected) ? webhook : undefined;
  }

  return {
    async beginWebhookMessage([expected, position, message]) {
      const webhook = await findUnchanged(expected);
      if (webhook) await update({ ...webhook, position, message });
      return webhook !== undefined;
    },
    async endWebhookAttempt([reference, message, result, step], at) {
      const before = await findWebhook(reference);
      if (!before) return false;
      await addAttempt(before, message, result);
      if (before.message?.id !== message.id) return false;
      const after = endAttempt(before, step, at, lived());
      await update(after);
      return step.isDelivered && after.message !== undefined;
    },
    async noteWebhookAttempt([webhook, message, result]) {
      return await findWebhook(webhook) && addAttempt(webhook, message, result);
    },
    async disableWebhook([expected, reason], at) {
      const webhook = await findUnchanged(expected);
      if (webhook) await update(disable(webhook, reason, at));
    },
  } satisfies Partial<MutationsOf<WebhookStore>>;
}

/** Logs an attempt of an existing webhook, and deletes the oldest attempt over the limit. */
function prepareAddAttempt(sql: Sql) {
  const findLast = sql.prepare(`
    SELECT coalesce(max(n), 0) AS n FROM webhook_attempt
    WHERE seller_id = :sellerId AND webhook_id = :id`);
  const insert = sql.prepare(`
    INSERT INTO webhook_attempt (seller_id, webhook_id, n, message_id, kind, first_position,
      last_position, at, duration_ms, status, outcome, detail)
    VALUES (:sellerId, :id, :n, :messageId, :kind, :first, :last, :at, :durationMs, :status,
      :outcome, :detail)`);
  const prune = sql.prepare(`
    DELETE FROM webhook_attempt WHERE seller_id = :sellerId AND webhook_id = :id AND n <= :last`);
  return async (
    { sellerId, id }: WebhookReference, message: WebhookMessage | TestMessage,
    { exchange, ...result }: WebhookResult,
  ): Promise<number> => {
    const n = readInteger(await findLast.get({ sellerId, id }) ?? {}, 'n') + 1;
    await insert.run({
      sellerId, id, n, ...describeMessage(message),
      ...result, status: result.status, // a parameter must not be missing
      detail: JSON.stringify({ exchange, message } satisfies StoredDetail),
    });
    await prune.run({ sellerId, id, last: n - WEBHOOK_ATTEMPTS_KEPT });
    return n;
  };
}
