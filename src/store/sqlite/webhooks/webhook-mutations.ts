/** The mutations by which sellers create and change their webhook endpoints. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { AuditType } from '../../../domain/access/audit.ts';
import { AppError } from '../../../domain/error.ts';
import { formatWebhookId, type WebhookId } from '../../../domain/id.ts';
import { WEBHOOKS_PER_SELLER_LIMIT } from '../../../domain/limits.ts';
import type { NewWebhook, Webhook, WebhookPatch } from '../../../domain/webhooks/webhook.ts';
import type { WrittenWebhook } from '../../webhook-store.ts';
import type { Actor } from '../../write.ts';
import type { AuditLog } from '../accounts/audit.ts';
import { historyPruned } from '../../rules/history.ts';
import type { PositionAllocator } from '../catalogue/position-allocator.ts';
import { readInteger, type Row } from '../engine/row.ts';
import { mapWebhook, WEBHOOK_COLUMNS } from './webhooks.ts';

/** An endpoint of the actor. */
interface Target {
  readonly actor: Actor;
  readonly id: WebhookId;
}

/**
 * What is made anew for each call, and so says nothing of whether two calls are the same: a secret,
 * sealed, in base64. A repetition under one idempotency key gets that of the first time.
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
  /** With the id of the endpoint, which its secret is sealed for. */
  readonly generated: GeneratedSecret & { readonly id: WebhookId };
}

/** A secret as it is kept, in base64. */
export interface WrittenSecret extends WrittenWebhook {
  readonly secret: string;
}

const DISABLED_BY_REQUEST = 'It was disabled by a request.';

export function webhookMutations(db: DatabaseSync, positions: PositionAllocator, audit: AuditLog) {
  const note = prepareNote(audit);
  const createWebhook = prepareCreate(db, positions, note);
  const patch = preparePatch(db, note);
  const rotate = db.prepare(`
    UPDATE webhook SET old_secret = secret, old_secret_ends_at = :endsAt, secret = :secret,
      updated_at = :at
    WHERE seller_id = :sellerId AND id = :id RETURNING ${WEBHOOK_COLUMNS}`);
  const findPruned = db.prepare('SELECT pruned_to FROM seller WHERE id = ?');
  const replay = db.prepare(`
    UPDATE webhook SET position = :position, message_id = NULL, message_first = NULL,
      message_last = NULL, message_at = NULL, failures = 0, failing_since = NULL,
      next_attempt_at = :at, updated_at = :at
    WHERE seller_id = :sellerId AND id = :id RETURNING ${WEBHOOK_COLUMNS}`);
  const removeAttempts = db.prepare(`
    DELETE FROM webhook_attempt WHERE seller_id = ? AND webhook_id = ?`);
  const remove = db.prepare(`
    DELETE FROM webhook WHERE seller_id = ? AND id = ? RETURNING ${WEBHOOK_COLUMNS}`);

  return {
    createWebhook,
    patchWebhook(
      { actor, id, patch: members }: Target & { readonly patch: WebhookPatch }, at: number,
    ): WrittenWebhook {
      return { webhook: patch(actor, id, members, at), isReplay: false };
    },
    rotateWebhookSecret(
      { actor, id, overlapMs, generated }: Rotation, at: number,
    ): WrittenSecret {
      const { secret } = generated;
      const row = rotate.get({
        sellerId: actor.sellerId, id, at, endsAt: at + overlapMs,
        secret: Buffer.from(secret, 'base64'),
      });
      const webhook = mapFound(row);
      note('webhook_secret_rotated', webhook, actor, at);
      return { webhook, secret, isReplay: false };
    },
    replayWebhook(
      { actor: { sellerId }, id, position }: Target & { position: number }, at: number,
    ): WrittenWebhook {
      const webhook = mapFound(replay.get({ sellerId, id, position, at }));
      const catalogue = positions.of(sellerId);
      if (position > catalogue) {
        const detail = `The catalogue stands at ${catalogue}, and has not come to ${position}.`;
        throw new AppError('invalid_data', detail);
      }
      const prunedTo = readInteger(findPruned.get(sellerId) ?? {}, 'pruned_to');
      if (position < prunedTo) throw historyPruned(prunedTo);
      return { webhook, isReplay: false };
    },
    deleteWebhook({ actor, id }: Target, at: number): { readonly isReplay: boolean } {
      removeAttempts.run(actor.sellerId, id);
      note('webhook_deleted', mapFound(remove.get(actor.sellerId, id)), actor, at);
      return { isReplay: false };
    },
  };
}

