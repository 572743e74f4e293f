/** Webhooks: endpoints that receive every change, and the JSON of their routes as types. */
import type { WebhookDelivery, WebhookStatus } from '../domain/webhooks/webhook.ts';
import type { Header } from '../domain/webhooks/webhook-attempt.ts';
import type { WebhookEventName, WebhookType } from '../domain/webhooks/webhook-type.ts';
import {
  type ApiRequest, listItems, type ListOptions, type RequestOptions, type Sender, sendForJson,
  sendJson,
} from './sender.ts';
import type { Optional, Position } from './types.ts';

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
    return this.#send('POST', WEBHOOKS, options, webhook);
  }

  list(options: ListOptions = {}): AsyncGenerator<Webhook, void, void> {
    return listItems(this.#sender, WEBHOOKS, 'webhooks', options);
  }

  /** @throws NotFoundError, as all of the following */
  get(id: string, options: RequestOptions = {}): Promise<Webhook> {
    return this.#send('GET', formatPath(id), options);
  }

  patch(id: string, patch: WebhookPatch, options: RequestOptions = {}): Promise<Webhook> {
    return this.#send('PATCH', formatPath(id), options, patch);
  }

  async delete(id: string, options: RequestOptions = {}): Promise<void> {
    const request = { ...options, method: 'DELETE', path: formatPath(id) } as const;
    await this.#sender.send(request, (response) => response.text());
  }

  /** The latest 200 attempts, newest first. */
  deliveries(id: string, options: ListOptions = {}): AsyncGenerator<WebhookAttempt, void, void> {
    return listItems(this.#sender, `${formatPath(id)}/deliveries`, 'deliveries', options);
  }

  /** An attempt with its request and response. @param n Number of the attempt. */
  delivery(id: string, n: number, options: RequestOptions = {}): Promise<WebhookAttemptDetail> {
    return this.#send('GET', `${formatPath(id)}/deliveries/${n}`, options);
  }

  /** Sends the message of an attempt again, with the same id. @throws ResyncRequiredError */
  resend(id: string, n: number, options: RequestOptions = {}): Promise<WebhookAttempt> {
    return this.#send('POST', `${formatPath(id)}/deliveries/${n}/resend`, options);
  }

  /** Makes the next attempt due now; a disabled webhook becomes active. */
  retry(id: string, options: RequestOptions = {}): Promise<Webhook> {
    return this.#send('POST', `${formatPath(id)}/retry`, options);
  }

  /** Sends a test message now. */
  test(id: string, options: RequestOptions = {}): Promise<WebhookAttempt> {
    return this.#send('POST', `${formatPath(id)}/test`, options);
  }

  /** Sends all changes after a position again. @throws ResyncRequiredError */
  replay(id: string, position: Position, options: RequestOptions = {}): Promise<Webhook> {
    return this.#send('POST', `${formatPath(id)}/replay`, options, { position });
  }

  /** @param overlap How long the old secret also signs, such as `24h` (default) or `0s`. */
  rotateSecret(
    id: string, overlap = '24h', options: RequestOptions = {},
  ): Promise<WebhookWithSecret> {
    return this.#send('POST', `${formatPath(id)}/rotate-secret`, options, { overlap });
  }

  #send<Result>(
    method: ApiRequest['method'], path: string, options: RequestOptions, value?: object,
  ): Promise<Result> {
    const request = { ...options, method, path };
    return value ? sendJson(this.#sender, request, value) : sendForJson(this.#sender, request);
  }
}

function formatPath(id: string): string {
  return `${WEBHOOKS}/${encodeURIComponent(id)}`;
}
