/**
 * Attempts to send messages: their results, and what was sent and received, shortened. Contains no
 * secret of this server; a signature is valid for its message only.
 */
import { formatTime } from '../time.ts';
import type { WebhookMessage } from './webhook.ts';

/** The result of one attempt. */
export interface WebhookResult {
  /** When it started, milliseconds since 1970. */
  readonly at: number;
  readonly durationMs: number;
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** `delivered`, or the reason why not. */
  readonly outcome: string;
  /** Undefined if nothing was sent, or if its changes were pruned. */
  readonly exchange?: WebhookExchange | undefined;
}

/** The request and the response of an attempt. */
export interface WebhookExchange {
  readonly url: string;
  readonly request: {
    readonly headers: readonly Header[];
    /** Its beginning. */
    readonly body: string;
    /** The size of the whole body. */
    readonly bodyBytes: number;
  };
  /**
   * Undefined without a response. The first headers, without the values of those that may contain
   * credentials; and the beginning of the body, decoded as UTF-8.
   */
  readonly response: Pick<WebhookExchange['request'], 'headers' | 'body'> | undefined;
}

/** A header field. */
export interface Header {
  /** As it was sent or received. */
  readonly name: string;
  /** As it was sent or received. */
  readonly value: string;
}

/** A test message contains no changes. */
export type TestMessage = Pick<WebhookMessage, 'id' | 'at'>;

/** An entry of a webhook's delivery log; `n` counts its attempts from 1. */
export interface WebhookAttempt extends Omit<WebhookResult, 'exchange'> {
  readonly n: number;
  readonly messageId: string;
  readonly kind: 'changes' | 'test';
  /** Undefined for a test. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** What the log knows about one attempt. */
export interface WebhookAttemptDetail extends WebhookAttempt {
  readonly exchange: WebhookExchange | undefined;
  /** Undefined if its changes were pruned. */
  readonly message: WebhookMessage | TestMessage | undefined;
}

/** What the log says about the message of an attempt. */
export function describeMessage(
  message: WebhookMessage | TestMessage,
): Pick<WebhookAttempt, 'messageId' | 'kind' | 'first' | 'last'> {
  if (!('first' in message)) {
    return { messageId: message.id, kind: 'test', first: undefined, last: undefined };
  }
  const { id: messageId, first, last } = message;
  return { messageId, kind: 'changes', first, last };
}

/** The JSON text of an attempt. */
export function formatWebhookAttempt(attempt: WebhookAttempt): string {
  return JSON.stringify(toJson(attempt));
}

/** The JSON text of an attempt with its request and response. */
export function formatWebhookAttemptDetail(attempt: WebhookAttemptDetail): string {
  const { url, request, response } = attempt.exchange ?? {};
  return JSON.stringify({
    ...toJson(attempt),
    url: url ?? null,
    request: request
      ? { headers: request.headers, body: request.body, body_bytes: request.bodyBytes } : null,
    response: response ?? null,
  });
}

function toJson(attempt: WebhookAttempt) {
  const { n, messageId, kind, first, last, at, durationMs, status, outcome } = attempt;
  return {
    n,
    message_id: messageId,
    kind,
    first_position: first ?? null,
    last_position: last ?? null,
    at: formatTime(at),
    duration_ms: durationMs,
    status: status ?? null,
    outcome,
  };
}
