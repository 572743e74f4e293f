/** The part of the store port that keeps the endpoints of webhooks, and how far each has come. */
import type { SellerId, WebhookId, WebhookReference } from '../domain/id.ts';
import type {
  NewWebhook, Webhook, WebhookAttempt, WebhookMessage, WebhookPatch, WebhookResult, WebhookStep,
} from '../domain/webhooks/webhook.ts';
import type { WebhookSecret } from '../domain/webhooks/webhook-signature.ts';
import type { PageQuery, WriteContext } from './write.ts';

/** An endpoint as it stands after a change. */
export interface WrittenWebhook {
  readonly webhook: Webhook;
  readonly isReplay: boolean;
}

/** A generated secret, returned only here. */
export interface WebhookWithSecret extends WrittenWebhook {
  readonly secret: WebhookSecret;
}

/** Up to `limit` attempts, the newest first. */
export interface AttemptQuery {
  /** Only those before the attempt of this number. */
  readonly before: number | undefined;
  readonly limit: number;
}

/** Up to `limit` endpoints, of all sellers, that wait for an attempt; the longest wait first. */
export interface DueQuery {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Those whose last attempt has failed, or the others. */
  readonly isFailing: boolean;
  readonly limit: number;
}

export interface WebhookStore {
  /** It begins where the catalogue stands. @throws AppError `not_found`, `limit_reached` */
  createWebhook(write: WriteContext, webhook: NewWebhook): Promise<WebhookWithSecret>;
  findWebhook(webhook: WebhookReference): Promise<Webhook | undefined>;
  /** In the order of creation. */
  listWebhooks(sellerId: SellerId, query: PageQuery<WebhookId>): Promise<readonly Webhook[]>;
  /** Another address, or `active`, is tried at once. @throws AppError `not_found` */
  patchWebhook(write: WriteContext, id: WebhookId, patch: WebhookPatch): Promise<WrittenWebhook>;
  /** @throws AppError `not_found` */
  deleteWebhook(write: WriteContext, id: WebhookId): Promise<{ readonly isReplay: boolean }>;
  /** Both secrets sign until the overlap ends. @throws AppError `not_found` */
  rotateWebhookSecret(
    write: WriteContext, id: WebhookId, overlapMs: number,
  ): Promise<WebhookWithSecret>;
  /**
   * Sends everything after a position again, in messages with new ids.
   * @throws AppError `not_found`, `history_pruned`; `invalid_data` beyond the catalogue
   */
  replayWebhook(write: WriteContext, id: WebhookId, position: number): Promise<WrittenWebhook>;
  listWebhookAttempts(
    webhook: WebhookReference, query: AttemptQuery,
  ): Promise<readonly WebhookAttempt[]>;
  /** The secrets that sign now, the newest first; undefined where they cannot be read any more. */
  findWebhookSecrets(webhook: WebhookReference): Promise<readonly WebhookSecret[] | undefined>;

  /**
   * The right to deliver, which one process of all on this store has at a time until it gives it
   * up by what this returns, or ends in whatever way; undefined where another one has it.
   */
  acquireDeliveryLock(): Promise<(() => void) | undefined>;
  /** Whether any seller has one. */
  hasWebhooks(): Promise<boolean>;
  listDueWebhooks(query: DueQuery): Promise<readonly Webhook[]>;
  /** The next time after `after` at which an endpoint that fails is due; undefined: none is. */
  findNextRetry(after: number): Promise<number | undefined>;
  /**
   * Moves an endpoint on to a position, and keeps the message that is to be sent from there.
   * Returns false, and does nothing, where it does not stand as it was seen any more.
   */
  beginWebhookMessage(
    webhook: Webhook, position: number, message: WebhookMessage | undefined,
  ): Promise<boolean>;
  /**
   * Notes an attempt, and lets the endpoint go on, unless it was changed so that the message does
   * not count any more. Returns whether the next message has begun.
   */
  endWebhookAttempt(
    webhook: WebhookReference, message: WebhookMessage, result: WebhookResult, step: WebhookStep,
  ): Promise<boolean>;
  noteWebhookTest(
    webhook: WebhookReference, messageId: string, result: WebhookResult,
  ): Promise<void>;
  /** Does nothing where the endpoint does not stand as it was seen any more. */
  disableWebhook(webhook: Webhook, reason: string): Promise<void>;
}
