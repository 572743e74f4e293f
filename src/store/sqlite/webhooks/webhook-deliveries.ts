/**
 * The units of work of whoever sends to the endpoints of webhooks. An endpoint may be changed or
 * deleted while something is under way to it: each unit does its work only where the endpoint still
 * stands where the sender has seen it.
 */
import type { DatabaseSync } from 'node:sqlite';
import { WEBHOOK_ATTEMPTS_KEPT } from '../../limits.ts';
import type { WebhookReference } from '../../../domain/id.ts';
import type {
  Webhook, WebhookMessage, WebhookResult, WebhookStep,
} from '../../../domain/webhooks/webhook.ts';
import { readInteger } from '../engine/row.ts';

/** An endpoint as its sender has seen it. */
type Seen = Pick<Webhook, 'sellerId' | 'id' | 'position' | 'types'>;

interface Beginning {
  readonly webhook: Seen;
  readonly position: number;
  readonly message?: WebhookMessage;
}

interface End {
  readonly webhook: WebhookReference;
  readonly message: WebhookMessage;
  readonly result: WebhookResult;
  readonly step: WebhookStep;
}

/** One entry for the log. */
interface Note extends WebhookResult {
  readonly messageId: string;
  readonly first?: number;
  readonly last?: number;
}

export function webhookDeliveryMutations(db: DatabaseSync) {
  const begin = db.prepare(`
    UPDATE webhook SET position = :to, message_id = :message, message_first = :first,
      message_last = :last, message_at = :messageAt
    WHERE seller_id = :sellerId AND id = :id AND status = 'active' AND message_id IS NULL
      AND position = :position AND types IS :types`);
  const disable = db.prepare(`
    UPDATE webhook SET status = 'disabled', disabled_reason = :reason, updated_at = :at
    WHERE seller_id = :sellerId AND id = :id AND status = 'active' AND position = :position
      AND message_id IS :message`);
  const note = prepareNote(db);
  const succeed = prepareSuccess(db);
  const fail = prepareFailure(db);

  return {
    beginWebhookMessage({ webhook, position, message }: Beginning): boolean {
      const { sellerId, id, types } = webhook;
      return begin.run({
        sellerId, id, position: webhook.position, types: types && types.join(' '), to: position,
        message: message?.id ?? null, first: message?.first ?? null, last: message?.last ?? null,
        messageAt: message?.at ?? null,
      }).changes > 0;
    },
    endWebhookAttempt({ webhook, message, result, step }: End, at: number): boolean {
      const { id: messageId, first, last } = message;
      note(webhook, 'changes', { ...result, messageId, first, last });
      if (step.isDelivered) return succeed(webhook, messageId, step, at);
      fail(webhook, messageId, step, at);
      return false;
    },
    noteWebhookTest({ webhook, test }: { webhook: WebhookReference; test: Note }): void {
      note(webhook, 'test', test);
    },
    disableWebhook(
      { webhook, reason }: { webhook: Seen & Pick<Webhook, 'message'>; reason: string }, at: number,
    ): void {
      const { sellerId, id, position, message } = webhook;
      disable.run({ sellerId, id, position, message: message?.id ?? null, reason, at });
    },
  };
}

/** Writes an entry of the log, and forgets the one that is too many. */
function prepareNote(db: DatabaseSync) {
  const find = db.prepare('SELECT id FROM webhook WHERE seller_id = ? AND id = ?');
  const findLast = db.prepare(`
    SELECT coalesce(max(n), 0) AS n FROM webhook_attempt WHERE seller_id = ? AND webhook_id = ?`);
  const insert = db.prepare(`
    INSERT INTO webhook_attempt (seller_id, webhook_id, n, message_id, kind, first_position,
      last_position, at, duration_ms, status, outcome)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const prune = db.prepare(`
    DELETE FROM webhook_attempt WHERE seller_id = ? AND webhook_id = ? AND n <= ?`);
  return ({ sellerId, id }: WebhookReference, kind: 'changes' | 'test', entry: Note): void => {
    if (!find.get(sellerId, id)) return; // deleted meanwhile
    const n = readInteger(findLast.get(sellerId, id) ?? {}, 'n') + 1;
    insert.run(
      sellerId, id, n, entry.messageId, kind, entry.first ?? null, entry.last ?? null, entry.at,
      entry.durationMs, entry.status ?? null, entry.outcome,
    );
    prune.run(sellerId, id, n - WEBHOOK_ATTEMPTS_KEPT);
  };
}

/** Whether the next message has begun: not where the endpoint was disabled meanwhile. */
function prepareSuccess(db: DatabaseSync) {
  const succeed = db.prepare(`
    UPDATE webhook SET position = :position, failures = 0, failing_since = NULL,
      next_attempt_at = :at,
      message_id = iif(status = 'active', :message, NULL),
      message_first = iif(status = 'active', :first, NULL),
      message_last = iif(status = 'active', :last, NULL),
      message_at = iif(status = 'active', :messageAt, NULL)
    WHERE seller_id = :sellerId AND id = :id AND message_id = :sent
    RETURNING status`);
  return (
    { sellerId, id }: WebhookReference, sent: string,
    { position, next }: WebhookStep & { isDelivered: true }, at: number,
  ): boolean => {
    const row = succeed.get({
      sellerId, id, sent, position, at, message: next?.id ?? null, first: next?.first ?? null,
      last: next?.last ?? null, messageAt: next?.at ?? null,
    });
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
