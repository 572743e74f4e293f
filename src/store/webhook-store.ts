/** The part of the store port that keeps webhooks, and how far each has been delivered. */
import type { SellerId, WebhookId, WebhookReference } from '../domain/id.ts';
import type {
  NewWebhook, Webhook, WebhookAttempt, WebhookMessage, WebhookPatch, WebhookResult, WebhookStep,
} from '../domain/webhooks/webhook.ts';
import type { WebhookSecret } from '../domain/webhooks/webhook-signature.ts';
import type { PageQuery, WriteContext } from './write.ts';

/** A webhook after a change. */
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

/** Up to `limit` webhooks, of all sellers, with something to send; the longest wait first. */
export interface DueQuery {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Those whose last attempt has failed, or the others. */
  readonly isFailing: boolean;
  readonly limit: number;
}

export interface WebhookStore {
  /** It starts at the catalogue's position. @throws AppError `limit_reached` */
  createWebhook(write: WriteContext, webhook: NewWebhook): Promise<WebhookWithSecret>;
  findWebhook(webhook: WebhookReference): Promise<Webhook | undefined>;
  /** In the order of creation. */
  listWebhooks(sellerId: SellerId, query: PageQuery<WebhookId>): Promise<readonly Webhook[]>;
  /** A new URL, and `active`, are tried at once. @throws AppError `not_found` */
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
  /** The secrets that sign now, the newest first; undefined if they cannot be decrypted. */
  findWebhookSecrets(webhook: WebhookReference): Promise<readonly WebhookSecret[] | undefined>;

  /**
   * Takes the lock that makes one process of all on this store deliver, and returns the function
   * that releases it; undefined if another process has it. The lock ends with its process.
   */
  acquireDeliveryLock(): Promise<(() => void) | undefined>;
  /** Whether any seller has one. */
  hasWebhooks(): Promise<boolean>;
  listDueWebhooks(query: DueQuery): Promise<readonly Webhook[]>;
  /** When the next failing webhook is due, after `after`; undefined if none is. */
  findNextRetry(after: number): Promise<number | undefined>;
  /**
   * Moves a webhook to a position, and stores the message to send from there. Returns false, and
   * does nothing, if the webhook has changed since it was read.
   */
  beginWebhookMessage(
    webhook: Webhook, position: number, message: WebhookMessage | undefined,
  ): Promise<boolean>;
  /**
   * Logs an attempt, and applies its step unless a change of the webhook has dropped the message.
   * Returns whether the next message has started.
   */
  endWebhookAttempt(
    webhook: WebhookReference, message: WebhookMessage, result: WebhookResult, step: WebhookStep,
  ): Promise<boolean>;
  noteWebhookTest(
    webhook: WebhookReference, messageId: string, result: WebhookResult,
  ): Promise<void>;
  /** Does nothing if the webhook has changed since it was read. */
  disableWebhook(webhook: Webhook, reason: string): Promise<void>;
}
