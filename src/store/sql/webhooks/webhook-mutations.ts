/**
 * The mutations by which sellers create and change webhooks: each loads a webhook, applies a rule
 * of `domain/webhooks/webhook-changes.ts`, stores the result and adds it to the audit log.
 */
import type { AuditType } from '../../../domain/access/audit.ts';
import { AppError } from '../../../domain/error.ts';
import type { SellerId, WebhookId } from '../../../domain/id.ts';
import type { NewWebhook, Webhook, WebhookPatch } from '../../../domain/webhooks/webhook.ts';
import {
  assertWebhookRoom, createWebhook, formatAuditSubject, isReconfigured, patchWebhook, replayFrom,
  retryWebhook,
} from '../../../domain/webhooks/webhook-changes.ts';
import type { AuditLog } from '../../rules/audit.ts';
import type { WrittenWebhook } from '../../webhook-store.ts';
import type { Actor } from '../../write.ts';
import { historyPruned } from '../../rules/history.ts';
import { prepareAssertOwner } from '../access/owner-check.ts';
import { prepareFind, readInteger, readText, type Sql } from '../sql.ts';
import { prepareFindWebhook, prepareInsertWebhook, prepareUpdateWebhook } from './webhooks.ts';

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

/** What the mutations need of their engine, apart from SQL. */
export interface WebhookEnvironment {
  readonly positions: {
    /**
     * Position of a seller's last change, including this transaction's.
     * @throws AppError `key_unknown` if the seller is disabled
     */
    of(sellerId: SellerId): number | Promise<number>;
  };
  readonly audit: AuditLog;
}

export function webhookMutations(sql: Sql, { positions, audit }: WebhookEnvironment) {
  const find = prepareFindWebhook(sql);
  const get = prepareGetWebhook(sql);
  const assertOwner = prepareAssertOwner(sql);
  const count = sql.prepare('SELECT count(*) AS webhooks FROM webhook WHERE seller_id = :sellerId');
  const insert = prepareInsertWebhook(sql);
  const rotate = sql.prepare(`
    UPDATE webhook SET old_secret = secret, old_secret_ends_at = :oldEndsAt, secret = :secret,
      updated_at = :at
    WHERE seller_id = :sellerId AND id = :id`);
  const removeAttempts = sql.prepare(`
    DELETE FROM webhook_attempt WHERE seller_id = :sellerId AND webhook_id = :id`);
  const remove = sql.prepare('DELETE FROM webhook WHERE seller_id = :sellerId AND id = :id');
  const findName = prepareFindActorName(sql);
  const note = prepareNote(audit, findName);

  return {
    async createWebhook(
      { actor, actor: { sellerId }, webhook: input, generated: { id, secret } }: Creation,
      at: number,
    ): Promise<WrittenSecret | { readonly rejection: 'id' }> {
      // Another process has created a webhook with this id: it is called again with another one.
      if (await find({ sellerId, id })) return { rejection: 'id' };
      await assertOwner(sellerId, actor);
      assertWebhookRoom(readInteger(await count.get({ sellerId }) ?? {}, 'webhooks'));
      const [position, createdBy] = [await positions.of(sellerId), await findName(actor)];
      const webhook = createWebhook({ sellerId, id }, input, { position, at, createdBy });
      await insert(webhook, Buffer.from(secret, 'base64'));
      await note('webhook_created', webhook, actor, at);
      return { webhook, secret, isReplay: false };
    },
    ...changeMutations(sql, positions, note),
    async rotateWebhookSecret(
      { overlapMs, generated, ...target }:
      Target & { readonly overlapMs: number; readonly generated: GeneratedSecret }, at: number,
    ): Promise<WrittenSecret> {
      const webhook = { ...await get(target), updatedAt: at };
      const { sellerId, id } = webhook;
      const secret = Buffer.from(generated.secret, 'base64');
      await rotate.run({ sellerId, id, at, secret, oldEndsAt: at + overlapMs });
      await note('webhook_secret_rotated', webhook, target.actor, at);
      return { webhook, ...generated, isReplay: false };
    },
    async deleteWebhook(target: Target, at: number): Promise<{ readonly isReplay: boolean }> {
      const webhook = await get(target);
      const { sellerId, id } = webhook;
      await removeAttempts.run({ sellerId, id });
      await remove.run({ sellerId, id });
      await note('webhook_deleted', webhook, target.actor, at);
      return { isReplay: false };
    },
  };
}

function changeMutations(
  sql: Sql, positions: WebhookEnvironment['positions'], note: ReturnType<typeof prepareNote>,
) {
  const get = prepareGetWebhook(sql);
  const update = prepareUpdateWebhook(sql);
  const findPruned = sql.prepare('SELECT pruned_to FROM seller WHERE id = :sellerId');

  /** Loads a webhook, applies a rule and stores the result. */
  async function change(
    target: Target, rule: (webhook: Webhook) => Webhook, at: number,
  ): Promise<WrittenWebhook> {
    const before = await get(target);
    const webhook = rule(before);
    await update(webhook);
    if (isReconfigured(before, webhook)) await note('webhook_changed', webhook, target.actor, at);
    return { webhook, isReplay: false };
  }

  return {
    patchWebhook: (
      { patch, ...target }: Target & { readonly patch: WebhookPatch }, at: number,
    ) => change(target, (webhook) => patchWebhook(webhook, patch, at), at),
    retryWebhook: (target: Target, at: number) =>
      change(target, (webhook) => retryWebhook(webhook, at), at),
    async replayWebhook(
      { position, ...target }: Target & { readonly position: number }, at: number,
    ): Promise<WrittenWebhook> {
      const { sellerId } = target.actor;
      const webhook = replayFrom(await get(target), position, at);
      const catalogue = await positions.of(sellerId);
      if (position > catalogue) {
        const detail = `The catalogue is at position ${catalogue}, before ${position}.`;
        throw new AppError('invalid_data', detail);
      }
      const prunedTo = readInteger(await findPruned.get({ sellerId }) ?? {}, 'pruned_to');
      if (position < prunedTo) throw historyPruned(prunedTo);
      await update(webhook);
      return { webhook, isReplay: false };
    },
  };
}

/** @throws AppError `not_found`; `browser_refused` for an account that is not an owner's */
function prepareGetWebhook(sql: Sql) {
  const assertOwner = prepareAssertOwner(sql);
  const find = prepareFindWebhook(sql);
  return async ({ actor, actor: { sellerId }, id }: Target): Promise<Webhook> => {
    await assertOwner(sellerId, actor);
    const webhook = await find({ sellerId, id });
    if (webhook) return webhook;
    throw new AppError('not_found', 'You have no webhook with this id.');
  };
}

function prepareNote(audit: AuditLog, findName: ReturnType<typeof prepareFindActorName>) {
  return async (type: AuditType, webhook: Webhook, actor: Actor, at: number): Promise<void> => {
    const { sellerId } = webhook;
    const { address } = actor;
    const by = { actorName: await findName(actor), address };
    await audit.add({ ...by, sellerId, type, subject: formatAuditSubject(webhook) }, at);
  };
}

/** The name of the actor or of its key; undefined if it has neither. */
function prepareFindActorName(sql: Sql) {
  const find = prepareFind(sql, (row) => readText(row, 'name'), `
    SELECT name FROM api_key WHERE seller_id = :sellerId AND id = :keyId`);
  return async ({ sellerId, keyId, actorName }: Actor): Promise<string | undefined> =>
    actorName ?? await find({ sellerId, keyId });
}
