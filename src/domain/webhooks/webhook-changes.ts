/**
 * The effects of creating, changing and sending to a webhook. Pure: a store loads a webhook,
 * applies a rule and stores the result in one transaction.
 */
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '../error.ts';
import { formatWebhookId, type WebhookReference } from '../id.ts';
import { WEBHOOKS_PER_SELLER_LIMIT } from '../limits.ts';
import type { NewWebhook, Webhook, WebhookPatch, WebhookStep } from './webhook.ts';

const DISABLED_BY_REQUEST = 'It was disabled by a request.';
const SETTINGS = ['url', 'description', 'types', 'delivery', 'status'] as const;
/** A message depends on these. */
const CONTENT = ['types', 'delivery'] as const;

/** @param count The seller's number of webhooks. @throws AppError `limit_reached` */
export function assertWebhookRoom(count: number): void {
  if (count < WEBHOOKS_PER_SELLER_LIMIT) return;
  const limit = `You have ${WEBHOOKS_PER_SELLER_LIMIT} webhooks, the maximum.`;
  throw new AppError('limit_reached', `${limit} Delete one first.`);
}

/** @param position The catalogue's position; every later change is sent. */
export function createWebhook(
  { sellerId, id }: WebhookReference, input: NewWebhook,
  { position, at, createdBy }: {
    readonly position: number; readonly at: number; readonly createdBy: string | undefined;
  },
): Webhook {
  return {
    sellerId, id, ...input, delivery: input.delivery ?? 'batch', status: 'active',
    disabledReason: undefined, position, message: undefined, ...dueAt(at), createdAt: at,
    updatedAt: at, createdBy,
  };
}

/**
 * A new URL, or status `active`, makes an attempt due now. New types, or another delivery,
 * drop the message in flight, and its changes are sent under a new id.
 */
export function patchWebhook(webhook: Webhook, patch: WebhookPatch, at: number): Webhook {
  const patched = { ...webhook, ...patch, updatedAt: at };
  const isDueNow = patch.url !== undefined || patch.status === 'active';
  const isDisabling = webhook.status === 'active' && patched.status === 'disabled';
  const reason = patched.status === 'active' ? undefined : webhook.disabledReason;
  return {
    ...patched,
    disabledReason: isDisabling ? DISABLED_BY_REQUEST : reason,
    ...(isDueNow && dueAt(at)),
    ...(isDifferent(webhook, patched, CONTENT) && { message: undefined }),
  };
}

/** Whether a patch has changed a setting, which the audit log records. */
export function isReconfigured(before: Webhook, after: Webhook): boolean {
  return isDifferent(before, after, SETTINGS);
}

/**
 * Makes the next attempt due now, and a disabled webhook active. Failures are counted on while it
 * is active, so that a retry which fails, too, does not make the next delays short again.
 */
export function retryWebhook(webhook: Webhook, at: number): Webhook {
  if (webhook.status === 'disabled') return patchWebhook(webhook, { status: 'active' }, at);
  return { ...webhook, nextAttemptAt: at };
}

/** Whether it fails, or has been disabled by anything but a request. */
export function needsAttention({ status, failures, disabledReason }: Webhook): boolean {
  return status === 'active' ? failures > 0 : disabledReason !== DISABLED_BY_REQUEST;
}

/** Sends all changes after a position again, in messages with new ids. */
export function replayFrom(webhook: Webhook, position: number, at: number): Webhook {
  return { ...webhook, position, message: undefined, ...dueAt(at), updatedAt: at };
}

/** Whether the worker's decision still applies: nothing that it depends on has changed. */
export function isUnchangedSince(webhook: Webhook, expected: Webhook): boolean {
  return webhook.status === 'active' && webhook.position === expected.position
    && webhook.message?.id === expected.message?.id && !isDifferent(webhook, expected, CONTENT);
}

function isDifferent(
  webhook: Webhook, otherWebhook: Webhook, members: readonly (keyof Webhook)[],
): boolean {
  return members.some((member) => !isDeepStrictEqual(webhook[member], otherWebhook[member]));
}

/** The webhook after an attempt. If it was disabled during the attempt, it gets no next message. */
export function endAttempt(
  webhook: Webhook, step: WebhookStep, at: number, lived: number,
): Webhook {
  const isActive = webhook.status === 'active';
  if (step.isDelivered) {
    const message = isActive ? step.next : undefined;
    return { ...webhook, position: step.position, message, ...dueAt(at) };
  }
  const { retryAt, disabledReason } = step;
  const failed = {
    ...webhook, failures: webhook.failures + 1, failingSince: webhook.failingSince ?? at,
    failingLivedSince: webhook.failingLivedSince ?? lived,
    nextAttemptAt: retryAt,
  };
  return isActive && disabledReason !== undefined ? disable(failed, disabledReason, at) : failed;
}

export function disable(webhook: Webhook, disabledReason: string, at: number): Webhook {
  return { ...webhook, status: 'disabled', disabledReason, updatedAt: at };
}

/** Names a webhook in the audit log: only the host of its URL, whose path may be a secret. */
export function formatAuditSubject(webhook: Webhook): string {
  return `${formatWebhookId(webhook)} ${new URL(webhook.url).host}`;
}

/** Not failing, with the next attempt at this time. */
function dueAt(at: number) {
  return { failures: 0, failingSince: undefined, failingLivedSince: undefined, nextAttemptAt: at };
}
