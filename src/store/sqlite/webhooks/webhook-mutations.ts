/**
 * The mutations by which sellers create and change their webhooks: they load a webhook, apply a
 * rule of `domain/webhooks/webhook-changes.ts`, store the result and note it in the audit log.
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { AuditType } from '../../../domain/access/audit.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId, WebhookId } from '../../../domain/id.ts';
import type { NewWebhook, Webhook, WebhookPatch } from '../../../domain/webhooks/webhook.ts';
import {
  assertWebhookRoom, formatAuditSubject, isReconfigured, patchWebhook, replayFrom,
} from '../../../domain/webhooks/webhook-changes.ts';
import type { WrittenWebhook } from '../../webhook-store.ts';
import type { Actor } from '../../write.ts';
import type { AuditLog } from '../accounts/audit.ts';
import { historyPruned } from '../../rules/history.ts';
import type { PositionAllocator } from '../catalogue/position-allocator.ts';
import { readInteger } from '../engine/row.ts';
import { encodeSettings, encodeWebhook, mapWebhook, WEBHOOK_COLUMNS } from './webhooks.ts';

/** A webhook of the actor. */
interface Target {
  readonly actor: Actor;
  readonly id: WebhookId;
}

/**
 * Generated for each call, so it is not part of the fingerprint that identifies a retry: a secret,
 * encrypted, in base64. A retry with the same Idempotency-Key gets the secret of the first call.
 */
interface GeneratedSecret {
  readonly secret: string;
}

interface Rotation extends Target {
  readonly overlapMs: number;
  readonly generated: GeneratedSecret;
}

interface Creation {
  readonly actor: Actor;
  readonly webhook: NewWebhook;
  /** With the id, for which the secret is encrypted. */
  readonly generated: GeneratedSecret & { readonly id: WebhookId };
}

/** The secret is as it is stored, in base64. */
export interface WrittenSecret extends WrittenWebhook {
  readonly secret: string;
}

export function webhookMutations(db: DatabaseSync, positions: PositionAllocator, audit: AuditLog) {
  const { get, insert, update, rotate, remove, count, findPrunedTo } = prepareStatements(db);

  function note(type: AuditType, webhook: Webhook, { sellerId, address = '' }: Actor, at: number) {
    audit.add({ sellerId, type, address, subject: formatAuditSubject(webhook) }, at);
  }

  return {
    createWebhook({ actor, webhook: input, generated }: Creation, at: number): WrittenSecret {
      const { sellerId } = actor;
      const { id, secret } = generated;
      const position = positions.of(sellerId);
      assertWebhookRoom(count(sellerId));
      insert({ sellerId, id, ...encodeSettings(input), position, at, secret: decode(secret) });
      const webhook = get({ actor, id });
      note('webhook_created', webhook, actor, at);
      return { webhook, secret, isReplay: false };
    },
    patchWebhook(
      { patch, ...target }: Target & { readonly patch: WebhookPatch }, at: number,
    ): WrittenWebhook {
      const before = get(target);
      const webhook = patchWebhook(before, patch, at);
      update(encodeWebhook(webhook));
      if (isReconfigured(before, webhook)) note('webhook_changed', webhook, target.actor, at);
      return { webhook, isReplay: false };
    },
    rotateWebhookSecret(
      { overlapMs, generated: { secret }, ...target }: Rotation, at: number,
    ): WrittenSecret {
      const { actor: { sellerId }, id } = target;
      rotate({ sellerId, id, at, endsAt: at + overlapMs, secret: decode(secret) });
      const webhook = get(target);
      note('webhook_secret_rotated', webhook, target.actor, at);
      return { webhook, secret, isReplay: false };
    },
    replayWebhook(
      { position, ...target }: Target & { readonly position: number }, at: number,
    ): WrittenWebhook {
      const { sellerId } = target.actor;
      const webhook = replayFrom(get(target), position, at);
      const catalogue = positions.of(sellerId);
      if (position > catalogue) {
        const detail = `The catalogue is at position ${catalogue}, before ${position}.`;
        throw new AppError('invalid_data', detail);
      }
      const prunedTo = findPrunedTo(sellerId);
      if (position < prunedTo) throw historyPruned(prunedTo);
      update(encodeWebhook(webhook));
      return { webhook, isReplay: false };
    },
    deleteWebhook(target: Target, at: number): { readonly isReplay: boolean } {
      note('webhook_deleted', get(target), target.actor, at);
      remove(target);
      return { isReplay: false };
    },
  };
}

function prepareStatements(db: DatabaseSync) {
  const count = db.prepare('SELECT count(*) AS webhooks FROM webhook WHERE seller_id = ?');
  const find = db.prepare(`
    SELECT ${WEBHOOK_COLUMNS} FROM webhook WHERE seller_id = ? AND id = ?`);
  const insert = db.prepare(`
    INSERT INTO webhook (seller_id, id, url, description, types, position, secret,
      next_attempt_at, created_at, updated_at)
    VALUES (:sellerId, :id, :url, :description, :types, :position, :secret, :at, :at, :at)`);
  const update = db.prepare(`
    UPDATE webhook SET url = :url, description = :description, types = :types, status = :status,
      disabled_reason = :disabledReason, position = :position, message_id = :messageId,
      message_first = :messageFirst, message_last = :messageLast, message_at = :messageAt,
      failures = :failures, failing_since = :failingSince, next_attempt_at = :nextAttemptAt,
      updated_at = :updatedAt
    WHERE seller_id = :sellerId AND id = :id`);
  const rotate = db.prepare(`
    UPDATE webhook SET old_secret = secret, old_secret_ends_at = :endsAt, secret = :secret,
      updated_at = :at
    WHERE seller_id = :sellerId AND id = :id`);
  const findPruned = db.prepare('SELECT pruned_to FROM seller WHERE id = ?');
  const removeAttempts = db.prepare(`
    DELETE FROM webhook_attempt WHERE seller_id = ? AND webhook_id = ?`);
  const remove = db.prepare('DELETE FROM webhook WHERE seller_id = ? AND id = ?');
  type Values = Record<string, SQLInputValue>;
  return {
    /** @throws AppError `not_found` */
    get({ actor, id }: Target): Webhook {
      const row = find.get(actor.sellerId, id);
      if (row) return mapWebhook(row);
      throw new AppError('not_found', 'You have no webhook with this id.');
    },
    insert: (values: Values) => void insert.run(values),
    update: (values: Values) => void update.run(values),
    rotate: (values: Values) => void rotate.run(values),
    remove({ actor: { sellerId }, id }: Target): void {
      removeAttempts.run(sellerId, id);
      remove.run(sellerId, id);
    },
    count: (sellerId: SellerId) => readInteger(count.get(sellerId) ?? {}, 'webhooks'),
    findPrunedTo: (sellerId: SellerId) => readInteger(findPruned.get(sellerId) ?? {}, 'pruned_to'),
  };
}

function decode(secret: string): Uint8Array {
  return Buffer.from(secret, 'base64');
}
