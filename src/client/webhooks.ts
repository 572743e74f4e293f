/** Webhooks: endpoints that receive every change, and the JSON of their routes as types. */
import type { WebhookDelivery, WebhookStatus } from '../domain/webhooks/webhook.ts';
import type { Header } from '../domain/webhooks/webhook-attempt.ts';
import type { WebhookEventName, WebhookType } from '../domain/webhooks/webhook-type.ts';
import {
  type Arguments, INTEGER, OBJECT, type OptionTable, POSITION, READ_OPTIONS, readCall,
  type ReadOptions, REQUEST_OPTIONS, type RequestOptions, TEXT,
} from './options.ts';
import type { Optional, Position } from './product.ts';
import {
  type ApiRequest, LIST_OPTIONS, listItems, type ListOptions, type Sender, sendForJson, sendJson,
} from './sender.ts';

export type { WebhookDelivery, WebhookEventName, WebhookStatus, WebhookType };

/** A webhook to create. */
export interface NewWebhook {
  /**
   * Where messages are sent. Must use https, a public address and port 443 or 8443, unless the
   * server allows more. No password, no fragment. Up to 2,048 characters.
   */
  readonly url: string;
  /** For people: up to 200 code points. Default: empty. */
  readonly description?: string | undefined;
  /**
   * What to send; null (default) for all changes. A name with a dot, such as `stock.changed`, is
   * another name of the type (`stock`), under which it is stored. `stock.low` selects the changes
   * that take a product's stock from above the low-stock threshold to it, or below.
   */
  readonly types?: readonly (WebhookType | WebhookEventName)[] | null | undefined;
  /**
   * `batch` (default): up to 100 changes in a message. `single`: one change in a message, for
   * services that run once for each message.
   */
  readonly delivery?: WebhookDelivery | undefined;
}

/** The members of a webhook to change. A new `url`, or status `active`, is tried immediately. */
export interface WebhookPatch extends Optional<NewWebhook> {
  /** `active`: changes are sent. `disabled`: nothing is sent. */
  readonly status?: WebhookStatus | undefined;
}

/** An endpoint to which changes are sent. Times are RFC 3339, in UTC. */
export interface Webhook {
  /** Opaque. Starts with `whk_`. */
  readonly id: string;
  /** Where messages are sent. */
  readonly url: string;
  /** For people; may be empty. */
  readonly description: string;
  /** What is sent; null for all changes. */
  readonly types: readonly WebhookType[] | null;
  /** Whether a message has up to 100 changes (`batch`), or one (`single`). */
  readonly delivery: WebhookDelivery;
  /** Whether changes are sent. */
  readonly status: WebhookStatus;
  /** Null while the webhook is active. */
  readonly disabled_reason: string | null;
  /** All changes up to here were delivered, or have other types. */
  readonly position: number;
  /** Null while attempts succeed. */
  readonly failing_since: string | null;
  /** When a failed message is retried; null if there is none. */
  readonly next_attempt_at: string | null;
  /** When the webhook was created. */
  readonly created_at: string;
  /** When the webhook was last changed. */
  readonly updated_at: string;
}

/** A webhook with its new secret. */
export interface WebhookWithSecret extends Webhook {
  /** Signs the messages (Standard Webhooks 1.0.0): `whsec_` and Base64. Shown only once. */
  readonly secret: string;
}

/** An attempt to send a message. */
export interface WebhookAttempt {
  /** Counts the attempts of the webhook from 1. */
  readonly n: number;
  /** The `webhook-id` of the message; a retry has the same. */
  readonly message_id: string;
  /** Whether the message has changes, or is a test. */
  readonly kind: 'changes' | 'test';
  /** Position of the first change in the message; null for a test. */
  readonly first_position: number | null;
  /** Position of the last change in the message; null for a test. */
  readonly last_position: number | null;
  /** When the attempt started: RFC 3339, in UTC. */
  readonly at: string;
  /** How long the attempt took, in milliseconds. */
  readonly duration_ms: number;
  /** HTTP status of the endpoint's response; null without one. */
  readonly status: number | null;
  /** `delivered`, or why not. */
  readonly outcome: string;
}

