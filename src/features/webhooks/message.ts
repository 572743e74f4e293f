/**
 * Webhook messages: selects the changes of the next message, and formats its JSON. A message is
 * stored before it is sent, as a range of positions, and read again for each attempt, so every
 * attempt sends the same body.
 */
import { randomUUID } from 'node:crypto';
import { WEBHOOK_MESSAGE_CHANGES_LIMIT } from './limits.ts';
import { type Change, formatChange } from '../../domain/catalogue/change.ts';
import { AppError } from '../../domain/error.ts';
import { formatWebhookId, type WebhookReference } from '../../domain/id.ts';
import { formatTime } from '../../domain/time.ts';
import type { Webhook, WebhookMessage } from '../../domain/webhooks/webhook.ts';
import type { ChangePage, HistoryStore } from '../../store/history-store.ts';

interface NextMessage {
  /** All changes up to here were delivered, or have types that the webhook does not send. */
  readonly position: number;
  /** Undefined if no change is left. */
  readonly message: WebhookMessage | undefined;
}

/** The message that follows `after`; undefined if the history there is pruned. */
export async function findNextMessage(
  store: HistoryStore, webhook: Webhook, after: number, at: number,
): Promise<NextMessage | undefined> {
  const page = await listChanges(store, webhook, after);
  const [first, last] = [page?.changes[0], page?.changes.at(-1)];
  if (!page || !first || !last) return page && { position: page.next, message: undefined };
  const [id, { types }] = [makeMessageId(), webhook];
  const message = { id, first: first.position, last: last.position, at, types };
  return { position: after, message };
}

/** The changes of a message; undefined if they are pruned. */
export async function readMessageChanges(
  store: HistoryStore, { sellerId }: WebhookReference, { first, last, types }: WebhookMessage,
): Promise<readonly Change[] | undefined> {
  const changes: Change[] = [];
  for (let after = first - 1; after < last;) {
    const page = await listChanges(store, { sellerId, types }, after);
    if (!page) return undefined;
    changes.push(...page.changes.filter(({ position }) => position <= last));
    after = page.next;
  }
  return changes;
}

/** A unique id without a full stop, which a signed id must not contain. */
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

async function listChanges(
  store: HistoryStore, { sellerId, types }: Pick<Webhook, 'sellerId' | 'types'>, after: number,
): Promise<ChangePage | undefined> {
  try {
    const query = { after, limit: WEBHOOK_MESSAGE_CHANGES_LIMIT, types: types ?? undefined };
    return await store.listChanges(sellerId, query);
  } catch (error) {
    if (error instanceof AppError && error.code === 'history_pruned') return undefined;
    throw error;
  }
}
