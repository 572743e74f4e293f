/**
 * The wiring: one request from its first line to its answer. The way of a request is `answer`, and
 * the order of its lines is the order in which to read the source. No listener, no signal handler
 * and no global: whoever embeds the app decides on those.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Authenticator, authorize } from './api/authenticate.ts';
import { LiveChanges } from './api/live-changes.ts';
import { describeApi } from './api/openapi.ts';
import { HEALTH, METRICS } from './api/paths.ts';
import { Readiness } from './api/readiness.ts';
import type {
  MetricsService, PortalService, Route, Services, WebhookService,
} from './api/route.ts';
import { routes } from './api/routes.ts';
import { UsageCounter } from './api/usage-counter.ts';
import {
  DEFAULT_RATE_LIMIT_PER_MINUTE,
  IMPORTS_AT_ONCE_LIMIT,
  IMPORTS_PER_SELLER_LIMIT,
  LARGE_STOCK_CALLS_AT_ONCE_LIMIT,
  LARGE_STOCK_CALLS_PER_SELLER_LIMIT,
  PAGE_CACHE_LIMIT_BYTES,
  RATE_LIMIT_ENTRIES_LIMIT,
  STREAMS_AT_ONCE_LIMIT,
  STREAMS_PER_KEY_LIMIT,
} from './config.ts';
import type { Caller } from './domain/caller.ts';
import { AppError } from './domain/error.ts';
import { formatKeyId } from './domain/id.ts';
import {
  type AnsweredRequest, beginPassage, followRequest, type Passage,
} from './http/answered-request.ts';
import { AtOnce } from './http/at-once.ts';
import { discardBody, openBody, readJson, readMediaType } from './http/body.ts';
import { readPeerAddress, TrustedProxies } from './http/client-address.ts';
import { Compressor } from './http/compression.ts';
import { Cursors } from './http/cursor.ts';
import { formatLifecycleFields } from './http/deprecation.ts';
import { DISCARD_LINGER_MS } from './http/limits.ts';
import { negotiate } from './http/negotiate.ts';
import { PageCache } from './http/page-cache.ts';
import { createProblem, type ErrorReport, findCode } from './http/problem.ts';
import { parseQuery } from './http/query.ts';
import { rateLimited, RateLimiter } from './http/rate-limit.ts';
import { isStream, type Reply, sendReply, withFields } from './http/reply.ts';
import { guardReport } from './http/report.ts';
import { Router } from './http/router.ts';
import { StrictRequests } from './http/strict-request.ts';
import { OUTSIDE, parseTarget, type Target } from './http/target.ts';
import { Spans } from './http/trace-context.ts';
import { UnderWay } from './http/under-way.ts';
import type { Store } from './store/store.ts';

export interface AppOptions {
  /** Stays the caller's: close it after the app. */
  readonly store: Store;
  /** Where clients find this server. Its path, if any, stands before every path of the API. */
  readonly baseUrl?: string;
  /** Requests a minute for each key; 0 for no limit. Default 6,000. */
  readonly rateLimitPerMinute?: number;
  /** Whether requests that a browser page sent may carry a key. Default false. */
  readonly allowBrowsers?: boolean;
  /**
   * Addresses and ranges of servers whose word on their clients' addresses counts, and `unix` for
   * whoever connects to a Unix socket. Default: none.
   */
  readonly trustedProxies?: readonly string[];
  /** What `startWebhooks` returns. Without it, the routes of webhooks answer 404. */
  readonly webhooks?: WebhookService;
  /** What `createPortal` returns. Without it, there are no pages under `/portal`. */
  readonly portal?: PortalService;
  /** Who answers `/metrics`. Without it, that is 404. */
  readonly metrics?: MetricsService;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
  /** Told of every error that was not the client's doing. Default: a line on standard error. */
  readonly report?: (entry: ErrorReport) => void;
  /**
   * Told of every request once, when it is answered or its client is gone. It is looked up for each
   * request, so it may come and go.
   */
  readonly onAnswered?: ((entry: AnsweredRequest) => void) | undefined;
}

