/**
 * The rules by which sellers change their webhooks. Pure: a store loads a webhook, applies a rule
 * and stores the result in one transaction.
 */
import { AppError } from '../error.ts';
import { formatWebhookId } from '../id.ts';
import { WEBHOOKS_PER_SELLER_LIMIT } from '../limits.ts';
import type { NewWebhook, Webhook, WebhookPatch } from './webhook.ts';

const DISABLED_BY_REQUEST = 'It was disabled by a request.';

/** @param count How many webhooks the seller has. @throws AppError `limit_reached` */
export function assertWebhookRoom(count: number): void {
  if (count < WEBHOOKS_PER_SELLER_LIMIT) return;
  const limit = `You have ${WEBHOOKS_PER_SELLER_LIMIT} webhooks, the maximum.`;
  throw new AppError('limit_reached', `${limit} Delete one first.`);
}

/**
 * A new URL, and `active`, make the next attempt due at once. New types make new messages: one in
 * flight is dropped, and its changes are sent under another id.
 */
export function patchWebhook(webhook: Webhook, patch: WebhookPatch, at: number): Webhook {
  const patched = { ...webhook, ...patch, updatedAt: at };
  const isDueNow = patch.url !== undefined || patch.status === 'active';
  const isDisabling = webhook.status === 'active' && patched.status === 'disabled';
  const kept = patched.status === 'active' ? undefined : webhook.disabledReason;
  return {
    ...patched,
    disabledReason: isDisabling ? DISABLED_BY_REQUEST : kept,
    ...(isDueNow && { failures: 0, failingSince: undefined, nextAttemptAt: at }),
    ...(hasOtherTypes(webhook, patched) && { message: undefined }),
  };
}

/** Whether a patch has changed what a seller can set: only that is in the audit log. */
export function isReconfigured(before: Webhook, after: Webhook): boolean {
  return before.url !== after.url || before.description !== after.description
    || before.status !== after.status || hasOtherTypes(before, after);
}

/** Sends everything after a position again, in messages with new ids. */
export function replayFrom(webhook: Webhook, position: number, at: number): Webhook {
  return {
    ...webhook, position, message: undefined, failures: 0, failingSince: undefined,
    nextAttemptAt: at, updatedAt: at,
  };
}

/** Names a webhook in the audit log: only the host of its URL, whose path may be a secret. */
export function formatAuditSubject(webhook: Webhook): string {
  return `${formatWebhookId(webhook)} ${new URL(webhook.url).host}`;
}

function hasOtherTypes({ types: one }: NewWebhook, { types: other }: NewWebhook): boolean {
  return one?.join(' ') !== other?.join(' ');
}
