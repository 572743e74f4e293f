/** Webhooks: endpoints that receive every change, and the JSON of their routes as types. */
import type { WebhookDelivery, WebhookStatus } from '../domain/webhooks/webhook.ts';
import type { Header } from '../domain/webhooks/webhook-attempt.ts';
import type { WebhookEventName, WebhookType } from '../domain/webhooks/webhook-type.ts';
import {
  type Arguments, INTEGER, OBJECT, POSITION, READ_OPTIONS, readCall, type ReadOptions,
  REQUEST_OPTIONS, type RequestOptions, TEXT,
} from './options.ts';
import type { Optional, Position } from './product.ts';
import {
  type ApiRequest, LIST_OPTIONS, listItems, type ListOptions, type Sender, sendForJson, sendJson,
} from './sender.ts';

export type { WebhookDelivery, WebhookEventName, WebhookStatus, WebhookType };

export interface NewWebhook {
  readonly url: string;
  readonly description?: string | undefined;
  /** Default: null, all changes. */
  readonly types?: readonly (WebhookType | WebhookEventName)[] | null | undefined;
  /** Default `batch`: up to 100 changes in a message. */
  readonly delivery?: WebhookDelivery | undefined;
}

export interface WebhookPatch extends Optional<NewWebhook> {
  readonly status?: WebhookStatus | undefined;
}

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  /** Null for all changes. */
  readonly types: readonly WebhookType[] | null;
  readonly delivery: WebhookDelivery;
  readonly status: WebhookStatus;
  readonly disabled_reason: string | null;
  /** Everything up to here is delivered. */
  readonly position: number;
  readonly failing_since: string | null;
  readonly next_attempt_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface WebhookWithSecret extends Webhook {
  /** `whsec_` and base64; shown once. */
  readonly secret: string;
}

export interface WebhookAttempt {
  /** Counts the attempts of the webhook from 1. */
  readonly n: number;
  readonly message_id: string;
  readonly kind: 'changes' | 'test';
  readonly first_position: number | null;
  readonly last_position: number | null;
  readonly at: string;
  readonly duration_ms: number;
  /** HTTP status of the endpoint's response; null without one. */
  readonly status: number | null;
  /** `delivered`, or why not. */
  readonly outcome: string;
}

export interface WebhookAttemptDetail extends WebhookAttempt {
  readonly url: string | null;
  /** Null if nothing could be sent. */
  readonly request: {
    readonly headers: readonly Header[];
    /** Its beginning, up to 8 KiB. */
    readonly body: string;
    /** Size of the whole body. */
    readonly body_bytes: number;
  } | null;
  /** Null without a response. */
  readonly response: {
    /** Up to 4 KiB; without the values of fields that may contain credentials. */
    readonly headers: readonly Header[];
    /** Its beginning, up to 1 KiB. */
    readonly body: string;
  } | null;
}

const WEBHOOKS = '/api/v1/webhooks';

export class Webhooks {
  readonly #sender: Sender;

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Sends every change from now on to `url`; the secret is shown only here. */
  create(webhook: NewWebhook, options: RequestOptions = {}): Promise<WebhookWithSecret> {
    return this.#send('create', [[webhook, OBJECT]], options, 'POST', () => WEBHOOKS, webhook);
  }

  list(options: ListOptions = {}): AsyncGenerator<Webhook, void, void> {
    const call = readCall('webhooks.list', [], options, LIST_OPTIONS);
    return listItems(this.#sender, WEBHOOKS, 'webhooks', call);
  }

  /** @throws NotFoundError, as all of the following */
  async get(id: string, options: ReadOptions = {}): Promise<Webhook> {
    const [request] = readCall('webhooks.get', [[id, TEXT]], options, READ_OPTIONS);
    return sendForJson(this.#sender, { ...request, method: 'GET', path: formatPath(id) });
  }

  patch(id: string, patch: WebhookPatch, options: RequestOptions = {}): Promise<Webhook> {
    const args: Arguments = [[id, TEXT], [patch, OBJECT]];
    return this.#send('patch', args, options, 'PATCH', () => formatPath(id), patch);
  }

  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    const [request] = readCall('webhooks.delete', [[id, TEXT]], options, REQUEST_OPTIONS);
    await this.#sender.send({
      ...request, method: 'DELETE', path: formatPath(id),
    }, (response) => response.text());
  }

  /** The latest 200 attempts, newest first. */
  deliveries(id: string, options: ListOptions = {}): AsyncGenerator<WebhookAttempt, void, void> {
    const call = readCall('webhooks.deliveries', [[id, TEXT]], options, LIST_OPTIONS);
    return listItems(this.#sender, `${formatPath(id)}/deliveries`, 'deliveries', call);
  }

  /** An attempt with its request and response. @param n Number of the attempt. */
  async delivery(
    id: string, n: number, options: ReadOptions = {},
  ): Promise<WebhookAttemptDetail> {
    const args: Arguments = [[id, TEXT], [n, INTEGER]];
    const [request] = readCall('webhooks.delivery', args, options, READ_OPTIONS);
    const path = `${formatPath(id)}/deliveries/${n}`;
    return sendForJson(this.#sender, { ...request, method: 'GET', path });
  }

  /** Sends the message of an attempt again, with the same id. @throws ResyncRequiredError */
  resend(id: string, n: number, options: RequestOptions = {}): Promise<WebhookAttempt> {
    return this.#send('resend', [[id, TEXT], [n, INTEGER]], options, 'POST', () =>
      `${formatPath(id)}/deliveries/${n}/resend`);
  }

  /** Makes the next attempt due now; a disabled webhook becomes active. */
  retry(id: string, options: RequestOptions = {}): Promise<Webhook> {
    return this.#send('retry', [[id, TEXT]], options, 'POST', () => `${formatPath(id)}/retry`);
  }

  /** Sends a test message now. */
  test(id: string, options: RequestOptions = {}): Promise<WebhookAttempt> {
    return this.#send('test', [[id, TEXT]], options, 'POST', () => `${formatPath(id)}/test`);
  }

  /** Sends all changes after a position again. @throws ResyncRequiredError */
  replay(id: string, position: Position, options: RequestOptions = {}): Promise<Webhook> {
    const args: Arguments = [[id, TEXT], [position, POSITION]];
    return this.#send('replay', args, options, 'POST', () => `${formatPath(id)}/replay`,
      { position });
  }

  /** @param overlap How long the old secret also signs, such as `24h` (default) or `0s`. */
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
    const [request] = readCall(`webhooks.${name}`, args, options, REQUEST_OPTIONS);
    const sent = { ...request, method, path: findPath() };
    return value ? sendJson(this.#sender, sent, value) : sendForJson(this.#sender, sent);
  }
}

function formatPath(id: string): string {
  return `${WEBHOOKS}/${encodeURIComponent(id)}`;
}