export interface App {
  /**
   * Answers a request. One whose path is not below the base URL's goes to `next`, if there is one.
   * Imports take longer than the `requestTimeout` that a `Server` has of itself, and a client that
   * stands still has to be ended by its `setTimeout`: `listen` sets both.
   */
  handle(request: IncomingMessage, response: ServerResponse, next?: () => void): void;
  /** Requests that are not answered yet. */
  countUnderWay(): number;
  /**
   * Refuses new requests with 503 and resolves once those under way are answered, or their
   * connections are closed, and how often keys were used is written.
   */
  close(): Promise<void>;
}

/** The Seller Product API as a handler for `node:http`, and for whatever takes such handlers. */
export function createApp(options: AppOptions): App {
  const parts = wire(options);
  const { prefix, portal, report, strict, underWay, usage } = parts;
  const spans = new Spans();

  async function respond(
    request: IncomingMessage, response: ServerResponse, target: Target,
  ): Promise<void> {
    if (strict.isAfterRefused(request)) return; // its connection ends with that answer
    underWay.begin();
    const passage = beginPassage(readPeerAddress(request));
    const { onAnswered } = options;
    const describe = onAnswered && followRequest(request, response, spans);
    // Ignored, as RFC 9110 section 7.8 allows; Node hands on nothing that follows it.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    let reply = UNANSWERED;
    try {
      reply = await answer(parts, request, response, { ...target, passage });
      const isHead = request.method === 'HEAD';
      const isHeld = isLast(response, reply) && isSending(request) && !isStream(reply.body);
      const streamed = sendReply(response, reply, isHead, passage, isHeld);
      if (streamed) await streamed; // it may be reading the body, so that is discarded after it
      // A connection that ends while its client sends is reset, and the answer may go with it.
      if (isHeld) discardBody(request, DISCARD_LINGER_MS, () => response.end());
      else if (!request.complete) discardBody(request);
    } catch (error) {
      report({ id: 'reply', error });
      response.destroy();
    } finally {
      underWay.end();
      if (describe) tell(() => onAnswered(describe(passage, reply)));
    }
  }

  function tell(work: () => void): void {
    try {
      work();
    } catch (error) {
      report({ id: 'answered', error });
    }
  }

  return {
    handle(request, response, next) {
      const target = parseTarget(request.url ?? '', prefix);
      if (target || !next) void respond(request, response, target ?? OUTSIDE);
      else next();
    },
    countUnderWay: () => underWay.count,
    async close() {
      await Promise.all([underWay.close(), portal?.close()]);
      await usage.close();
    },
  };
}

/** What the requests of one app go through. */
interface Parts extends Services {
  readonly portal: PortalService | undefined;
  readonly metrics: MetricsService | undefined;
  readonly router: Router<Route>;
  readonly authenticator: Authenticator;
  readonly usage: UsageCounter;
  /** Undefined where no limit is set. */
  readonly rates: RateLimiter<string> | undefined;
  readonly compressor: Compressor;
  readonly underWay: UnderWay;
  readonly strict: StrictRequests;
  readonly proxies: TrustedProxies;
}

function wire(options: AppOptions): Parts {
  const { store, clock = Date.now } = options;
  const report = guardReport(options.report);
  const perMinute = options.rateLimitPerMinute ?? DEFAULT_RATE_LIMIT_PER_MINUTE;
  const prefix = new URL(options.baseUrl ?? 'http://localhost').pathname.replace(/\/+$/, '');
  return {
    store,
    report,
    prefix,
    webhooks: options.webhooks,
    portal: options.portal,
    metrics: options.metrics,
    describe: () => describeApi(routes, prefix),
    cursors: new Cursors(store.cursorKey),
    pages: new PageCache(PAGE_CACHE_LIMIT_BYTES),
    imports: new AtOnce('imports', {
      all: IMPORTS_AT_ONCE_LIMIT, perOwner: IMPORTS_PER_SELLER_LIMIT,
    }),
    largeStockCalls: new AtOnce('large calls that change stock', {
      all: LARGE_STOCK_CALLS_AT_ONCE_LIMIT, perOwner: LARGE_STOCK_CALLS_PER_SELLER_LIMIT,
    }),
    streams: new AtOnce('streams of changes', {
      all: STREAMS_AT_ONCE_LIMIT, perOwner: STREAMS_PER_KEY_LIMIT,
    }),
    liveChanges: new LiveChanges(store),
    readiness: new Readiness(store),
    router: new Router(routes),
    rates: perMinute > 0 ? new RateLimiter(perMinute, RATE_LIMIT_ENTRIES_LIMIT, clock) : undefined,
    compressor: new Compressor(),
    underWay: new UnderWay(),
    strict: new StrictRequests(),
    proxies: new TrustedProxies(options.trustedProxies ?? []),
    authenticator: new Authenticator({
      store,
      clock,
      allowBrowsers: options.allowBrowsers ?? false,
      onUnnoted: (error) => report({ id: 'key-use', error }),
    }),
    usage: new UsageCounter({
      store, clock, onUnwritten: (error) => report({ id: 'key-usage', error }),
    }),
  };
}

