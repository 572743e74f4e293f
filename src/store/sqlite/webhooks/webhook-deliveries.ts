/**
 * The mutations of the webhook worker. A webhook may be changed or deleted during an attempt, so
 * each mutation has an effect only if the webhook is still in the state that the worker has seen.
 */
import type { DatabaseSync } from 'node:sqlite';
import { WEBHOOK_ATTEMPTS_KEPT } from '../../limits.ts';
import type { WebhookReference } from '../../../domain/id.ts';
import type {
  Webhook, WebhookMessage, WebhookResult, WebhookStep,
} from '../../../domain/webhooks/webhook.ts';
import { readInteger } from '../engine/row.ts';
import { encodeMessage } from './webhooks.ts';

/** A webhook as the worker has seen it. */
type SeenWebhook = Pick<Webhook, 'sellerId' | 'id' | 'position' | 'types'>;

interface MessageStart {
  readonly webhook: SeenWebhook;
  readonly position: number;
  readonly message?: WebhookMessage;
}

interface AttemptEnd {
  readonly webhook: WebhookReference;
  readonly message: WebhookMessage;
  readonly result: WebhookResult;
  readonly step: WebhookStep;
}

interface LogEntry extends WebhookResult {
  readonly messageId: string;
  readonly first?: number;
  readonly last?: number;
}

export function webhookDeliveryMutations(db: DatabaseSync) {
  const begin = db.prepare(`
    UPDATE webhook SET position = :to, message_id = :messageId, message_first = :messageFirst,
      message_last = :messageLast, message_at = :messageAt
    WHERE seller_id = :sellerId AND id = :id AND status = 'active' AND message_id IS NULL
      AND position = :position AND types IS :types`);
  const disable = db.prepare(`
    UPDATE webhook SET status = 'disabled', disabled_reason = :reason, updated_at = :at
    WHERE seller_id = :sellerId AND id = :id AND status = 'active' AND position = :position
      AND message_id IS :message`);
  const addEntry = prepareAddEntry(db);
  const succeed = prepareSuccess(db);
  const fail = prepareFailure(db);

  return {
    beginWebhookMessage({ webhook, position: to, message }: MessageStart): boolean {
      const { sellerId, id, types, position } = webhook;
      return begin.run({
        sellerId, id, position, types: types && types.join(' '), to, ...encodeMessage(message),
      }).changes > 0;
    },
    endWebhookAttempt({ webhook, message, result, step }: AttemptEnd, at: number): boolean {
      const { id: messageId, first, last } = message;
      addEntry(webhook, 'changes', { ...result, messageId, first, last });
      if (step.isDelivered) return succeed(webhook, messageId, step, at);
      fail(webhook, messageId, step, at);
      return false;
    },
    noteWebhookTest({ webhook, test }: { webhook: WebhookReference; test: LogEntry }): void {
      addEntry(webhook, 'test', test);
    },
    disableWebhook(
      { webhook, reason }: { webhook: SeenWebhook & Pick<Webhook, 'message'>; reason: string },
      at: number,
    ): void {
      const { sellerId, id, position, message } = webhook;
      disable.run({ sellerId, id, position, message: message?.id ?? null, reason, at });
    },
  };
}

/** Adds an entry to the delivery log, and deletes the oldest one over the limit. */
function prepareAddEntry(db: DatabaseSync) {
  const find = db.prepare('SELECT id FROM webhook WHERE seller_id = ? AND id = ?');
  const findLast = db.prepare(`
    SELECT coalesce(max(n), 0) AS n FROM webhook_attempt WHERE seller_id = ? AND webhook_id = ?`);
  const insert = db.prepare(`
    INSERT INTO webhook_attempt (seller_id, webhook_id, n, message_id, kind, first_position,
      last_position, at, duration_ms, status, outcome)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const prune = db.prepare(`
    DELETE FROM webhook_attempt WHERE seller_id = ? AND webhook_id = ? AND n <= ?`);
  return (
    { sellerId, id }: WebhookReference, kind: 'changes' | 'test', entry: LogEntry,
  ): void => {
    if (!find.get(sellerId, id)) return; // deleted during the attempt
    const n = readInteger(findLast.get(sellerId, id) ?? {}, 'n') + 1;
    insert.run(
      sellerId, id, n, entry.messageId, kind, entry.first ?? null, entry.last ?? null, entry.at,
      entry.durationMs, entry.status ?? null, entry.outcome,
    );
    prune.run(sellerId, id, n - WEBHOOK_ATTEMPTS_KEPT);
  };
}

/** Returns whether the next message has started: not if the webhook was disabled. */
function prepareSuccess(db: DatabaseSync) {
  const succeed = db.prepare(`
    UPDATE webhook SET position = :position, failures = 0, failing_since = NULL,
      next_attempt_at = :at,
      message_id = iif(status = 'active', :messageId, NULL),
      message_first = iif(status = 'active', :messageFirst, NULL),
      message_last = iif(status = 'active', :messageLast, NULL),
      message_at = iif(status = 'active', :messageAt, NULL)
    WHERE seller_id = :sellerId AND id = :id AND message_id = :sent
    RETURNING status`);
  return (
    { sellerId, id }: WebhookReference, sent: string,
    { position, next }: WebhookStep & { isDelivered: true }, at: number,
  ): boolean => {
    const row = succeed.get({ sellerId, id, sent, position, at, ...encodeMessage(next) });
    return next !== undefined && row?.['status'] === 'active';
  };
}

function prepareFailure(db: DatabaseSync) {
  const fail = db.prepare(`
    UPDATE webhook SET failures = failures + 1, failing_since = coalesce(failing_since, :at),
      next_attempt_at = :retryAt
    WHERE seller_id = :sellerId AND id = :id AND message_id = :sent`);
  const giveUp = db.prepare(`
    UPDATE webhook SET status = 'disabled', disabled_reason = :reason, updated_at = :at
    WHERE seller_id = :sellerId AND id = :id AND message_id = :sent AND status = 'active'`);
  return (
    { sellerId, id }: WebhookReference, sent: string,
    { retryAt, disabledReason }: WebhookStep & { isDelivered: false }, at: number,
  ): void => {
    fail.run({ sellerId, id, sent, retryAt, at });
    if (disabledReason === undefined) return;
    giveUp.run({ sellerId, id, sent, at, reason: disabledReason });
  };
}
