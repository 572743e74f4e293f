/**
 * Webhooks: endpoints that receive a catalogue's changes. Each is a durable cursor over the
 * history. A message keeps its id until it is delivered.
 */
import { formatWebhookId, type WebhookReference } from '../id.ts';
import { formatOptionalTime, formatTime } from '../time.ts';
import type { WebhookType } from './webhook-type.ts';

/** Up to 100 changes in a message, or one, for receivers that run once for each. */
export const WEBHOOK_DELIVERIES = ['batch', 'single'] as const;
/** Whether a message has up to 100 changes (`batch`), or one (`single`). */
export type WebhookDelivery = (typeof WEBHOOK_DELIVERIES)[number];

/** The members that a seller sets. */
export interface NewWebhook {
  /** As the WHATWG URL standard serialises it, up to 2,048 characters. */
  readonly url: string;
  /** 0..200 code points. */
  readonly description: string;
  /** What to send, at least one; null for all changes. */
  readonly types: readonly WebhookType[] | null;
  /** Default `batch`. */
  readonly delivery?: WebhookDelivery;
}

/** `active`: changes are sent. `disabled`: nothing is sent. */
export const WEBHOOK_STATUSES = ['active', 'disabled'] as const;
/** `active`: changes are sent. `disabled`: nothing is sent. */
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

export interface WebhookPatch extends Partial<NewWebhook> {
  readonly status?: WebhookStatus;
}

/** Times are milliseconds since 1970. */
export interface Webhook extends NewWebhook, WebhookReference {
  readonly delivery: WebhookDelivery;
  readonly status: WebhookStatus;
  /** Why it is disabled; undefined while it is active. */
  readonly disabledReason: string | undefined;
  /** All changes up to here were delivered, or have other types. */
  readonly position: number;
  /** The message in flight, or waiting for a retry. */
  readonly message: WebhookMessage | undefined;
  /** Failed attempts in a row. */
  readonly failures: number;
  readonly failingSince: number | undefined;
  /** The same, in lived time (runtime/clock.ts). */
  readonly failingLivedSince: number | undefined;
  readonly nextAttemptAt: number;
  readonly createdAt: number;
  /** Of an account, a key, or an embedding program's actor; undefined if that names none. */
  readonly createdBy: string | undefined;
  readonly updatedAt: number;
}

/** Changes sent together under one id, the same in every attempt. */
export interface WebhookMessage {
  readonly id: string;
  /** Positions of its first and last change. */
  readonly first: number;
  readonly last: number;
  /** When it was created, milliseconds since 1970. */
  readonly at: number;
  /** The types that the webhook had then; they select its changes. */
  readonly types: readonly WebhookType[] | null;
  /** Of a message with one change: what it says about it. */
  readonly event?: WebhookType;
  /** The shop's threshold then, if `stock.low` is selected. */
  readonly lowStock?: number;
}

/** What to do after an attempt. */
export type WebhookStep =
  | {
    readonly isDelivered: true;
    /** All changes up to here were delivered or skipped. */
    readonly position: number;
    /** The next message, if there is one. */
    readonly next: WebhookMessage | undefined;
  }
  | {
    readonly isDelivered: false;
    /** Milliseconds since 1970. */
    readonly retryAt: number;
    /** Why the webhook is disabled; undefined if the message is retried. */
    readonly disabledReason: string | undefined;
  };

/** The JSON text of a webhook, without its secret. */
export function formatWebhook(webhook: Webhook): string {
  const { url, description, types, delivery, status, disabledReason, position, failingSince }
    = webhook;
  return JSON.stringify({
    id: formatWebhookId(webhook),
    url, description, types, delivery, status,
    disabled_reason: disabledReason ?? null,
    position,
    failing_since: formatOptionalTime(failingSince),
    next_attempt_at: formatOptionalTime(findNextAttempt(webhook)),
    created_at: formatTime(webhook.createdAt),
    updated_at: formatTime(webhook.updatedAt),
  });
}

/** When a failed message is retried; undefined unless the last attempt failed. */
export function findNextAttempt({ status, failures, nextAttemptAt }: Webhook): number | undefined {
  return status === 'active' && failures > 0 ? nextAttemptAt : undefined;
}