/** An attempt with what was sent and received, shortened. */
export interface WebhookAttemptDetail extends WebhookAttempt {
  /** Where the message was sent; null if nothing could be sent. */
  readonly url: string | null;
  /** Null if nothing could be sent, or if the changes were removed from the history. */
  readonly request: {
    /** As they were sent. */
    readonly headers: readonly Header[];
    /** The beginning of the body, up to 8 KiB. */
    readonly body: string;
    /** The size of the whole body, in bytes. */
    readonly body_bytes: number;
  } | null;
  /** Null without a response. */
  readonly response: {
    /** Up to 4 KiB; without the values of fields that may contain credentials. */
    readonly headers: readonly Header[];
    /** The beginning of the body, decoded as UTF-8: up to 1 KiB. */
    readonly body: string;
  } | null;
}

const WEBHOOKS = '/api/v1/webhooks';

/**
 * Webhooks: endpoints to which changes are sent. Every method throws NotFoundError if the server
 * delivers no webhooks.
 */
export class Webhooks {
  readonly #sender: Sender;

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Sends every change from now on to `url` by POST, in order and at least once. Store the secret:
   * it is shown only here. A seller can have up to 20 webhooks.
   * @throws InvalidDataError; ApiError `limit_reached`
   * @example
   * ```ts
   * const { id, secret } = await client.webhooks.create({
   *   url: 'https://erp.example/changes', types: ['stock'], delivery: 'single',
   * });
   * ```
   */
  create(webhook: NewWebhook, options: RequestOptions = {}): Promise<WebhookWithSecret> {
    return this.#send('create', [[webhook, OBJECT]], options, 'POST', () => WEBHOOKS, webhook);
  }