type NoteWebhook = (type: AuditType, webhook: Webhook, actor: Actor, at: number) => void;

/** Of its address only the host: the rest may be a secret of the receiver. */
function prepareNote(audit: AuditLog): NoteWebhook {
  return (type, webhook, { sellerId, address = '' }, at) => {
    const subject = `${formatWebhookId(webhook)} ${new URL(webhook.url).host}`;
    audit.add({ sellerId, type, address, subject }, at);
  };
}

function prepareCreate(db: DatabaseSync, positions: PositionAllocator, note: NoteWebhook) {
  const count = db.prepare('SELECT count(*) AS webhooks FROM webhook WHERE seller_id = ?');
  const insert = db.prepare(`
    INSERT INTO webhook (seller_id, id, url, description, types, position, secret,
      next_attempt_at, created_at, updated_at)
    VALUES (:sellerId, :id, :url, :description, :types, :position, :secret, :at, :at, :at)
    RETURNING ${WEBHOOK_COLUMNS}`);
  return (
    { actor, webhook: sent, generated: { id, secret } }: Creation, at: number,
  ): WrittenSecret => {
    const { sellerId } = actor;
    const position = positions.of(sellerId);
    const { webhooks } = count.get(sellerId) ?? {};
    if (Number(webhooks) >= WEBHOOKS_PER_SELLER_LIMIT) {
      const limit = `You have ${WEBHOOKS_PER_SELLER_LIMIT} webhooks, which is the most.`;
      throw new AppError('limit_reached', `${limit} Delete one first.`);
    }
    const row = insert.get({
      sellerId, id, position, at, ...describe(sent), secret: Buffer.from(secret, 'base64'),
    });
    const webhook = mapFound(row);
    note('webhook_created', webhook, actor, at);
    return { webhook, secret, isReplay: false };
  };
}

/**
 * Another address, and to be active again, make the next attempt due at once. Other types make
 * other messages: one that is being sent is dropped, and what it holds is sent under another id.
 */
function preparePatch(db: DatabaseSync, note: NoteWebhook) {
  const find = db.prepare(`
    SELECT ${WEBHOOK_COLUMNS} FROM webhook WHERE seller_id = ? AND id = ?`);
  const update = db.prepare(`
    UPDATE webhook SET url = :url, description = :description, types = :types, status = :status,
      disabled_reason = :reason, updated_at = :at
    WHERE seller_id = :sellerId AND id = :id`);
  const begin = db.prepare(`
    UPDATE webhook SET failures = 0, failing_since = NULL, next_attempt_at = ?
    WHERE seller_id = ? AND id = ?`);
  const drop = db.prepare(`
    UPDATE webhook SET message_id = NULL, message_first = NULL, message_last = NULL,
      message_at = NULL
    WHERE seller_id = ? AND id = ?`);
  return (actor: Actor, id: WebhookId, patch: WebhookPatch, at: number): Webhook => {
    const { sellerId } = actor;
    const before = mapFound(find.get(sellerId, id));
    const after = { ...before, ...patch };
    const isKept = after.status === 'active' || before.status === 'disabled';
    const reason = after.status === 'active' ? null : before.disabledReason ?? null;
    update.run({
      sellerId, id, at, ...describe(after), status: after.status,
      reason: isKept ? reason : DISABLED_BY_REQUEST,
    });
    if (patch.url !== undefined || patch.status === 'active') begin.run(at, sellerId, id);
    if (describe(after).types !== describe(before).types) drop.run(sellerId, id);
    if (!isSame(before, after)) note('webhook_changed', after, actor, at);
    return mapFound(find.get(sellerId, id));
  };
}

/** Whether two are alike in what a seller says of them. */
function isSame(one: Webhook, other: Webhook): boolean {
  const [a, b] = [one, other].map((webhook) => [describe(webhook), webhook.status]);
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What a seller says of an endpoint, as it is kept. */
function describe({ url, description, types }: NewWebhook) {
  return { url, description, types: types && types.join(' ') } satisfies
    Record<string, SQLInputValue>;
}

function mapFound(row: Row | undefined): Webhook {
  if (!row) throw notFound();
  return mapWebhook(row);
}

function notFound(): AppError {
  return new AppError('not_found', 'You have no webhook with this id.');
}
