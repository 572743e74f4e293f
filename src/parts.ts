/** What the requests of one app go through, put together once from its options. */
import { Authenticator } from './api/authenticate.ts';
import { LiveChanges } from './api/live-changes.ts';
import { describeApi } from './api/openapi.ts';
import { Readiness } from './api/readiness.ts';
import type {
  MetricsService, PortalService, Route, Services, WebhookService,
} from './api/route.ts';
import { routes } from './api/routes.ts';
import { UsageCounter } from './api/usage-counter.ts';
import {
  DEFAULT_RATE_LIMIT_PER_MINUTE, IMPORTS_AT_ONCE_LIMIT, IMPORTS_PER_SELLER_LIMIT,
  LARGE_STOCK_CALLS_AT_ONCE_LIMIT, LARGE_STOCK_CALLS_PER_SELLER_LIMIT, PAGE_CACHE_LIMIT_BYTES,
  RATE_LIMIT_ENTRIES_LIMIT, STREAMS_AT_ONCE_LIMIT, STREAMS_PER_KEY_LIMIT,
} from './config.ts';
import type { AnsweredRequest } from './http/answered-request.ts';
import { AtOnce } from './http/at-once.ts';
import { TrustedProxies } from './http/client-address.ts';
import { Compressor } from './http/compression.ts';
import { Cursors } from './http/cursor.ts';
import { PageCache } from './http/page-cache.ts';
import type { ErrorReport } from './http/problem.ts';
import { RateLimiter } from './http/rate-limit.ts';
import { guardReport } from './http/report.ts';
import { Router } from './http/router.ts';
import { StrictRequests } from './http/strict-request.ts';
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

/** What the requests of one app go through. */
export interface Parts extends Services {
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

/** Starts nothing that has to be stopped but what `App.close` ends. */
export function wire(options: AppOptions): Parts {
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
