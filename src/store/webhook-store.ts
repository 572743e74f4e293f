/** The webhooks port: endpoints, their delivery state and delivery log, and their secrets. */
import type { SellerId, WebhookId, WebhookReference } from '../domain/id.ts';
import type {
  NewWebhook, Webhook, WebhookMessage, WebhookPatch, WebhookStep,
} from '../domain/webhooks/webhook.ts';
import type {
  TestMessage, WebhookAttempt, WebhookAttemptDetail, WebhookResult,
} from '../domain/webhooks/webhook-attempt.ts';
import type { WebhookSecret } from '../domain/webhooks/webhook-signature.ts';
import type { PageQuery, WriteContext } from './write.ts';

/** A webhook after a change. */
export interface WrittenWebhook {
  readonly webhook: Webhook;
  readonly isReplay: boolean;
}

/** A webhook with a newly generated secret. */
export interface WebhookWithSecret extends WrittenWebhook {
  readonly secret: WebhookSecret;
}

/** Up to `limit` attempts, newest first. */
interface AttemptQuery {
  /** Only attempts before the one with this number. */
  readonly before: number | undefined;
  readonly limit: number;
}

/** Up to `limit` webhooks that have something to send, longest waiting first. */
export interface DueQuery {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** True for webhooks whose last attempt failed, false for the others. */
  readonly isFailing: boolean;
  readonly limit: number;
}

/** A webhook that has something to send. */
export interface DueWebhook {
  readonly webhook: Webhook;
  /**
   * Aborted as soon as this process is not, or can no longer be sure to be, the only one that
   * delivers for the seller. End its attempts in flight then; another process repeats them.
   */
  readonly lease: AbortSignal;
}

interface DeliveryMetrics {
  /** Leases that this process has: of up to 64 buckets, or (SQLite) one for all sellers. */
  readonly leases: number;
  /**
   * When the oldest message was made that these sellers' active webhooks have not delivered, in
   * milliseconds since 1970; undefined if there is none, or if that cannot be read.
   */
  readonly oldestMessageAt: number | undefined;
}

/** A process among those that deliver the webhooks of this store. */
export interface DeliveryMember {
  /** Of the sellers for which this process has the lease now. Queries no other seller. */
  listDueWebhooks(query: DueQuery): Promise<readonly DueWebhook[]>;
  /** When the first failing webhook of these sellers after `after` is due; undefined if none is. */
  findNextRetry(after: number): Promise<number | undefined>;
  /** Waits for nothing, and never throws. */
  readMetrics(): DeliveryMetrics;
  /** Aborts the leases, and gives them up. Call it once the attempts in flight have ended. */
  leave(): Promise<void>;
}

export interface WebhookStore {
  /** The webhook starts at the catalogue's position. @throws AppError `limit_reached` */
  createWebhook(write: WriteContext, webhook: NewWebhook): Promise<WebhookWithSecret>;
  findWebhook(webhook: WebhookReference): Promise<Webhook | undefined>;
  /** In creation order. */
  listWebhooks(sellerId: SellerId, query: PageQuery<WebhookId>): Promise<readonly Webhook[]>;
  /** A new URL, or status `active`, makes an attempt due now. @throws AppError `not_found` */
  patchWebhook(write: WriteContext, id: WebhookId, patch: WebhookPatch): Promise<WrittenWebhook>;
  /** @throws AppError `not_found` */
  deleteWebhook(write: WriteContext, id: WebhookId): Promise<{ readonly isReplay: boolean }>;
  /** Both secrets sign until the overlap ends. @throws AppError `not_found` */
  rotateWebhookSecret(
    write: WriteContext, id: WebhookId, overlapMs: number,
  ): Promise<WebhookWithSecret>;
  /** Makes an attempt due now; a disabled webhook becomes active. @throws AppError `not_found` */
  retryWebhook(write: WriteContext, id: WebhookId): Promise<WrittenWebhook>;
  /**
   * Sends all changes after a position again, in messages with new ids.
   * @throws AppError `not_found`, `history_pruned`; `invalid_data` beyond the catalogue
   */
  replayWebhook(write: WriteContext, id: WebhookId, position: number): Promise<WrittenWebhook>;
  listWebhookAttempts(
    webhook: WebhookReference, query: AttemptQuery,
  ): Promise<readonly WebhookAttempt[]>;
  /** The attempt with this number; undefined if it is no longer kept. */
  findWebhookAttempt(
    webhook: WebhookReference, n: number,
  ): Promise<WebhookAttemptDetail | undefined>;
  /** The stock up to which a product of the shop is low. */
  findLowStock(sellerId: SellerId): Promise<number>;
  /** The valid secrets, newest first; undefined if they cannot be decrypted. */
  findWebhookSecrets(webhook: WebhookReference): Promise<readonly WebhookSecret[] | undefined>;

  /**
   * Takes part in the delivery. Each seller is in one bucket, and at most one member, of whichever
   * process, has the lease of a bucket; if its process dies, another has the lease within 15 s
   * (SQLite: 2 s). A lease with a term ends by the holder's monotonic clock, counted from before
   * its last renewal was sent, so never later than for the others. Mutations of deliveries are
   * guarded in addition: a suspended process changes nothing that another one has done since.
   *
   * Calls `onDue` when something may be due: after leases were gained, and after changes of
   * catalogues and webhooks by any process, with the delays of `watch` (within 3 s for the first
   * webhook of a seller). A retry's time needs `findNextRetry`. Costs next to nothing while the
   * store has no webhooks.
   */
  joinDelivery(onDue: () => void): Promise<DeliveryMember>;
  /**
   * Moves a webhook to a position, and stores its next message. Returns false, and does nothing, if
   * the webhook has changed since it was read.
   */
  beginWebhookMessage(
    webhook: Webhook, position: number, message: WebhookMessage | undefined,
  ): Promise<boolean>;
  /**
   * Logs an attempt, and applies its step unless a change to the webhook has dropped the message.
   * Returns whether the next message was started.
   */
  endWebhookAttempt(
    webhook: WebhookReference, message: WebhookMessage, result: WebhookResult, step: WebhookStep,
  ): Promise<boolean>;
  /**
   * Logs an attempt that has no effect on the delivery, such as a test. Returns its number;
   * undefined if the webhook has been deleted.
   */
  noteWebhookAttempt(
    webhook: WebhookReference, message: WebhookMessage | TestMessage, result: WebhookResult,
  ): Promise<number | undefined>;
  /** Does nothing if the webhook has changed since it was read. */
  disableWebhook(webhook: Webhook, reason: string): Promise<void>;
}
