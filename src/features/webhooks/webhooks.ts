/**
 * The webhook service: starts the delivery worker, and does what requests wait for: checking a URL
 * and sending a test message.
 */
import {
  CONCURRENT_WEBHOOK_TESTS_LIMIT, CONCURRENT_WEBHOOK_TESTS_PER_SELLER_LIMIT,
  WEBHOOK_DNS_TIMEOUT_MS, WEBHOOK_TIMEOUT_MS,
} from './limits.ts';
import { AppError } from '../../domain/error.ts';
import type { SellerId } from '../../domain/id.ts';
import type { ValidationError } from '../../domain/text.ts';
import type { Webhook } from '../../domain/webhooks/webhook.ts';
import type { WebhookAttempt } from '../../domain/webhooks/webhook-attempt.ts';
import { signMessage, UNREADABLE_SECRET } from '../../domain/webhooks/webhook-signature.ts';
import { ConcurrencyLimiter } from '../../http/concurrency-limiter.ts';
import { type ErrorReporter, safeErrorReporter } from '../../http/response/problem.ts';
import type { Store } from '../../store/store.ts';
import { deliver, describeFailure } from './deliver.ts';
import { DnsResolver, type Lookup } from './dns-resolver.ts';
import type { AttemptCounts, EndpointOptions } from './endpoint.ts';
import { formatTestMessage, makeMessageId } from './message.ts';
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
  /** Deliveries in flight, and the attempts of this process by result. */
  readMetrics(): { readonly inFlight: number; readonly attempts: Readonly<AttemptCounts> };
  /** Aborts deliveries in flight, within 2 s. */
  close(): Promise<void>;
}

/** Delivers until it is closed. */
export function startWebhooks({
  store, report, allowPrivate = false, allowHttp = false, clock = Date.now, random = Math.random,
  lookup, timeoutMs = WEBHOOK_TIMEOUT_MS,
}: WebhooksOptions): Webhooks {
  const stop = new AbortController();
  const tests = new ConcurrencyLimiter<SellerId>('test messages', {
    total: CONCURRENT_WEBHOOK_TESTS_LIMIT, perOwner: CONCURRENT_WEBHOOK_TESTS_PER_SELLER_LIMIT,
  });
  const endpoint: EndpointOptions = {
    store, clock, random, timeoutMs, policy: { allowPrivate, allowHttp },
    resolver: new DnsResolver(lookup), stop: stop.signal,
    attempts: { delivered: 0, refused: 0, failed: 0 }, report: safeErrorReporter(report),
  };
  const worker = new WebhookWorker(endpoint);
  return {
    checkUrl: (sellerId, url) => checkUrl(sellerId, url, endpoint),
    async sendTest(webhook) {
      const release = tests.acquire(webhook.sellerId);
      try {
        return await sendTest(webhook, endpoint);
      } finally {
        release();
      }
    },
    readMetrics: () => ({
      inFlight: worker.inFlightCount(), attempts: { ...endpoint.attempts },
    }),
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
  const fail = (why: string): ValidationError =>
    ({ code: 'target', detail: `Messages cannot be sent there: ${why}.` });
  try {
    const target = await resolveTarget(new URL(url), policy, (name) =>
      resolver.resolve(name, { sellerId, isFailing: false }, signal));
    return 'error' in target ? fail(target.error) : undefined;
  } catch (error) {
    return fail(signal.aborted ? 'the DNS lookup timed out' : describeFailure(error));
  }
}

async function sendTest(webhook: Webhook, options: EndpointOptions): Promise<WebhookAttempt> {
  const { store, clock, stop } = options;
  const secrets = await store.findWebhookSecrets(webhook);
  const [id, at] = [makeMessageId(), clock()];
  const body = formatTestMessage(webhook, at);
  const result = secrets
    ? await deliver(webhook, body, signMessage({ id, at, body }, secrets), options)
    : { at, durationMs: 0, status: undefined, outcome: UNREADABLE_SECRET };
  if (!result || stop.aborted) throw new AppError('unavailable', 'This server is stopping.');
  const n = await store.noteWebhookAttempt(webhook, { id, at }, result);
  if (n === undefined) throw new AppError('not_found', 'The webhook has been deleted.');
  return { ...result, n, messageId: id, kind: 'test', first: undefined, last: undefined };
}
