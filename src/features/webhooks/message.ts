/** What is sent: the JSON text of a message, which is the same each time that it is sent. */
import { randomUUID } from 'node:crypto';
import { type Change, formatChange } from '../../domain/catalogue/change.ts';
import { formatWebhookId, type WebhookReference } from '../../domain/id.ts';
import { formatTime } from '../../domain/time.ts';
import type { WebhookMessage } from '../../domain/webhooks/webhook.ts';

/** An id that no other message has, and none of whose characters is a full stop. */
export function makeMessageId(): string {
  return `msg_${randomUUID().replaceAll('-', '')}`;
}

export function formatMessage(
  webhook: WebhookReference, { first, last, at }: WebhookMessage, changes: readonly Change[],
): string {
  return `{"type":"changes","timestamp":"${formatTime(at)}"`
    + `,"data":{"webhook_id":"${formatWebhookId(webhook)}"`
    + `,"first_position":${first},"last_position":${last}`
    + `,"changes":[${changes.map(formatChange).join(',')}]}}`;
}

export function formatTestMessage(webhook: WebhookReference, at: number): string {
  return `{"type":"test","timestamp":"${formatTime(at)}"`
    + `,"data":{"webhook_id":"${formatWebhookId(webhook)}"}}`;
}
