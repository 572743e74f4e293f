/**
 * Webhooks: endpoints to which the changes of a catalogue are sent, each a durable cursor over its
 * history. What is sent carries a message id that stays the same until it has arrived.
 */
import type { ChangeType } from '../catalogue/change.ts';
import { formatWebhookId, type WebhookReference } from '../id.ts';
import { formatOptionalTime, formatTime } from '../time.ts';

/** What a seller says of an endpoint. */
export interface NewWebhook {
  /** As the WHATWG URL standard writes it, up to 2,048 characters. */
  readonly url: string;
  /** 0..200 code points. */
  readonly description: string;
  /** The types of changes that are sent, at least one; null for all. */
  readonly types: readonly ChangeType[] | null;
}

export const WEBHOOK_STATUSES = ['active', 'disabled'] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** What is to change: from none to all members. */
export interface WebhookPatch extends Partial<NewWebhook> {
  readonly status?: WebhookStatus;
}

/** An endpoint. Times are milliseconds since 1970. */
export interface Webhook extends NewWebhook, WebhookReference {
  readonly status: WebhookStatus;
  /** Why it is disabled; undefined while it is active. */
  readonly disabledReason: string | undefined;
  /** All changes up to here have arrived, or were none that it asks for. */
  readonly position: number;
  /** What is being sent: undefined where nothing is. */
  readonly message: WebhookMessage | undefined;
  /** Attempts that failed since the last one that did not. */
  readonly failures: number;
  readonly failingSince: number | undefined;
  readonly nextAttemptAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Changes that are sent together, under one id and always the same ones, until they arrive. */
export interface WebhookMessage {
  readonly id: string;
  /** Positions of the first change in it and of the last. */
  readonly first: number;
  readonly last: number;
  /** When it was made, milliseconds since 1970. */
  readonly at: number;
}

/** What came of one attempt to send something. */
export interface WebhookResult {
  /** When it began, milliseconds since 1970. */
  readonly at: number;
  readonly durationMs: number;
  /** Status of the answer; undefined where there was none. */
  readonly status: number | undefined;
  /** `delivered`, or why it was not. */
  readonly outcome: string;
}

/** One entry of the log of an endpoint; `n` counts its attempts from 1. */
export interface WebhookAttempt extends WebhookResult {
  readonly n: number;
  readonly messageId: string;
  readonly kind: 'changes' | 'test';
  /** Undefined for a test. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** Where an endpoint goes on after an attempt. */
export type WebhookStep =
  | {
    readonly isDelivered: true;
    /** All up to here has arrived or was passed over. */
    readonly position: number;
    /** What is sent next, if that is known already. */
    readonly next: WebhookMessage | undefined;
  }
  | {
    readonly isDelivered: false;
    /** Milliseconds since 1970. */
    readonly retryAt: number;
    /** Where nothing more is to be tried: why. */
    readonly disabledReason: string | undefined;
  };

/** The JSON text of an endpoint, without its secret. */
export function formatWebhook(webhook: Webhook): string {
  const { url, description, types, status, disabledReason, position, failingSince } = webhook;
  return JSON.stringify({
    id: formatWebhookId(webhook),
    url, description, types, status,
    disabled_reason: disabledReason ?? null,
    position,
    failing_since: formatOptionalTime(failingSince),
    next_attempt_at: formatOptionalTime(findNextAttempt(webhook)),
    created_at: formatTime(webhook.createdAt),
    updated_at: formatTime(webhook.updatedAt),
  });
}

/** When the attempt is due that follows a failed one; undefined where none failed. */
export function findNextAttempt(
  { status, failures, nextAttemptAt }: Webhook,
): number | undefined {
  return status === 'active' && failures > 0 ? nextAttemptAt : undefined;
}

/** The JSON text of an attempt. */
export function formatWebhookAttempt(attempt: Omit<WebhookAttempt, 'n'>): string {
  const { messageId, kind, first, last, at, durationMs, status, outcome } = attempt;
  return JSON.stringify({
    message_id: messageId,
    kind,
    first_position: first ?? null,
    last_position: last ?? null,
    at: formatTime(at),
    duration_ms: durationMs,
    status: status ?? null,
    outcome,
  });
}
