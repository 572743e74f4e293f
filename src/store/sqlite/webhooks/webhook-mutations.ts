/**
 * The mutations by which sellers create and change webhooks: each loads a webhook, applies a rule
 * of `domain/webhooks/webhook-changes.ts`, stores the result and adds it to the audit log.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { AuditType } from '../../../domain/access/audit.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId, WebhookId } from '../../../domain/id.ts';
import type { NewWebhook, Webhook, WebhookPatch } from '../../../domain/webhooks/webhook.ts';
import {
  assertWebhookRoom, createWebhook, formatAuditSubject, isReconfigured, patchWebhook, replayFrom,
} from '../../../domain/webhooks/webhook-changes.ts';
import type { WrittenWebhook } from '../../webhook-store.ts';
import type { Actor } from '../../write.ts';
import type { AuditLog } from '../accounts/audit.ts';
import { historyPruned } from '../../rules/history.ts';
import type { PositionAllocator } from '../catalogue/position-allocator.ts';
import { readInteger } from '../engine/row.ts';
import { prepareInsertWebhook, prepareUpdateWebhook, webhookQueries } from './webhooks.ts';

/** A webhook of the actor. */
interface Target {
  readonly actor: Actor;
  readonly id: WebhookId;
}

/**
 * An encrypted secret in base64, generated for each call, so it is not part of the fingerprint that
 * identifies a retry. A retry with the same Idempotency-Key gets the secret of the first call.
 */
interface GeneratedSecret {
  readonly secret: string;
}

interface Creation {
  readonly actor: Actor;
  readonly webhook: NewWebhook;
  /** Includes the id, to which the secret's encryption is bound. */
  readonly generated: GeneratedSecret & { readonly id: WebhookId };
}

export type WrittenSecret = WrittenWebhook & GeneratedSecret;

export function webhookMutations(db: DatabaseSync, positions: PositionAllocator, audit: AuditLog) {
  const { get, insert, update, rotate, remove, count, findPrunedTo } = prepareStatements(db);

  function note(type: AuditType, webhook: Webhook, { address = '' }: Actor, at: number): void {
    const { sellerId } = webhook;
    audit.add({ sellerId, type, address, subject: formatAuditSubject(webhook) }, at);
  }

  return {
    createWebhook(
      { actor, webhook: input, generated: { id, secret } }: Creation, at: number,
    ): WrittenSecret {
      const { sellerId } = actor;
      assertWebhookRoom(count(sellerId));
      const webhook = createWebhook({ sellerId, id }, input, positions.of(sellerId), at);
      insert(webhook, decode(secret));
      note('webhook_created', webhook, actor, at);
      return { webhook, secret, isReplay: false };
    },
    patchWebhook(
      { patch, ...target }: Target & { readonly patch: WebhookPatch }, at: number,
    ): WrittenWebhook {
      const before = get(target);
      const webhook = patchWebhook(before, patch, at);
      update(webhook);
      if (isReconfigured(before, webhook)) note('webhook_changed', webhook, target.actor, at);
      return { webhook, isReplay: false };
    },
    rotateWebhookSecret(
      { overlapMs, generated: { secret }, ...target }:
      Target & { readonly overlapMs: number; readonly generated: GeneratedSecret }, at: number,
    ): WrittenSecret {
      const webhook = { ...get(target), updatedAt: at };
      rotate(webhook, decode(secret), at + overlapMs);
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
      update(webhook);
      return { webhook, isReplay: false };
    },
    deleteWebhook(target: Target, at: number): { readonly isReplay: boolean } {
      const webhook = get(target);
      remove(webhook);
      note('webhook_deleted', webhook, target.actor, at);
      return { isReplay: false };
    },
  };
}

function prepareStatements(db: DatabaseSync) {
  const { findWebhook } = webhookQueries(db);
  const count = db.prepare('SELECT count(*) AS webhooks FROM webhook WHERE seller_id = ?');
  const rotate = db.prepare(`
    UPDATE webhook SET old_secret = secret, old_secret_ends_at = ?, secret = ?, updated_at = ?
    WHERE seller_id = ? AND id = ?`);
  const findPruned = db.prepare('SELECT pruned_to FROM seller WHERE id = ?');
  const removeAttempts = db.prepare(`
    DELETE FROM webhook_attempt WHERE seller_id = ? AND webhook_id = ?`);
  const remove = db.prepare('DELETE FROM webhook WHERE seller_id = ? AND id = ?');
  return {
    insert: prepareInsertWebhook(db),
    update: prepareUpdateWebhook(db),
    /** @throws AppError `not_found` */
    get({ actor: { sellerId }, id }: Target): Webhook {
      const webhook = findWebhook({ sellerId, id });
      if (webhook) return webhook;
      throw new AppError('not_found', 'You have no webhook with this id.');
    },
    rotate({ sellerId, id, updatedAt }: Webhook, secret: Uint8Array, oldEndsAt: number): void {
      rotate.run(oldEndsAt, secret, updatedAt, sellerId, id);
    },
    remove({ sellerId, id }: Webhook): void {
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