/** The way of a request. */
async function answer(
  parts: Parts, request: IncomingMessage, response: ServerResponse,
  target: Target & { readonly passage: Passage },
): Promise<Reply> {
  const {
    strict, router, authenticator, rates, compressor, usage, underWay, portal, metrics, report,
  } = parts;
  const { passage } = target;
  let fields: Record<string, string> | undefined;
  let caller: Caller | undefined;
  let reply: Reply;
  try {
    strict.assert(request); // before anything waits: Node may hand on the next request at once
    const address = parts.proxies.readClientAddress(request);
    passage.address = address;
    const isStopping = underWay.closing.aborted && target.path !== HEALTH;
    if (isStopping) throw new AppError('unavailable', 'This server is stopping.');
    if (portal?.isFor(target.path)) {
      const watchClient = () => underWay.watchClient(response);
      return await portal.answer({ ...target, request, address, watchClient }, parts);
    }
    if (metrics && target.path === METRICS) {
      passage.route = METRICS;
      return await metrics.answer(request);
    }
    const { route, parameters } = router.find(request.method ?? '', target.path);
    passage.route = route.path;
    if (route.lifecycle) fields = formatLifecycleFields(route.lifecycle);
    if (route.scope === undefined) {
      reply = await route.handle(readWishes(request, target, route), parts);
    } else {
      const { scope } = route;
      caller = await authenticator.authenticate(request, address);
      passage.sellerId = caller.sellerId;
      passage.keyId = caller.keyId;
      if (rates) {
        const rate = rates.take(formatKeyId(caller));
        fields = { ...fields, ...rates.formatFields(rate) };
        if (!rate.isAllowed) throw rateLimited(rate.retryAfterSeconds);
      }
      authorize(caller, scope);
      reply = await route.handle({
        ...readWishes(request, target, route),
        caller,
        parameters,
        readMediaType: () => readMediaType(request, route.consumes),
        readJson: (limitBytes) => readJson(request, route.consumes, limitBytes),
        openBody: () => openBody(request, route.consumes),
        watchClient: () => underWay.watchClient(response),
        assertAllowed: async () =>
          authorize(await authenticator.authenticate(request, address), scope),
      }, parts);
    }
    reply = await compressor.compress(withFields(reply, fields), request);
  } catch (error) {
    passage.code = findCode(error);
    reply = withFields(createProblem(error, report), fields);
  }
  if (caller) usage.note(caller, reply.status);
  return reply;
}

function isLast({ shouldKeepAlive }: ServerResponse, { headers }: Reply): boolean {
  return !shouldKeepAlive || headers['connection'] === 'close';
}

/** Whether a body is on its way: one that is expected to be invited is not. */
function isSending({ complete, headers }: IncomingMessage): boolean {
  return !complete && headers.expect === undefined;
}

/** What a request asks for, refused here where the route cannot give it. */
function readWishes({ headers }: IncomingMessage, target: Target, route: Route) {
  return {
    headers,
    query: parseQuery(target.query, route.query),
    mediaType: negotiate(headers.accept, route.produces),
  };
}

/** Of a request whose answer failed before it had one. */
const UNANSWERED: Reply = { status: 500, headers: {} };
