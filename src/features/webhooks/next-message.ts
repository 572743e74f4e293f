/**
 * Where an endpoint goes on: which changes its next message holds, and when a failed one is tried
 * again.
 */
import {
  WEBHOOK_MESSAGE_CHANGES_LIMIT, WEBHOOK_GIVE_UP_MS, WEBHOOK_RETRY_BACKOFF,
} from './limits.ts';
import { retryDelayMs } from '../../runtime/backoff.ts';
import type { Change } from '../../domain/catalogue/change.ts';
import { AppError } from '../../domain/error.ts';
import { DAY_MS } from '../../domain/time.ts';
import type {
  Webhook, WebhookMessage, WebhookResult, WebhookStep,
} from '../../domain/webhooks/webhook.ts';
import type { Store } from '../../store/store.ts';
import type { ChangePage } from '../../store/history-store.ts';
import { makeMessageId } from './message.ts';

const GONE = 410;

interface Progress {
  /** All up to here has arrived, or is not asked for. */
  readonly position: number;
  readonly message: WebhookMessage | undefined;
}

/** What follows `after`; undefined where the history does not reach back so far any more. */
export async function findProgress(
  store: Store, webhook: Webhook, after: number, at: number,
): Promise<Progress | undefined> {
  const page = await listChanges(store, webhook, after);
  const [first, last] = [page?.changes[0], page?.changes.at(-1)];
  if (!page || !first || !last) return page && { position: page.next, message: undefined };
  const message = { id: makeMessageId(), first: first.position, last: last.position, at };
  return { position: after, message };
}

/** The changes of a message; undefined where they are not kept any more. */
export async function readMessage(
  store: Store, webhook: Webhook, { first, last }: WebhookMessage,
): Promise<readonly Change[] | undefined> {
  const changes: Change[] = [];
  for (let after = first - 1; after < last;) {
    const page = await listChanges(store, webhook, after);
    if (!page) return undefined;
    changes.push(...page.changes.filter(({ position }) => position <= last));
    after = page.next;
  }
  return changes;
}

/** After a failed attempt, of which this is the result. `random` is from 0, below 1. */
export function findRetry(
  webhook: Webhook, { status, outcome }: WebhookResult, at: number, random: number,
): WebhookStep & { readonly isDelivered: false } {
  const retryAt = at + retryDelayMs(WEBHOOK_RETRY_BACKOFF, webhook.failures, { random });
  const failingMs = at - (webhook.failingSince ?? at);
  const days = WEBHOOK_GIVE_UP_MS / DAY_MS;
  const disabledReason = status === GONE
    ? 'It answered 410: it is gone, and asks for no more.'
    : `Every attempt of ${days} days has failed; the last one: ${outcome}.`;
  const isOver = status === GONE || failingMs >= WEBHOOK_GIVE_UP_MS;
  return { isDelivered: false, retryAt, disabledReason: isOver ? disabledReason : undefined };
}

async function listChanges(
  store: Store, { sellerId, types }: Webhook, after: number,
): Promise<ChangePage | undefined> {
  try {
    const query = { after, limit: WEBHOOK_MESSAGE_CHANGES_LIMIT, types: types ?? undefined };
    return await store.listChanges(sellerId, query);
  } catch (error) {
    if (error instanceof AppError && error.code === 'history_pruned') return undefined;
    throw error;
  }
}
