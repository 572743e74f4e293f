/**
 * Webhooks as the rest of the server has them: the worker that sends, and what the API asks for at
 * once, which is to check an address and to send a test. Nothing else leads into this folder.
 */
import {
  WEBHOOK_DNS_TIMEOUT_MS, CONCURRENT_WEBHOOK_TESTS_LIMIT, CONCURRENT_WEBHOOK_TESTS_PER_SELLER_LIMIT,
  WEBHOOK_TIMEOUT_MS,
} from './limits.ts';
import { AppError } from '../../domain/error.ts';
import type { SellerId, WebhookReference } from '../../domain/id.ts';
import type { ValidationError } from '../../domain/text.ts';
import type { WebhookResult } from '../../domain/webhooks/webhook.ts';
import { ConcurrencyLimiter } from '../../http/concurrency-limiter.ts';
import type { ErrorReport } from '../../http/response/problem.ts';
import { safeErrorReporter } from '../../http/error-reporter.ts';
import type { Store } from '../../store/store.ts';
import { deliver } from './deliver.ts';
import { type AttemptCounts, type EndpointOptions, UNREADABLE_SECRET } from './endpoint.ts';
import { type Lookup, DnsResolver } from './dns-resolver.ts';
import { formatTestMessage, makeMessageId } from './message.ts';
import { describeFailure } from './outcome.ts';
import { signMessage } from './sign.ts';
import { findTarget } from './target.ts';
import { WebhookWorker } from './worker.ts';

export interface WebhooksOptions {
  /** Stays the caller's: close it after the webhooks. */
  readonly store: Store;
  /** Whether messages may go to addresses that are not of the public Internet. Default false. */
  readonly allowPrivate?: boolean;
  /** Whether messages may go out without TLS. Default false. */
  readonly allowHttp?: boolean;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /** From 0, below 1: spreads attempts that are repeated. Default `Math.random`. */
  readonly random?: () => number;
  /** Finds all addresses of a name. Default: as the system does. */
  readonly lookup?: Lookup;
  /** For one attempt, in milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
  /** Told of what the store could not do. Default: a line on standard error. */
  readonly report?: (entry: ErrorReport) => void;
}

export interface Webhooks {
  /** What is wrong with an address to send to; undefined where messages may go there. */
  checkUrl(sellerId: SellerId, url: string): Promise<ValidationError | undefined>;
  /**
   * Sends a test message now, and notes what came of it.
   * @throws AppError `not_found`, `unavailable` (too many are under way, or it is stopping)
   */
  sendTest(webhook: WebhookReference): Promise<{ messageId: string; result: WebhookResult }>;
  /** Endpoints that are being sent to, and the attempts of this process by what came of them. */
  readMetrics(): { readonly inFlight: number; readonly attempts: Readonly<AttemptCounts> };
  /** Ends what is under way within 2 s. */
  close(): Promise<void>;
}

/** Begins to deliver, and goes on until it is closed. */
export function startWebhooks(options: WebhooksOptions): Webhooks {
  const { store } = options;
  const stop = new AbortController();
  const tests = new ConcurrencyLimiter<SellerId>('test messages', {
    total: CONCURRENT_WEBHOOK_TESTS_LIMIT, perOwner: CONCURRENT_WEBHOOK_TESTS_PER_SELLER_LIMIT,
  });
  const endpoint: EndpointOptions = {
    store,
    policy: {
      allowPrivate: options.allowPrivate ?? false, allowHttp: options.allowHttp ?? false,
    },
    lookups: new DnsResolver(options.lookup),
    clock: options.clock ?? Date.now,
    random: options.random ?? Math.random,
    timeoutMs: options.timeoutMs ?? WEBHOOK_TIMEOUT_MS,
    stop: stop.signal,
    attempts: { delivered: 0, refused: 0, failed: 0 },
  };
  const worker = new WebhookWorker({ ...endpoint, report: safeErrorReporter(options.report) });
  return {
    checkUrl(sellerId, url) {
      worker.watch(); // it may be that of the first endpoint
      return checkUrl(sellerId, url, endpoint);
    },
    async sendTest(webhook) {
      const end = tests.acquire(webhook.sellerId);
      try {
        return await sendTest(webhook, endpoint);
      } finally {
        end();
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
  sellerId: SellerId, text: string, { policy, lookups, stop }: EndpointOptions,
): Promise<ValidationError | undefined> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(WEBHOOK_DNS_TIMEOUT_MS)]);
  const fail = (why: string): ValidationError =>
    ({ code: 'target', detail: `Nothing can be sent there: ${why}.` });
  try {
    const target = await findTarget(new URL(text), policy, (name) =>
      lookups.resolve(name, { sellerId, isFailing: false }, signal));
    return 'error' in target ? fail(target.error) : undefined;
  } catch (error) {
    return fail(signal.aborted ? 'its name cannot be looked up now' : describeFailure(error));
  }
}

async function sendTest(
  webhook: WebhookReference, options: EndpointOptions,
): Promise<{ messageId: string; result: WebhookResult }> {
  const { store, clock, stop } = options;
  const found = await store.findWebhook(webhook);
  if (!found) throw new AppError('not_found', 'You have no webhook with this id.');
  const secrets = await store.findWebhookSecrets(webhook);
  const [messageId, at] = [makeMessageId(), clock()];
  const body = formatTestMessage(webhook, at);
  const result = secrets ? await deliver({
    sellerId: found.sellerId, url: found.url, body, isFailing: found.failures > 0,
    fields: signMessage({ id: messageId, at, body }, secrets),
  }, options) : { at, durationMs: 0, status: undefined, outcome: UNREADABLE_SECRET };
  if (!result || stop.aborted) throw new AppError('unavailable', 'This server is stopping.');
  await store.noteWebhookTest(webhook, messageId, result);
  return { messageId, result };
}