  /**
   * All webhooks, in creation order.
   * @example
   * ```ts
   * for await (const { url, status } of client.webhooks.list()) {
   *   console.log(url, status); // https://erp.example/changes active
   * }
   * ```
   */
  list(options: ListOptions = {}): AsyncGenerator<Webhook, void, void> {
    const call = readCall('webhooks.list', [], options, LIST_OPTIONS);
    return listItems(this.#sender, WEBHOOKS, 'webhooks', call);
  }

  /**
   * The webhook, with the position it has reached, and since when it has been failing.
   * @throws NotFoundError
   * @example
   * ```ts
   * const { status, failing_since: since } = await client.webhooks.get(webhook.id);
   * console.log(status, since); // active null
   * ```
   */
  get(id: string, options: ReadOptions = {}): Promise<Webhook> {
    return this.#send('get', [[id, TEXT]], options, 'GET', () => formatPath(id));
  }

  /**
   * Changes the given members. Status `active` resumes a disabled webhook where it stopped.
   * @throws NotFoundError; InvalidDataError
   * @example
   * ```ts
   * await client.webhooks.patch(webhook.id, { types: ['created', 'deleted'], status: 'active' });
   * ```
   */
  patch(id: string, patch: WebhookPatch, options: RequestOptions = {}): Promise<Webhook> {
    const args: Arguments = [[id, TEXT], [patch, OBJECT]];
    return this.#send('patch', args, options, 'PATCH', () => formatPath(id), patch);
  }

  /**
   * Deletes the webhook. A message in flight may still arrive.
   * @throws NotFoundError
   * @example
   * ```ts
   * await client.webhooks.delete(webhook.id);
   * ```
   */
  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    const [request] = readCall('webhooks.delete', [[id, TEXT]], options, REQUEST_OPTIONS);
    await this.#sender.send({
      ...request, method: 'DELETE', path: formatPath(id),
    }, (response) => response.text());
  }

  /**
   * The latest 200 attempts, newest first.
   * @throws NotFoundError
   * @example
   * ```ts
   * for await (const { n, status, outcome } of client.webhooks.deliveries(webhook.id)) {
   *   console.log(n, status, outcome); // 1 204 delivered
   * }
   * ```
   */
  deliveries(id: string, options: ListOptions = {}): AsyncGenerator<WebhookAttempt, void, void> {
    const call = readCall('webhooks.deliveries', [[id, TEXT]], options, LIST_OPTIONS);
    return listItems(this.#sender, `${formatPath(id)}/deliveries`, 'deliveries', call);
  }

  /**
   * An attempt with its request and response.
   * @param n Number of the attempt.
   * @throws NotFoundError
   * @example
   * ```ts
   * const { request, response } = await client.webhooks.delivery(webhook.id, 1);
   * console.log(request?.body, response?.body);
   * ```
   */
  delivery(id: string, n: number, options: ReadOptions = {}): Promise<WebhookAttemptDetail> {
    return this.#send('delivery', [[id, TEXT], [n, INTEGER]], options, 'GET', () =>
      `${formatPath(id)}/deliveries/${n}`);
  }

  /**
   * Sends the message of an attempt again, immediately and even to a disabled webhook. The id and
   * the body are the same, so a receiver that has processed the message skips it.
   * @param n Number of the attempt.
   * @throws NotFoundError; ResyncRequiredError if its changes were removed from the history
   * @example
   * ```ts
   * const { outcome } = await client.webhooks.resend(webhook.id, 1);
   * console.log(outcome); // delivered
   * ```
   */
  resend(id: string, n: number, options: RequestOptions = {}): Promise<WebhookAttempt> {
    return this.#send('resend', [[id, TEXT], [n, INTEGER]], options, 'POST', () =>
      `${formatPath(id)}/deliveries/${n}/resend`);
  }

  /**
   * Makes the next attempt of a failing webhook due immediately; a disabled webhook becomes active.
   * @throws NotFoundError
   * @example
   * ```ts
   * const { status } = await client.webhooks.retry(webhook.id);
   * console.log(status); // active
   * ```
   */
  retry(id: string, options: RequestOptions = {}): Promise<Webhook> {
    return this.#send('retry', [[id, TEXT]], options, 'POST', () => `${formatPath(id)}/retry`);
  }

  /**
   * Sends a message of type `test` immediately, even to a disabled webhook.
   * @throws NotFoundError
   * @example
   * ```ts
   * const { outcome, duration_ms: durationMs } = await client.webhooks.test(webhook.id);
   * console.log(outcome); // delivered
   * ```
   */
  test(id: string, options: RequestOptions = {}): Promise<WebhookAttempt> {
    return this.#send('test', [[id, TEXT]], options, 'POST', () => `${formatPath(id)}/test`);
  }

  /**
   * Sends all changes after a position again, in messages with new ids.
   * @throws NotFoundError; ResyncRequiredError if the history no longer reaches back that far
   * @example
   * ```ts
   * await client.webhooks.replay(webhook.id, 0);
   * ```
   */
  replay(id: string, position: Position, options: RequestOptions = {}): Promise<Webhook> {
    const args: Arguments = [[id, TEXT], [position, POSITION]];
    return this.#send('replay', args, options, 'POST', () => `${formatPath(id)}/replay`,
      { position });
  }

  /**
   * Creates a new secret, which is shown only here. Until the overlap ends, both the new and the
   * old secret sign each message.
   * @param overlap A number and a unit (s, m, h, d), such as `24h` (default) or `0s`.
   * @throws NotFoundError; InvalidDataError
   * @example
   * ```ts
   * const { secret } = await client.webhooks.rotateSecret(webhook.id, '48h');
   * ```
   */
  rotateSecret(
    id: string, overlap = '24h', options: RequestOptions = {},
  ): Promise<WebhookWithSecret> {
    const args: Arguments = [[id, TEXT], [overlap, TEXT]];
    return this.#send('rotateSecret', args, options, 'POST', () =>
      `${formatPath(id)}/rotate-secret`, { overlap });
  }

  /** @param findPath Called once the arguments are checked. */
  async #send<Result>(
    name: string, args: Arguments, options: RequestOptions, method: ApiRequest['method'],
    findPath: () => string, value?: object,
  ): Promise<Result> {
    const table: OptionTable<ReadOptions> = method === 'GET' ? READ_OPTIONS : REQUEST_OPTIONS;
    const [request] = readCall<ReadOptions>(`webhooks.${name}`, args, options, table);
    const sent = { ...request, method, path: findPath() };
    return value ? sendJson(this.#sender, sent, value) : sendForJson(this.#sender, sent);
  }
}

function formatPath(id: string): string {
  return `${WEBHOOKS}/${encodeURIComponent(id)}`;
}
