/**
 * The webhook service: starts the delivery worker, and does what requests wait for: checking a URL,
 * and sending a test message or an earlier message again.
 */
import {
  CONCURRENT_WEBHOOK_TESTS_LIMIT, CONCURRENT_WEBHOOK_TESTS_PER_SELLER_LIMIT,
  WEBHOOK_DNS_TIMEOUT_MS, WEBHOOK_TIMEOUT_MS,
} from './limits.ts';
import { AppError } from '../../domain/error.ts';
import type { SellerId } from '../../domain/id.ts';
import type { ValidationError } from '../../domain/text.ts';
import type { Webhook, WebhookMessage } from '../../domain/webhooks/webhook.ts';
import {
  describeMessage, type TestMessage, type WebhookAttempt, type WebhookAttemptDetail,
} from '../../domain/webhooks/webhook-attempt.ts';
import { signMessage, UNREADABLE_SECRET } from '../../domain/webhooks/webhook-signature.ts';
import { ConcurrencyLimiter } from '../../domain/concurrency-limiter.ts';
import { type ErrorReporter, safeErrorReporter } from '../../http/response/problem.ts';
import type { Store } from '../../store/store.ts';
import { deliver, describeFailure } from './deliver.ts';
import { DnsResolver, type Lookup } from './dns-resolver.ts';
import type { AttemptCounts, EndpointOptions } from './endpoint.ts';
import { formatTestMessage, makeMessageId, readMessage } from './message.ts';
import { resolveTarget } from './ssrf-guard.ts';
import { WebhookWorker } from './worker.ts';

/** Where messages may be sent. */
export interface DestinationOptions {
  /** Whether messages may be sent to addresses that are not public. Default false. */
  readonly allowPrivate?: boolean;
  /** Whether messages may be sent without TLS. Default false. */
  readonly allowHttp?: boolean;
}

interface WebhooksOptions extends DestinationOptions {
  /** Not closed by the service: close it after the service. */
  readonly store: Store;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /** From 0, below 1, for the jitter of retries. Default `Math.random`. */
  readonly random?: () => number;
  /** Looks up all addresses of a name. Default: the system's resolver. */
  readonly lookup?: Lookup;
  /** Timeout of one attempt, in milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
  /** Receives store errors. Default: one line on stderr. */
  readonly report?: ErrorReporter;
}

export interface Webhooks {
  /** Returns why messages must not be sent to a URL; undefined if they may. */
  checkUrl(sellerId: SellerId, url: string): Promise<ValidationError | undefined>;
  /**
   * Sends a test message now, and records the result.
   * @throws AppError `unavailable` (too many tests, or the server is stopping); `not_found` if the
   * webhook is deleted before the result is recorded
   */
  sendTest(webhook: Webhook): Promise<WebhookAttempt>;
  /**
   * Sends the message of an attempt again, with the same id and body, and records the result. Does
   * not change what the webhook sends next.
   * @throws AppError as `sendTest`; `history_pruned`; `not_found` if the message was not stored
   */
  resend(webhook: Webhook, attempt: WebhookAttemptDetail): Promise<WebhookAttempt>;
  /**
   * Deliveries in flight, the attempts of this process by result, and the metrics of a
   * `DeliveryMember` once this process takes part.
   */
  readMetrics(): ReturnType<WebhookWorker['readMetrics']> & {
    readonly attempts: Readonly<AttemptCounts>;
  };
  /** Aborts deliveries in flight, within 2 s. */
  close(): Promise<void>;
}

/** Delivers until it is closed. */
export function startWebhooks({
  store, report, allowPrivate = false, allowHttp = false, clock = Date.now, random = Math.random,
  lookup, timeoutMs = WEBHOOK_TIMEOUT_MS,
}: WebhooksOptions): Webhooks {
  const stop = new AbortController();
  const requested = new ConcurrencyLimiter<SellerId>('test and resent messages', {
    total: CONCURRENT_WEBHOOK_TESTS_LIMIT, perOwner: CONCURRENT_WEBHOOK_TESTS_PER_SELLER_LIMIT,
  });
  const endpoint: EndpointOptions = {
    store, clock, random, timeoutMs, policy: { allowPrivate, allowHttp },
    resolver: new DnsResolver(lookup), stop: stop.signal,
    attempts: { delivered: 0, refused: 0, failed: 0 }, report: safeErrorReporter(report),
  };
  const worker = new WebhookWorker(endpoint);
  const onRequest = async <Result>(
    { sellerId }: Webhook, send: () => Promise<Result>,
  ): Promise<Result> => {
    using slot = new DisposableStack();
    slot.defer(requested.acquire(sellerId));
    return await send();
  };
  return {
    checkUrl: (sellerId, url) => checkUrl(sellerId, url, endpoint),
    sendTest: (webhook) => onRequest(webhook, () => {
      const message = { id: makeMessageId(), at: clock() };
      return sendNow(webhook, message, formatTestMessage(webhook, message.at), endpoint);
    }),
    resend: (webhook, { message }) => onRequest(webhook, async () =>
      sendNow(webhook, ...await readSent(webhook, message, endpoint), endpoint)),
    readMetrics: () => ({ ...worker.readMetrics(), attempts: { ...endpoint.attempts } }),
    close() {
      stop.abort();
      return worker.close();
    },
  };
}

async function checkUrl(
  sellerId: SellerId, url: string, { policy, resolver, stop }: EndpointOptions,
): Promise<ValidationError | undefined> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(WEBHOOK_DNS_TIMEOUT_MS)]);
  const fail = (why: string): ValidationError => ({
    code: 'target', detail: `Use another URL: messages cannot be sent to this one, because ${why}.`,
  });
  try {
    const target = await resolveTarget(new URL(url), policy, (name) =>
      resolver.resolve(name, { sellerId, isFailing: false }, signal));
    return 'error' in target ? fail(target.error) : undefined;
  } catch (error) {
    return fail(signal.aborted ? 'the DNS lookup timed out' : describeFailure(error));
  }
}

/** A message with its body, which is the same in every attempt. @throws AppError as `resend` */
async function readSent(
  webhook: Webhook, message: WebhookAttemptDetail['message'], { store }: EndpointOptions,
): Promise<[WebhookMessage | TestMessage, string]> {
  if (!message) {
    throw new AppError('not_found', 'The message of this attempt was not stored.');
  }
  if (!('first' in message)) return [message, formatTestMessage(webhook, message.at)];
  const body = await readMessage(store, webhook, message);
  if (body !== undefined) return [message, body];
  throw new AppError('history_pruned', 'The changes of this message are no longer in the history.');
}

/** One attempt outside the delivery, and its entry in the log. */
async function sendNow(
  webhook: Webhook, message: WebhookMessage | TestMessage, body: string, options: EndpointOptions,
): Promise<WebhookAttempt> {
  const { store, clock, stop } = options;
  const secrets = await store.findWebhookSecrets(webhook);
  const at = clock();
  const result = secrets
    ? await deliver(webhook, body, signMessage({ id: message.id, at, body }, secrets), options)
    : { at, durationMs: 0, status: undefined, outcome: UNREADABLE_SECRET };
  if (!result || stop.aborted) throw new AppError('unavailable', 'This server is stopping.');
  const n = await store.noteWebhookAttempt(webhook, message, result);
  if (n === undefined) throw new AppError('not_found', 'The webhook has been deleted.');
  return { ...result, n, ...describeMessage(message) };
}
